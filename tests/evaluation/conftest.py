"""The same hypothesis settings as the kernels have."""

from tests.kernels.conftest import settings as settings  # importing it loads the profile
