"""Cleaning a table of MySQL: a run over a dump or a server's table, and what is made of its result for the table's owner."""
