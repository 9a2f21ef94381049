"""Wrong settings: every problem is reported at once, and each says where it stands and what is allowed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dedup_lib.errors import ConfigError
from dedup_lib.settings import load_settings

CONF = Path(__file__).resolve().parent.parent / "conf"
NEAR = "profiles.news.near"


def problems(*overrides: str, path: Path | None = None) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        load_settings(path, overrides)
    assert raised.value.exit_code == 2
    return raised.value.problems


def problem(*overrides: str, path: Path | None = None) -> str:
    (found,) = problems(*overrides, path=path)
    return found


@pytest.fixture
def conf(tmp_path) -> Path:
    """A configuration of one's own: the folder of a copy of conf/."""
    return Path(shutil.copytree(CONF, tmp_path / "conf"))


def test_every_problem_is_reported_at_once(conf):
    (conf / "profiles" / "bad.yaml").write_text("ngrams: 3\n")
    (conf / "profiles" / "worse.yaml").write_text("- a\n")
    (conf / "lexicon" / "more.yaml").write_text("line: [责编]\n")
    found = problems("input.format=xml", "gates.quarantine_share.fail=1.5", "nonsense", path=conf / "rebuild.yaml")
    for part in ("bad.yaml", "worse.yaml", "more.yaml", "input.format", "gates.quarantine_share.fail", "nonsense"):
        assert sum(part in line for line in found) == 1, part
    assert len(found) == 6


def test_an_unknown_profile_is_reported_with_the_other_problems():
    found = problems("profile=nwes", "input.format=xml")
    assert any("did you mean news?" in line for line in found) and any("input.format" in line for line in found)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("input.fromat", "input.format"),
        ("input.colums.content", "input.columns"),
        ("input.columns.contents", "input.columns.content"),
        (f"{NEAR}.drop_jacard", f"{NEAR}.drop_jaccard"),
        ("profiles.news.minhash.num_perms", "profiles.news.minhash.num_perm"),
        ("candidate.max_rounds", "candidates"),
        ("outputs.path", "output"),
        ("ngram", "profiles.NAME.ngram"),
    ],
)
def test_an_unknown_name_comes_with_the_nearest_known_one(given, meant):
    assert problem(f"{given}=1").endswith(f"(--set): unknown setting; did you mean {meant}?")


def test_a_name_like_nothing_known_is_refused_without_a_guess():
    assert problem("quux=1") == "quux (--set): unknown setting"


