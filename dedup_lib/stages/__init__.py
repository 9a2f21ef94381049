"""The stages, in the order of the data flow: identify, normalize, exact, sign, candidates, verify, resolve, outcome.

A stage is a function from tables (``schemas.py``) to a table. It reads no files, counts no rows and keeps no state; the
pipeline decides what is stored between stages.
"""
