"""The decisions of a run against labels, profile by profile: rows of two profiles are never compared."""

from __future__ import annotations

from collections.abc import Set

import numpy as np
import pyarrow as pa

from dedup_lib.evaluation import tables
from dedup_lib.evaluation.labels import Clusters, Pairs
from dedup_lib.evaluation.methods import Documents, product
from dedup_lib.evaluation.universe import AllPairs, LabelledPairs, tally


def by_profile(documents: Documents, labels: Pairs | Clusters, original: str) -> pa.Table:
    """The figures of the product alone, with their intervals: those of ``tables.summary`` and the ``profile``, for each."""
    found = []
    for name in sorted(set(documents.profile)):
        rows = [at for at, profile in enumerate(documents.profile) if profile == name]
        mine = of_rows(labels, {documents.ids[at] for at in rows})
        if not mine.ids:
            continue
        place = {documents.ids[at]: at for at in rows}
        ours = np.array([place[doc_id] for doc_id in mine.ids], np.int64)
        part = documents._replace(ids=mine.ids, features=documents.features[ours], cluster=documents.cluster[ours])
        compared = product(part)
        paired = isinstance(mine, Pairs)
        universe = LabelledPairs(mine, part.features) if paired else AllPairs(mine, part.features, original)
        tallies, _ = tally(universe, [method.measure for method in compared], [method.steps for method in compared], 0)
        figures = tables.summary(compared, universe.shape, tallies)
        found.append(figures.add_column(0, pa.field("profile", pa.string()), pa.array([name] * figures.num_rows)))
    return pa.concat_tables(found) if found else tables.FIGURES.insert(0, pa.field("profile", pa.string())).empty_table()


def of_rows(labels: Pairs | Clusters, ids: Set[str]) -> Pairs | Clusters:
    """The labels that speak of these rows alone."""
    if isinstance(labels, Pairs):
        both = [at for at, pair in enumerate(zip(labels.first, labels.second, strict=True)) if ids.issuperset(pair)]
        return Pairs(*[[column[at] for at in both] for column in labels])
    kept = [at for at, doc_id in enumerate(labels.ids) if doc_id in ids]
    return Clusters(*[[column[at] for at in kept] for column in labels[:4]], labels.sampled)