def test_an_unknown_profile_is_refused_with_the_known_ones():
    assert (
        problem("profile=nwes")
        == "profile: no profile is called 'nwes'; known: comment, log, news, notice, product; did you mean news?"
    )


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("input.format", "xml", "'parquet', 'json', 'csv' or 'mysql'"),
        ("engine", "flink", "embedded, spark or connect=sc://HOST:PORT"),
        ("gates.quarantine_share.fail", "1.5", "less than or equal to 1"),
        ("gates.quarantine_share.fail", "-0.1", "greater than or equal to 0"),
        ("gates.quarantine_share.fail", ".nan", "1"),
        ("candidates.max_rounds", "0", "greater than or equal to 1"),
        ("candidates.rows_per_bucket", "0", "greater than 0"),
        ("review.max_pairs_per_row", "many", "integer"),
        ("output.keep_work", "perhaps", "boolean"),
        ("input.columns.content", "null", "string"),
        (f"{NEAR}.drop_jaccard", "80", "less than or equal to 1"),
        (f"{NEAR}.drop_jaccard", "0", "greater than 0"),
        (f"{NEAR}.min_features", "2.5", "integer"),
        ("profiles.news.ngram", "abc", "integer"),
        ("profiles.news.compare", "title", "'content', 'title_and_content' or 'apart'"),
        ("profiles.news.minhash.num_perm", "8", "greater than or equal to 16"),
        ("profiles.news.simhash.tokens", "words", "'chars', 'jieba' or 'rjieba'"),
        ("profiles.news.fold.min_unit", "1", "greater than or equal to 2"),
        ("profiles.news.normalize", "[]", "at least 1"),
        ("profiles.log.normalize", "[html, mask]", "html and punctuation would take masks for tags"),
        ("profiles.news.normalize", "[html, htlm]", "no step is called htlm; the steps are mojibake, html,"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(setting, value, allowed):
    found = problem(f"{setting}={value}")
    assert found.startswith(f"{setting} (--set): ") and allowed in found


@pytest.mark.parametrize(
    "limits", ["[]", "[{limit: 3}, {up_to: 9, limit: 1}]", "[{up_to: 9, limit: 1}]", "[{limit: 1}, {limit: 3}]"]
)
def test_hamming_limits_are_refused_out_of_order(limits):
    assert "rising up_to values" in problem(f"{NEAR}.hamming={limits}")


def test_a_negative_hamming_limit_is_refused_with_its_place():
    assert problem(f"{NEAR}.hamming=[{{limit: -1}}]").startswith(f"{NEAR}.hamming.0.limit (--set): ")


def test_thresholds_out_of_order_are_refused_with_their_values():
    assert "review_jaccard (0.9) <= hamming_jaccard (0.75) <= drop_jaccard (0.8)" in problem(f"{NEAR}.review_jaccard=0.9")


@pytest.mark.parametrize("bands, rows", [(13, 60), (2, 60), (4, 5), (17, 5), (9, 14)])
def test_a_banding_that_misses_too_much_is_refused_with_figures(bands, rows):
    found = problem(f"profiles.news.minhash={{bands: {bands}, rows: {rows}, num_perm: 800}}")
    expected = 1 - (1 - 0.8**rows) ** bands
    assert f"{bands} bands of {rows} rows find a pair at Jaccard 0.8 with probability {expected:.4f}" in found
    assert "max_miss = 0.001 asks for 0.999" in found


def test_a_banding_that_does_not_fit_the_signature_is_refused():
    assert "= 780, more than num_perm = 128" in problem("profiles.news.minhash={bands: 60, rows: 13}")


def test_half_a_banding_is_refused():
    assert "set together or not at all" in problem("profiles.news.minhash.bands=18")


def test_a_fold_that_can_never_happen_is_refused():
    assert "max_unit" in problem("profiles.news.fold={min_unit: 50, max_unit: 5}")


# ---- files ----


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"engine: [", "cannot be read"),
        (b"- a\n- b\n", "must hold names and values, not list"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b'engine: !!python/object/apply:os.system ["touch owned"]\n', "cannot be read"),
        (b"engine: embedded\nengine: spark\n", "engine"),
    ],
)
def test_a_file_that_is_no_settings_file_is_refused_by_name(conf, content, complaint, monkeypatch):
    monkeypatch.chdir(conf)
    (conf / "rebuild.yaml").write_bytes(content)
    found = problem(path=conf / "rebuild.yaml")
    assert found.startswith(f"{conf / 'rebuild.yaml'}: ") and complaint in found
    assert not (conf / "owned").exists()


def test_a_missing_file_is_named(tmp_path):
    assert f"{tmp_path / 'no.yaml'}: no such file" in problems(path=tmp_path / "no.yaml")


@pytest.mark.parametrize("content", ["profiles: {news: {ngram: 5}}\n", "lexicon: {lines: [责编]}\n"])
def test_settings_that_have_a_file_of_their_own_are_not_ignored_elsewhere(conf, content):
    (conf / "rebuild.yaml").write_text(content)
    assert problem(path=conf / "rebuild.yaml").startswith(content.partition(":")[0])


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("lines: [责]\n", "lines: must be a list of phrases of 2 characters or more"),
        ("phrases: 责编\n", "phrases: must be a list of phrases"),
        ("title_tags: [1]\n", "title_tags: must be a list of phrases of 1 characters or more"),
        ("title_tags: ['  ']\n", "title_tags: must be a list of phrases"),
        ("tags: [图]\n", "tags: unknown list; did you mean title_tags?"),
        ("- 责编\n", "must hold names and values, not list"),
    ],
)
def test_a_wrong_lexicon_is_refused_by_file_and_list(conf, content, complaint):
    (conf / "lexicon" / "more.yaml").write_text(content)
    assert problem(path=conf / "rebuild.yaml").startswith(f"{conf / 'lexicon' / 'more.yaml'}: {complaint}")


@pytest.mark.parametrize("override", ["engine", "=3", ""])
def test_an_override_without_name_or_value_is_refused(override):
    assert problem(override) == f"--set {override}: write it as name=value"


def test_an_override_below_a_value_is_refused():
    assert problem("engine.name=x") == "--set engine.name=x: engine holds a value, not a group of settings"


# ---- words ----


def test_messages_speak_of_settings_not_of_libraries():
    found = problems(
        "input=3",
        "output.keep_work=x",
        "profiles.news=3",
        "candidates.max_rounds=[1]",
        "gates.quarantine_share.fail=abc",
        "review=[]",
    )
    assert len(found) == 6
    for word in ("pydantic", "Traceback", "instance of", "type=", "For further information", "validation error"):
        assert not [line for line in found if word in line], word
