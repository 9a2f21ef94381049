"""Make the virtual environment from the lock file. Needs nothing but the Python that runs it.

python3 tools/environment.py .venv requirements.lock
"""

import subprocess
import sys
import venv
from pathlib import Path

OLDEST = (3, 11)


def main() -> int:
    """Create or update the environment; 0 when it is complete."""
    target, lock = Path(sys.argv[1]), sys.argv[2]
    if sys.version_info < OLDEST:
        print(f"error: Python {'.'.join(map(str, OLDEST))} or later is needed, this is {sys.version.split()[0]}; "
              "run make PYTHON=/path/to/python3.11", file=sys.stderr)  # fmt: skip
        return 2
    try:
        venv.create(target, with_pip=True, clear=True)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"error: no virtual environment could be made in {target} ({error}); "
              "on Debian: apt-get install python3-venv", file=sys.stderr)  # fmt: skip
        return 2
    pip = [str(target / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    print(f"installing {lock} into {target}", flush=True)
    # The lock names everything: pip, left to look for what that needs, takes later releases of what is asked for with extras.
    return subprocess.call([*pip, "install", "--require-hashes", "--no-deps", "-r", lock]) or subprocess.call([*pip, "check"])


if __name__ == "__main__":
    sys.exit(main())
