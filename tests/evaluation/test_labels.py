"""Labels in every form, and what is said of those that cannot be used."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dedup_lib.errors import ConfigError, InputError
from dedup_lib.evaluation.labels import CLUSTER_ROWS, NO_KIND, Clusters, Pairs, check_known, parse_labels, parse_meanings

PAIRS = {"doc_id": ["b", "a"], "other_id": ["a", "c"], "label": ["duplicate", "different"]}


def parse(columns: dict, **meanings: str) -> Pairs | Clusters:
    return parse_labels(pa.table(columns), "labels.csv", meanings)


def test_pairs_are_ordered_and_keep_their_labels():
    assert parse(PAIRS) == Pairs(["a", "a"], ["b", "c"], [True, False], ["duplicate", "different"])
    assert parse(PAIRS).ids == ["a", "b", "c"]


def test_a_pair_named_twice_counts_once():
    twice = {"doc_id": ["a", "b"], "other_id": ["b", "a"], "label": ["duplicate"] * 2, "kind": ["url", None]}
    assert parse(twice) == Pairs(["a"], ["b"], [True], ["url"])


def test_other_words_get_a_meaning_and_become_the_kind():
    columns = {"doc_id_a": [1, 1, 2], "doc_id_b": [2, 3, 3], "label": ["same_url", "same_law", "perhaps"]}
    found = parse(columns, same_url="duplicate", same_law="different", perhaps="skip")
    assert found == Pairs(["1", "1"], ["2", "3"], [True, False], ["same_url", "same_law"])


def test_clusters_are_ordered_by_id():
    columns = {"doc_id": ["b", "a"], "cluster_id": [1, 1], "kind": ["trad", None], "expect": ["any", "drop"]}
    assert parse(columns) == Clusters(["a", "b"], ["1", "1"], [NO_KIND, "trad"], [True, False], 0)


def test_of_a_huge_cluster_a_seeded_sample_takes_part():
    columns = {"doc_id": [f"{at:05}" for at in range(CLUSTER_ROWS + 9)], "cluster_id": ["x"] * (CLUSTER_ROWS + 7) + ["y", "y"]}
    found = parse(columns)
    assert len(found.ids) == CLUSTER_ROWS + 2 and found.sampled == 1 and found.cluster[-2:] == ["y", "y"]
    backwards = {name: values[::-1] for name, values in columns.items()}
    assert parse(backwards) == found


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        (
            {"id": ["a"], "label": ["duplicate"]},
            "need the columns doc_id, cluster_id or doc_id, other_id, label (or verdict); have id, label",
        ),
        ({name: pa.array([], pa.string()) for name in PAIRS}, "hold no rows"),
        (PAIRS | {"other_id": ["a", None]}, "column other_id is empty in row 2"),
        (PAIRS | {"other_id": ["b", "c"]}, "the row 'b' is paired with itself"),
        (PAIRS | {"other_id": ["a", "b"]}, "the pair 'b', 'a' is labelled both duplicate and different"),
        (PAIRS | {"label": ["yes", "yes"]}, "'yes' (2); say it: --meaning yes=duplicate (or different, or skip)"),
        ({"doc_id": ["a", "b", "a"], "cluster_id": ["1", "1", "2"]}, "1 ids stand more than once: 'a'; a row has one cluster"),
    ],
)
def test_labels_that_cannot_be_used(columns, complaint):
    with pytest.raises(InputError) as error:
        parse(columns)
    assert str(error.value).startswith("labels labels.csv: ") and complaint in str(error.value)


def test_skipping_everything_is_refused():
    with pytest.raises(InputError, match="every pair is skipped"):
        parse(PAIRS, duplicate="skip", different="skip")


def test_unknown_ids_are_named():
    check_known(parse(PAIRS), {"a", "b", "c", "d"}, "x")
    with pytest.raises(InputError, match="labels x: 2 of 3 ids are not in the corpus: 'b', 'c'; is it the corpus"):
        check_known(parse(PAIRS), {"a"}, "x")


@pytest.mark.parametrize("entry", ["same_url", "=duplicate", "same_url=yes"])
def test_a_meaning_has_a_form(entry):
    assert parse_meanings(["a=b=skip"]) == {"a=b": "skip"}
    with pytest.raises(ConfigError, match=f"--meaning {entry}: write it as"):
        parse_meanings([entry])


def test_verdicts_are_labels_but_for_protected_rows():
    table = pa.table(
        {"doc_id": ["b", "c", "d"], "other_id": ["a", "a", None], "verdict": ["duplicate", "not_duplicate", "protect"]}
    )
    found = parse_labels(table, "verdicts.csv")
    assert (found.first, found.second, found.duplicate) == (["a", "a"], ["b", "c"], [True, False])
