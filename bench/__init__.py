"""The benchmark: seeded corpora with known duplicates, runs in fresh processes, peers on the same files, the report."""
