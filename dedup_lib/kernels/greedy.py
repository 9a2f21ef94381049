"""The greedy rule on one machine: the lexicographically first maximal independent set, walked in the order of ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dedup_lib.kernels.utf8 import compiled

KEPT, FALLEN, OPEN = 0, 1, 2


class Walked(NamedTuple):
    """What a walk settled."""

    losers: np.ndarray  # int64 (n, 2): the first kept row before it that is its duplicate; the row that falls
    edges: np.ndarray  # int64 (n, 2): edges between rows that stay open


@compiled
def _walk(first, second, waits, state, cause):
    """``first`` and ``second`` are node numbers of edges, ordered by second, then first."""
    edge = 0
    for node in range(len(state)):
        state[node] = OPEN if waits[node] else KEPT
        while edge < len(second) and second[edge] == node:
            if state[node] != FALLEN:
                if state[first[edge]] == KEPT:
                    state[node], cause[node] = FALLEN, first[edge]
                elif state[first[edge]] == OPEN:
                    state[node] = OPEN
            edge += 1


def walk(edges: np.ndarray, waiting: np.ndarray) -> Walked:
    """Walk down the ranks: a row falls when a row kept before it is its duplicate, else it is kept.

    ``edges`` (int64, (n, 2)): ranks of duplicates, the smaller first. ``waiting`` (int64): ranks of rows that may have
    duplicates before them which are not among the edges: they can fall but not be kept, and what hangs on them stays open.
    """
    nodes, places = np.unique(edges, return_inverse=True)
    places = places.reshape(edges.shape)
    order = np.lexsort((places[:, 0], places[:, 1]))
    first, second = places[order, 0], places[order, 1]
    state, cause = np.empty(len(nodes), np.int8), np.full(len(nodes), -1, np.int64)
    _walk(first, second, np.isin(nodes, waiting), state, cause)
    fallen = np.flatnonzero(state == FALLEN)
    unsettled = (state[first] == OPEN) & (state[second] == OPEN)
    return Walked(
        np.stack([nodes[cause[fallen]], nodes[fallen]], axis=1),
        np.stack([nodes[first[unsettled]], nodes[second[unsettled]]], axis=1),
    )
