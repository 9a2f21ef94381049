"""Text and hash kernels over strings, numpy and Arrow arrays, compiled where that pays. Nothing here knows an engine."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from numba import config


def _cache_folder() -> Path:
    """Where compiled kernels are kept: a folder of its own for each state of the sources.

    numba looks only at the file of the function it loads, so a kernel that calls a changed one would be loaded as it was.
    """
    here = Path(__file__).parent
    state = hashlib.sha1()
    for source in sorted(here.glob("*.py")):
        state.update(source.read_bytes())
    home = here / "__pycache__" if os.access(here, os.W_OK) else Path.home() / ".cache" / "dedup"
    return Path(config.CACHE_DIR or home) / f"kernels-{state.hexdigest()[:12]}"


config.CACHE_DIR = str(_cache_folder())
