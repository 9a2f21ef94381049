"""What the distributed job must equal, said once more in plain sequential Python."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

_URL = re.compile(r"(?:https?://|www\.)[a-z0-9._~:/?#@!$&'*+,;=%-]*")

Edges = Iterable[tuple[int, int]]


def greedy(edges: Edges, nodes: Iterable[int]) -> dict[int, int]:
    """The greedy rule: for each dropped node the first kept node before it that it is joined to."""
    before: dict[int, list[int]] = {}
    for a, b in edges:
        before.setdefault(max(a, b), []).append(min(a, b))
    kept: set[int] = set()
    dropped: dict[int, int] = {}
    for node in sorted(nodes):
        kept_before = [other for other in sorted(before.get(node, ())) if other in kept]
        if kept_before:
            dropped[node] = kept_before[0]
        else:
            kept.add(node)
    return dropped


def shingle_set(text: str, n: int) -> frozenset[str]:
    """Character n-grams of the letters and numbers of a text without its web addresses; the whole of it if it has fewer."""
    letters = "".join(char for char in _URL.sub("", text) if unicodedata.category(char)[0] in "LN")
    if not letters:
        return frozenset()
    return frozenset(letters[i : i + n] for i in range(max(1, len(letters) - n + 1)))


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Shared over all."""
    return len(first & second) / len(first | second) if first | second else 0.0


def priority(row: Mapping[str, object]) -> tuple:
    """The order of the greedy walk: earliest, longest, id."""
    time = row["publish_time"]
    return (time is None, time, -len(row["content"]), row["doc_id"]) if time else (True, 0, -len(row["content"]), row["doc_id"])
