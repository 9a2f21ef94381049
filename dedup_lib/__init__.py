"""Remove exact and near duplicates from Chinese-language text, with evidence for every dropped row."""

__version__ = "0.1.0"
