"""The made corpora: same arguments, same bytes; the truth is true; each mode is what it claims to be."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.clauses import Writer, vocabulary
from bench.copies import EQUAL_WITHOUT_SPACE
from bench.corpus import CORPUS, TRUTH, make_corpus
from bench.modes import MODES, ORIGINAL, PREFIX_BITS, simhashes

ROWS = 400
# Of the mixed corpus, whatever its seed: copies of kinds that must stay equal but for white space and punctuation.
COPYING = ("mixed", "hot", "short")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory) -> dict[str, list[dict]]:
    """Rows of each mode with the truth about them, in the order in which they were made."""
    found = {}
    for mode in MODES:
        corpus = make_corpus(mode, ROWS, 1, tmp_path_factory.mktemp(mode), files=3)
        folder = Path(corpus.truth).parent
        documents = {row["doc_id"]: row for row in pq.read_table(folder / "corpus").to_pylist()}
        found[mode] = [documents[row["doc_id"]] | row for row in pq.read_table(corpus.truth).to_pylist()]
    return found


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.parquet")}


@pytest.mark.parametrize("mode", MODES)
def test_same_arguments_same_bytes_and_another_seed_other_rows(mode, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_corpus(mode, 60, seed, tmp_path / name, files=2)
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")
    assert bytes_of(tmp_path / "a") != bytes_of(tmp_path / "c")


@pytest.mark.parametrize("rows", [2, 3, 7, 100])
@pytest.mark.parametrize("mode", MODES)
def test_there_are_as_many_rows_as_asked_for(mode, rows, tmp_path):
    corpus = make_corpus(mode, rows, 1, tmp_path, files=1)
    assert pq.read_metadata(tmp_path / "corpus" / "part-000.parquet").num_rows == rows
    assert pq.read_table(corpus.truth).num_rows == rows


@pytest.mark.parametrize("mode", MODES)
def test_every_row_has_an_id_of_its_own_and_a_truth(mode, corpora, tmp_path):
    rows = corpora[mode]
    assert len({row["doc_id"] for row in rows}) == len(rows) == ROWS
    assert all(row["content"] and row["url"] and row["source"] and row["publish_time"] for row in rows)
    make_corpus(mode, 10, 1, tmp_path, files=1)
    assert pq.read_schema(tmp_path / "corpus" / "part-000.parquet") == CORPUS
    assert pq.read_schema(tmp_path / "truth.parquet") == TRUTH


@pytest.mark.parametrize("mode", MODES)
def test_each_cluster_begins_with_its_original_and_the_copies_are_later(mode, corpora):
    first = {}
    for row in corpora[mode]:
        head = first.setdefault(row["cluster_id"], row)
        assert (row["kind"] == ORIGINAL) == (head is row)
        if mode in COPYING:
            assert head is row or row["publish_time"] > head["publish_time"]


@pytest.mark.parametrize("mode", COPYING)
def test_exact_copies_equal_their_original_and_others_do_not(mode, corpora):
    originals = {row["cluster_id"]: "".join(row["content"].split()) for row in corpora[mode] if row["kind"] == ORIGINAL}
    assert len(set(originals.values())) == len(originals)
    for row in corpora[mode]:
        equal = "".join(row["content"].split()) == originals[row["cluster_id"]]
        assert equal or row["kind"] not in (ORIGINAL, *EQUAL_WITHOUT_SPACE)
        assert not equal or row["kind"] not in ("noise", "framed", "retouched", "rewritten")


def test_mixed_has_its_shares_and_lengths(corpora):
    rows = corpora["mixed"]
    assert sum(row["kind"] == ORIGINAL for row in rows) == 0.7 * ROWS
    assert Counter(row["cluster_id"] for row in rows).most_common(1)[0] == ("0", 0.02 * ROWS)
    assert 700 < np.mean([len(row["content"]) for row in rows]) < 1000
    assert 240 < np.mean([len(row["content"]) for row in corpora["short"]]) < 360
    assert len({row["kind"] for row in rows}) >= 7


def test_half_of_a_hot_corpus_copies_one_document_in_many_ways(corpora):
    copies = [row for row in corpora["hot"] if row["cluster_id"] == "0" and row["kind"] != ORIGINAL]
    assert len(copies) == ROWS // 2
    assert len({row["content"] for row in copies}) > 0.6 * len(copies)


def test_all_rows_of_a_footer_corpus_end_alike_and_are_alone(corpora):
    endings = {row["content"][-400:] for row in corpora["footer"]}
    assert len(endings) == 1
    assert all(row["content"][-401] == "\n" for row in corpora["footer"])
    assert len({row["cluster_id"] for row in corpora["footer"]}) == ROWS
    assert len({row["content"] for row in corpora["footer"]}) == ROWS


def test_rows_of_a_template_differ_in_digits_alone(corpora):
    contents = [row["content"] for row in corpora["template"]]
    assert len(set(contents)) == ROWS
    assert len({"".join(c for c in content if c not in "0123456789") for content in contents}) == 1


def test_comments_have_two_characters_and_equal_ones_are_one_cluster(corpora):
    rows = corpora["comments"]
    assert {len(row["content"]) for row in rows} == {2}
    assert len({row["content"] for row in rows}) == len({row["cluster_id"] for row in rows}) < ROWS
    assert len({(row["content"], row["cluster_id"]) for row in rows}) == len({row["content"] for row in rows})


def test_simhash_rows_share_their_leading_bits_and_hardly_a_shingle(corpora):
    contents = [row["content"] for row in corpora["simhash"]]
    leading = simhashes(contents) >> np.uint64(64 - PREFIX_BITS)
    assert len(set(leading.tolist())) == 1
    grams = [{text[i : i + 4] for i in range(len(text) - 3)} for text in contents[:40]]
    alike = [len(a & b) / len(a | b) for n, a in enumerate(grams) for b in grams[:n]]
    assert max(alike) < 0.15
    assert len({row["cluster_id"] for row in corpora["simhash"]}) == ROWS


def test_originals_of_a_mixed_corpus_have_hardly_a_shingle_in_common(corpora):
    texts = [row["content"] for row in corpora["mixed"] if row["kind"] == ORIGINAL][:120]
    grams = [{text[i : i + 4] for i in range(len(text) - 3)} for text in texts]
    assert max(len(a & b) / len(a | b) for n, a in enumerate(grams) for b in grams[:n]) < 0.1


def test_sentences_have_two_clauses_at_least():
    writer = Writer(np.random.default_rng(1))
    sentences = [s for text in writer.documents(np.full(200, 500.0)) for s in text.replace("\n", "").split("。") if s]
    assert min(sentence.count("，") for sentence in sentences) >= 1
    assert max(map(len, vocabulary())) == 30


def test_ids_are_strings_that_no_engine_reads_as_numbers(corpora):
    assert pa.array([row["doc_id"] for row in corpora["mixed"]]).type == pa.string()
    assert all(len(row["doc_id"]) == 16 for row in corpora["mixed"])
