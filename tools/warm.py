"""Compile the kernels once, so that the first run finds them in numba's cache: a small rebuild whose result is thrown away.

python tools/warm.py
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # behind an installed one: make package compiles the kernels of its copy

from dedup_lib.dump.listing import counts
from dedup_lib.dump.options import Options
from dedup_lib.pipeline import rebuild
from dedup_lib.session import open_session
from dedup_lib.settings import load_settings


def main() -> None:
    """Run the messy part of the sample."""
    print("compiling kernels", flush=True)
    counts(Options(str(ROOT / "data" / "sample" / "legacy_news.sql.gz"), "news"))
    with tempfile.TemporaryDirectory() as output, open_session("embedded") as session:
        sample = ROOT / "data" / "sample" / "messy.parquet"
        overrides = [f"input.path={sample}", f"output.path={output}", "gates.quarantine_share.fail=1"]
        rebuild(session, load_settings(overrides=overrides).config, say=lambda line: None)


if __name__ == "__main__":
    main()
