"""Text and hash kernels over strings, numpy and Arrow arrays, compiled where that pays. Nothing here knows an engine."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from numba import config


def _cache_folder() -> str:
    """Where compiled kernels are kept: a folder of its own for each state of the sources.

    numba looks only at the file of the function it loads, so a kernel that calls a changed one would be loaded as it was. A
    process that may write neither beside the sources nor into a home (containers) compiles for itself.
    """
    here = Path(__file__).parent
    state = hashlib.sha1()
    for source in sorted(here.glob("*.py")):
        state.update(source.read_bytes())
    beside, at_home = str(here / "__pycache__"), os.path.expanduser("~/.cache/dedup")
    for home in [config.CACHE_DIR] if config.CACHE_DIR else [beside, at_home]:
        folder = Path(home) / f"kernels-{state.hexdigest()[:12]}"
        try:
            if home[0] != "~":  # a user without a home
                folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return str(folder)
    return tempfile.mkdtemp(prefix="dedup-kernels-")


config.CACHE_DIR = _cache_folder()
