"""Resolving against the sequential oracle on random graphs, in rounds and in one task."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from dedup_lib.errors import DedupError
from dedup_lib.kernels.greedy import walk
from dedup_lib.stages.resolve import resolve
from tests.conftest import embedded_only
from tests.oracle import greedy

SPREAD = 100  # ranks of one graph; many graphs make one table


def graphs(seed: int, number: int) -> list[tuple[int, int]]:
    """Edges of many random graphs side by side: sparse, dense, paths, stars."""
    draw, edges = random.Random(seed), set()
    for graph in range(number):
        nodes = draw.sample(range(SPREAD), draw.randint(2, 40))
        for _ in range(draw.randint(1, 80)):
            a, b = draw.sample(nodes, 2)
            edges.add((graph * SPREAD + min(a, b), graph * SPREAD + max(a, b)))
    return sorted(edges)


def saver(session, folder):
    """What the pipeline gives a stage to store its tables."""

    def save(frame, name):
        path = str(folder / name)
        frame.write.mode("overwrite").parquet(path)
        return session.read.schema(frame.schema).parquet(path)

    return save


def resolved(session, folder, edges, waiting=(), **limits):
    """(losers by row, open edges, distributed rounds)."""
    frame = session.createDataFrame(edges, "a bigint, b bigint").repartition(3)
    waits = session.createDataFrame([(rank,) for rank in waiting], "rank bigint")
    done = resolve(frame, frame.count(), waits, saver(session, folder), "test", **limits)
    losers = {row["b"]: row["a"] for row in done.losers.collect()}
    return losers, {(row["a"], row["b"]) for row in done.edges.collect()}, done.rounds


@embedded_only
@pytest.mark.parametrize("local_edges", [10**6, 0])
def test_two_hundred_random_graphs_end_as_the_sequential_walk_does(session, tmp_path, local_edges):
    edges = graphs(1, 200)
    losers, left, _ = resolved(session, tmp_path, edges, max_rounds=60, local_edges=local_edges)
    assert losers == greedy(edges, {node for edge in edges for node in edge})
    assert not left


@embedded_only
def test_rounds_on_a_long_path_are_few_when_ranks_are_random(session, tmp_path):
    ranks = random.Random(3).sample(range(512), 512)
    path = [tuple(sorted(pair)) for pair in pairwise(ranks)]
    losers, left, rounds = resolved(session, tmp_path, path, max_rounds=22, local_edges=0)
    assert losers == greedy(path, range(512))
    assert not left
    assert 1 < rounds <= 22


@embedded_only
def test_a_bound_on_the_rounds_fails_loudly(session, tmp_path):
    chain = [(i, i + 1) for i in range(100)]
    with pytest.raises(DedupError, match="max_rounds"):
        resolved(session, tmp_path, chain, max_rounds=3, local_edges=10)


@embedded_only
@pytest.mark.parametrize("local_edges", [10**6, 0])
def test_waiting_rows_may_fall_but_not_stay(session, tmp_path, local_edges):
    edges = [(1, 2), (2, 3), (4, 5), (5, 6), (7, 8)]
    losers, left, _ = resolved(session, tmp_path, edges, waiting=[4, 8], max_rounds=10, local_edges=local_edges)
    assert losers == {2: 1, 8: 7}
    assert left >= {(4, 5), (5, 6)}
    assert left <= {(4, 5), (5, 6), (2, 3)}


@pytest.mark.parametrize("seed", range(20))
def test_the_walk_kernel_equals_the_oracle(seed):
    import numpy as np

    edges = graphs(seed, 8)
    done = walk(np.array(edges, np.int64).reshape(-1, 2), np.empty(0, np.int64))
    assert {int(b): int(a) for a, b in done.losers} == greedy(edges, {node for edge in edges for node in edge})
    assert not len(done.edges)


def test_the_walk_kernel_takes_no_edges():
    import numpy as np

    done = walk(np.empty((0, 2), np.int64), np.array([5], np.int64))
    assert not len(done.losers) and not len(done.edges)
