"""Tests of the pure kernels, one file for each module."""
