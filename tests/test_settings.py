"""Settings: what stands in the files is the default, overrides win, and the fingerprint follows what decides the result."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest
import yaml

from dedup_lib.checks import check_settings
from dedup_lib.config import Config, Profile
from dedup_lib.errors import ConfigError
from dedup_lib.metrics import manifest
from dedup_lib.settings import DEFAULT_CONFIG, load_settings

CONF = Path(__file__).resolve().parent.parent / "conf"
NEAR = "profiles.news.near"


@pytest.fixture
def conf(tmp_path) -> Path:
    """A configuration of one's own: the folder of a copy of conf/."""
    return Path(shutil.copytree(CONF, tmp_path / "conf"))


def fingerprint(*overrides: str, path: Path | None = None) -> str:
    return load_settings(path, overrides).config.fingerprint()


def names(values: dict, prefix: str = "") -> set[str]:
    """Dotted names of all settings."""
    return {name for key, value in values.items() for name in _names(value, f"{prefix}{key}")}


def _names(value: object, name: str) -> set[str]:
    return names(value, f"{name}.") if isinstance(value, dict) else {name}


# ---- defaults ----


def test_the_settings_file_documents_the_defaults():
    documented = yaml.safe_load(DEFAULT_CONFIG.read_text("utf-8"))
    documented["gates"] = yaml.safe_load((CONF / "gates.yaml").read_text("utf-8"))
    assert documented == Config().model_dump(mode="json", exclude={"profiles", "lexicon"})


def test_the_profile_file_documents_the_defaults():
    documented = yaml.safe_load((CONF / "profiles" / "news.yaml").read_text("utf-8"))
    assert Profile.model_validate(documented) == Profile()
    assert names(documented) == names(Profile().model_dump(mode="json"))


def test_without_a_path_the_files_of_the_product_are_read():
    config = load_settings().config
    assert list(config.profiles) == ["comment", "log", "news", "notice", "product"]
    assert "责任编辑" in config.lexicon.lines and "快讯" in config.lexicon.title_tags and "(完)" in config.lexicon.phrases
    assert "买卖" in config.lexicon.contrasts


def test_an_empty_file_leaves_the_defaults(conf):
    (conf / "rebuild.yaml").write_text("# nothing\n")
    assert fingerprint(path=conf / "rebuild.yaml") == fingerprint()


def test_lexicon_files_add_up(conf):
    (conf / "lexicon" / "more.yaml").write_text("lines: [值班编委]\n")
    lines = load_settings(conf / "rebuild.yaml").config.lexicon.lines
    assert {"值班编委", "责任编辑"} <= set(lines)


def test_a_profile_is_a_file(conf):
    (conf / "profiles" / "公告.yaml").write_text("ngram: 3\n")
    config = load_settings(conf / "rebuild.yaml", ["profile=公告"]).config
    assert config.profiles["公告"].ngram == 3 and config.profiles["news"].ngram == 4


def test_threshold_one_is_allowed():
    assert load_settings(None, [f"{NEAR}.drop_jaccard=1.0"]).config.profiles["news"].near.drop_jaccard == 1


def test_a_banding_that_finds_enough_is_taken():
    config = load_settings(None, ["profiles.news.minhash={bands: 25, rows: 5}"]).config
    assert config.profiles["news"].bands == (25, 5)


# ---- overrides ----


