"""Pure kernels: text and hash functions over Python strings, numpy and Arrow arrays. No Spark, no I/O, no configuration."""
