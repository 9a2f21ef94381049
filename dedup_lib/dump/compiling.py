"""The decorator of this package's kernels: as ``kernels.utf8.compiled``, with a cache folder for each state of these sources."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from numba import config, njit

import dedup_lib.kernels  # sets the folder of compiled kernels  # noqa: F401

_WITH_KERNELS = ("compiling", "lexis", "scan", "rows", "values", "multibyte")


def _cache_folder() -> str:
    """numba looks only at the file of the function it loads, and kernels here call those of other files."""
    state = hashlib.sha1()
    for name in _WITH_KERNELS:
        state.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    folder = os.path.join(config.CACHE_DIR, f"dump-{state.hexdigest()[:12]}")
    os.makedirs(folder, exist_ok=True)
    return folder


_FOLDER = _cache_folder()


def compiled(function: Callable) -> Callable:
    """Compile a kernel: cached on disk, without the interpreter lock, checks off."""
    shared, config.CACHE_DIR = config.CACHE_DIR, _FOLDER
    try:
        return njit(cache=True, nogil=True, boundscheck=False)(function)
    finally:
        config.CACHE_DIR = shared
