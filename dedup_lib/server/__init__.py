"""Tables of a live MySQL or MariaDB server, read by Spark's JDBC as bytes and typed by the same code that reads dumps."""
