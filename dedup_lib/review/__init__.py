"""The review loop: questions out as a sheet and a page, verdicts back into the table that the next run obeys."""
