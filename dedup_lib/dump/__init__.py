"""MySQL dumps: a tokenizer that knows every literal, a streaming reader, a plan that splits plain files, typed Arrow batches.

Nothing here but ``source.py`` knows an engine.
"""