@pytest.mark.parametrize(
    ("override", "read", "expected"),
    [
        ("input.path=a.parquet", lambda c: c.input.path, ["a.parquet"]),
        ("input.path=[a, b]", lambda c: c.input.path, ["a", "b"]),
        ("input.path='[a].parquet'", lambda c: c.input.path, ["[a].parquet"]),
        ("input.path=*.parquet", lambda c: c.input.path, ["*.parquet"]),
        ("input.columns.content=正文=全", lambda c: c.input.columns.content, "正文=全"),
        ("input.columns.doc_id=null", lambda c: c.input.columns.doc_id, None),
        ("input.columns.doc_id=", lambda c: c.input.columns.doc_id, None),
        ("output.keep_work=true", lambda c: c.output.keep_work, True),
        ("profiles.news.fold=null", lambda c: c.profiles["news"].fold, None),
        ("profiles.news.fold.min_unit=3", lambda c: c.profiles["news"].fold.min_unit, 3),
        ("profiles.other.ngram=5", lambda c: c.profiles["other"].ngram, 5),
        (f"{NEAR}.hamming=[{{limit: 2}}]", lambda c: c.profiles["news"].near.max_hamming, 2),
    ],
)
def test_an_override_is_read_as_yaml(override, read, expected):
    assert read(load_settings(None, [override]).config) == expected


def test_the_last_override_wins():
    assert load_settings(None, ["candidates.max_rounds=7", "candidates.max_rounds=9"]).config.candidates.max_rounds == 9


def test_each_line_names_the_origin_of_a_setting(conf):
    (conf / "rebuild.yaml").write_text("candidates: {max_rounds: 9}\n")
    lines = load_settings(conf / "rebuild.yaml", ["input.format=csv"]).lines()
    origin = {line.split()[0]: line.rpartition("# ")[2] for line in lines}
    assert origin["input.format"] == "--set"
    assert origin["candidates.max_rounds"] == str(conf / "rebuild.yaml")
    assert origin["candidates.all_pairs_up_to"] == "default"
    assert origin["profiles.news.ngram"] == str(conf / "profiles" / "news.yaml")


# ---- fingerprint ----


@pytest.mark.parametrize(
    "override",
    [
        "profile=other",
        "input.columns.content=text",
        "input.profile_column=kind",
        "review.max_pairs_per_row=6",
        "profiles.news.ngram=5",
        "profiles.news.normalize=[nfkc, html]",
        "profiles.news.normalize=[html, nfkc]",
        "profiles.news.fold=null",
        "profiles.news.minhash.seed=2",
        f"{NEAR}.drop_jaccard=0.81",
        f"{NEAR}.guard=null",
    ],
)
def test_what_decides_the_result_changes_the_fingerprint(override):
    assert fingerprint("profiles.other.ngram=4", override) != fingerprint("profiles.other.ngram=4")


def test_the_order_of_steps_changes_the_fingerprint():
    assert fingerprint("profiles.news.normalize=[nfkc, html]") != fingerprint("profiles.news.normalize=[html, nfkc]")


def test_the_lexicon_changes_the_fingerprint(conf):
    (conf / "lexicon" / "more.yaml").write_text("lines: [值班编委]\n")
    assert fingerprint(path=conf / "rebuild.yaml") != fingerprint()


@pytest.mark.parametrize(
    "override",
    [
        "engine=spark",
        "input.path=a",
        "input.verdicts=v.csv",
        "output.path=o",
        "output.keep_work=true",
        "gates.quarantine_share.fail=1",
    ],
)
def test_where_and_how_it_is_computed_does_not_change_the_fingerprint(override):
    assert fingerprint(override) == fingerprint()


def test_a_token_of_a_server_is_never_written_down():
    settings = load_settings(overrides=["engine='connect=sc://h:1/;token=geheim'", "input.path=i", "output.path=o"])
    told = json.dumps(manifest(settings.config, "r", datetime(2031, 5, 1), {})) + "\n".join(settings.lines())
    assert "geheim" not in told and "connect=sc://h:1" in told
    assert settings.config.engine.endswith("geheim")  # the session needs it


@pytest.mark.parametrize("given", ["input.path=data", "output.path=out", "input.verdicts=v.csv"])
def test_a_connect_server_gets_whole_paths_only(given):
    whole = ["input.path=/data", "output.path=/out", "input.verdicts=s3a://b/v.csv", "engine=connect=sc://h:1"]
    check_settings(load_settings(overrides=whole).config)
    with pytest.raises(ConfigError, match="write whole paths"):
        check_settings(load_settings(overrides=[*whole, given]).config)
