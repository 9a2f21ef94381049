"""Labels: which rows say the same, as pairs or as clusters.

Pairs: ``doc_id, other_id, label[, kind]``; ``doc_id_a, doc_id_b`` are other names of the two ids. The label is ``duplicate`` or
``different``; any other word needs a meaning (``duplicate``, ``different`` or ``skip``), and becomes the kind where there is no
column of that name. Verdicts: ``doc_id, other_id, verdict``, where ``protect`` labels no pair.
Clusters: ``doc_id, cluster_id[, kind][, expect]``; rows of one cluster are duplicates of each other, rows
of two clusters are not; ``expect`` other than ``drop`` says that the row's wording alone does not show what it copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.errors import ConfigError, InputError

DUPLICATE, DIFFERENT, SKIP = "duplicate", "different", "skip"
NO_KIND = "(none)"
CLUSTER_ROWS = 1_000  # rows of one cluster that take part; of a larger one a seeded sample does
SEED = 1
_OTHER_NAMES = {"doc_id_a": "doc_id", "doc_id_b": "other_id"}
_SHOWN = 5


class Pairs(NamedTuple):
    """Labelled pairs, sorted; each once, the smaller id first."""

    first: list[str]
    second: list[str]
    duplicate: list[bool]
    kind: list[str]

    @property
    def ids(self) -> list[str]:
        """Every id, sorted."""
        return sorted({*self.first, *self.second})


class Clusters(NamedTuple):
    """Rows and their true clusters, sorted by id. ``sampled``: clusters of which only ``CLUSTER_ROWS`` rows are here."""

    ids: list[str]
    cluster: list[str]
    kind: list[str]
    lexical: list[bool]  # expect is drop, or not said
    sampled: int


def parse_meanings(given: Sequence[str]) -> dict[str, str]:
    """``VALUE=duplicate`` and the like as a mapping. Raises ``ConfigError`` for what is not of that form."""
    meanings = {}
    for entry in given:
        value, _, meaning = entry.rpartition("=")
        if not value or meaning not in (DUPLICATE, DIFFERENT, SKIP):
            raise ConfigError(f"--meaning {entry}: write it as VALUE=duplicate, VALUE=different or VALUE=skip")
        meanings[value] = meaning
    return meanings


def parse_labels(table: pa.Table, where: str, meanings: Mapping[str, str] | None = None) -> Pairs | Clusters:
    """Labels from a table of either form; ``where`` names it in messages. Raises ``InputError`` for what cannot be used."""
    table = table.rename_columns([_OTHER_NAMES.get(name, name) for name in table.column_names])
    if "verdict" in table.column_names and "label" not in table.column_names:
        table = _verdicts(table)
        meanings = {"not_duplicate": DIFFERENT}
    names = table.column_names
    if not {"doc_id", "cluster_id"} <= set(names) and not {"doc_id", "other_id", "label"} <= set(names):
        raise InputError(
            f"labels {where}: need the columns doc_id, cluster_id or doc_id, other_id, label (or verdict); "
            f"have {', '.join(names)}"
        )
    if not table.num_rows:
        raise InputError(f"labels {where}: hold no rows")
    wanted = ["doc_id", "cluster_id"] if "cluster_id" in names else ["doc_id", "other_id", "label"]
    columns = {name: table[name].cast(pa.string()).to_pylist() for name in [*wanted, "kind", "expect"] if name in names}
    for name in wanted:
        if None in columns[name]:
            raise InputError(f"labels {where}: column {name} is empty in row {columns[name].index(None) + 1}")
    return _clusters(columns, where) if "cluster_id" in columns else _pairs(columns, where, dict(meanings or {}))


def _verdicts(table: pa.Table) -> pa.Table:
    """A table of verdicts as labels."""
    verdict = table["verdict"].cast(pa.string())
    judged = table.filter(pc.fill_null(pc.not_equal(verdict, "protect"), True))
    return judged.rename_columns(["label" if name == "verdict" else name for name in judged.column_names])


def _clusters(columns: Mapping[str, list], where: str) -> Clusters:
    ids = columns["doc_id"]
    twice = [doc_id for doc_id, times in Counter(ids).items() if times > 1]
    if twice:
        raise InputError(f"labels {where}: {len(twice)} ids stand more than once: {_some(twice)}; a row has one cluster")
    kinds = columns.get("kind", [None] * len(ids))
    lexical = [expect in (None, "drop") for expect in columns.get("expect", [None] * len(ids))]
    rows = sorted(zip(ids, columns["cluster_id"], [kind or NO_KIND for kind in kinds], lexical, strict=True))
    members: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        members.setdefault(row[1], []).append(at)
    draw = np.random.default_rng(SEED)
    large = [of for _, of in sorted(members.items()) if len(of) > CLUSTER_ROWS]
    left_out = {int(at) for of in large for at in draw.permutation(of)[CLUSTER_ROWS:]}
    kept = [row for at, row in enumerate(rows) if at not in left_out]
    return Clusters(*map(list, zip(*kept, strict=True)), len(large))


def _pairs(columns: Mapping[str, list], where: str, meanings: dict[str, str]) -> Pairs:
    meanings = {DUPLICATE: DUPLICATE, DIFFERENT: DIFFERENT} | meanings
    unknown = Counter(label for label in columns["label"] if label not in meanings)
    if unknown:
        say = ", ".join(f"{label!r} ({count})" for label, count in unknown.most_common(_SHOWN))
        example = f"--meaning {next(iter(unknown))}=duplicate"
        raise InputError(f"labels {where}: no meaning is known for the label {say}; say it: {example} (or different, or skip)")
    found: dict[tuple[str, str], tuple[bool, str]] = {}
    kinds = columns.get("kind", columns["label"])
    for a, b, label, kind in sorted(zip(*(columns[n] for n in ("doc_id", "other_id", "label")), [k or NO_KIND for k in kinds])):  # noqa: B905
        if meanings[label] == SKIP:
            continue
        if a == b:
            raise InputError(f"labels {where}: the row {a!r} is paired with itself")
        pair = (min(a, b), max(a, b))
        duplicate = meanings[label] == DUPLICATE
        if found.setdefault(pair, (duplicate, kind))[0] != duplicate:
            raise InputError(f"labels {where}: the pair {a!r}, {b!r} is labelled both duplicate and different")
    if not found:
        raise InputError(f"labels {where}: every pair is skipped")
    ordered = sorted(found)
    first, second = map(list, zip(*ordered, strict=True))
    return Pairs(first, second, [found[pair][0] for pair in ordered], [found[pair][1] for pair in ordered])


def check_known(labels: Pairs | Clusters, known: set[str], where: str) -> None:
    """Raise ``InputError`` if a label names a row that the corpus does not have."""
    unknown = [doc_id for doc_id in labels.ids if doc_id not in known]
    if unknown:
        raise InputError(
            f"labels {where}: {len(unknown):,} of {len(labels.ids):,} ids are not in the corpus: {_some(unknown)}; "
            "is it the corpus that was labelled, and input.columns.doc_id its id?"
        )


def _some(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids[:_SHOWN])) + (", …" if len(ids) > _SHOWN else "")
