"""Hypothesis settings. ``HYPOTHESIS_PROFILE=search`` looks for new failures; the default repeats the same examples."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW_START = [HealthCheck.too_slow]  # the first example compiles kernels
settings.register_profile(
    "quick", max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=_SLOW_START
)
settings.register_profile("search", max_examples=3000, deadline=None, database=None, suppress_health_check=_SLOW_START)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
