"""Word segmenters for SimHash: jieba, or its Rust port. Loaded once for each process, on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

PIECE = 2_000  # characters given to a segmenter at once: its time grows faster than the text on long unbroken runs


@lru_cache(maxsize=2)
def segmenter(name: str) -> Callable[[str], Sequence[str]]:
    """A function from text to words. ``name`` is ``jieba`` or ``rjieba``; raises ``ValueError`` for another."""
    cut = _load(name)

    def words(text: str) -> list[str]:
        return [word for at in range(0, len(text), PIECE) for word in cut(text[at : at + PIECE])]

    return words


def _load(name: str) -> Callable[[str], Sequence[str]]:
    if name == "jieba":
        import jieba

        jieba.setLogLevel("WARNING")
        tokenizer = jieba.Tokenizer()
        return lambda text: tokenizer.lcut(text, HMM=False)
    if name == "rjieba":
        import rjieba

        return lambda text: rjieba.cut(text, False)
    raise ValueError(f"no segmenter is called {name!r}; use jieba or rjieba")
