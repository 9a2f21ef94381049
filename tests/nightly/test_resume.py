"""A run goes on where another one ended, if and only if what is there is what it would compute."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dedup_lib import fingerprints
from dedup_lib.errors import ConfigError, InputError
from dedup_lib.files import Folder
from dedup_lib.fingerprints import STAGES, changed, facts, listed
from dedup_lib.pipeline import rebuild
from dedup_lib.publishing import current_run
from dedup_lib.resume import Checkpoints, How
from dedup_lib.settings import load_settings
from tests.conftest import embedded_only
from tests.pipeline.cases import LIBRARY, REWORDED
from tests.pipeline.helpers import LENIENT, TABLES, UNREPORTED, digest, published, write_rows

ROWS = [
    {"doc_id": "a", "content": LIBRARY, "source": "s"},
    {"doc_id": "b", "content": REWORDED, "source": "s"},
    {"doc_id": "c", "content": "好评" * 30, "source": "s"},
    {"doc_id": "d", "content": "好评" * 30, "source": "s"},
    {"doc_id": "e", "content": LIBRARY * 2 + "别的内容也在这里，一共有三件事情要说。" * 3, "source": "s"},
]


class Killed(BaseException):
    """Nothing in the product catches it."""


def config(folder: Path, *overrides: str):
    given = [f"input.path={json.dumps(str(folder / 'input'))}", f"output.path={folder / 'out'}", LENIENT, UNREPORTED, *overrides]
    return load_settings(None, given).config


@pytest.fixture
def work(tmp_path):
    write_rows(ROWS, tmp_path / "input", files=2)
    return tmp_path


def run(session, folder: Path, *overrides: str, run_id: str | None = None, **how) -> tuple[object, str]:
    """The result of a run, and what it said."""
    said: list[str] = []
    result = rebuild(session, config(folder, *overrides), run_id, said.append, how=How(**how))
    return result, "\n".join(said)


def reused(result) -> set[str]:
    return {place.removeprefix("_work/") for place in result.store.checkpoints.reused}


# ---- killed ----


@embedded_only
def test_killed_in_every_stage_the_next_run_goes_on(session, work, monkeypatch):
    run(session, work, run_id="undisturbed")
    expected = digest(published(work / "out"))
    stored = Checkpoints.stored
    for stage in STAGES:
        if stage in ("templates", "verdicts"):
            continue  # they store nothing here

        def dies(self, place, stage=stage):
            stored(self, place)
            if self.stage == stage:
                raise Killed

        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(Checkpoints, "stored", dies)
            run(session, work, "review.max_pairs_per_row=4")  # another setting, or there would be nothing to do
        assert current_run(str(work / "out")) == "undisturbed"
    result, said = run(session, work, "review.max_pairs_per_row=4")
    assert "going on with run" in said and f"{', '.join(STAGES[:-1])} taken from it; publish" in said
    assert len(list((work / "out" / "runs").iterdir())) == 2  # one folder for all attempts
    assert {"normalized", "exact", "signatures", "candidates_1", "decisions"} <= reused(result)
    assert digest(published(work / "out")) == expected
    begun = json.loads((Path(result.store.folder) / "run.json").read_text())
    assert begun["attempt"] == 9 and not (Path(result.store.folder) / "_work").exists()


@embedded_only
def test_killed_between_the_tables_and_the_pointer_only_the_rest_is_done(session, work, monkeypatch):
    before = run(session, work, run_id="before")[0].store.run_id
    write = Folder.write
    for at, where in enumerate(["gates.json", "000003.json", "CURRENT"]):
        other = f"review.family_from={at + 7}"  # another setting, or there would be nothing to do

        def dies(self, name, text, durable=True, where=where):
            if name.endswith(where):
                raise Killed
            write(self, name, text, durable)

        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(Folder, "write", dies)
            run(session, work, other)
        assert current_run(str(work / "out")) == before
        result, said = run(session, work, other)
        assert {*TABLES} <= reused(result) and "taken from it" in said
        before = result.store.run_id
        assert current_run(str(work / "out")) == before and len(list((work / "out" / "runs").iterdir())) == at + 2
        assert len(published(work / "out")["documents"]) + len(published(work / "out")["dropped"]) == len(ROWS)


@embedded_only
def test_killed_at_the_first_pointer_the_next_run_mends_it(session, work):
    result, _ = run(session, work, "output.keep_work=true")
    (work / "out" / "CURRENT").unlink()
    again, _ = run(session, work)
    assert again.state == "unchanged" and (work / "out" / "CURRENT").read_text() == result.store.run_id + "\n"
    assert not Path(result.store.work).exists()


@embedded_only  # the tests of the pipeline store and read through checkpoints on both engines
def test_a_table_that_is_damaged_is_made_again(session, work):
    run(session, work, last="rank")
    (folder,) = (work / "out" / "runs").iterdir()
    next((folder / "_work" / "exact").glob("*.parquet")).write_bytes(b"half a fi")
    result, _ = run(session, work, last="rank")
    assert "normalized" in reused(result) and "exact" not in reused(result)


@embedded_only
@pytest.mark.parametrize(
    ("name", "text", "why"),
    [("_work/progress.json", '{"tables": 7}', "is damaged"), ("_work/progress.json", "\x00", "is damaged"),
     ("_work/progress.json", '{"boot": "other"}', "the machine was started anew"), ("run.json", "[", None)],
)  # fmt: skip
def test_marks_that_cannot_be_trusted_are_not(session, work, name, text, why):
    run(session, work, last="normalize")
    (folder,) = (work / "out" / "runs").iterdir()
    (folder / name).write_text(text)
    result, said = run(session, work, last="normalize")
    assert reused(result) == set() and (why is None or why in said)
    assert result.store.folder != str(folder)


# ---- what the user asks for ----


@embedded_only
def test_from_until_fresh_and_nothing_to_do(session, work):
    result, said = run(session, work, last="rank")
    assert result.state == "stopped" and not (work / "out" / "CURRENT").exists()
    with pytest.raises(ConfigError, match=r"--from contain: of run .* can be used: it had not ended; leave it out"):
        run(session, work, first="contain")
    result, said = run(session, work, first="exact")
    assert "normalized" in reused(result) and "exact" not in reused(result) and "--from exact" in said
    first = result.store.run_id
    again, said = run(session, work)
    assert again.state == "unchanged" and again.store.run_id == first and "nothing to do" in said
    assert again.metrics == result.metrics
    fresh, _ = run(session, work, fresh=True, run_id="fresh")
    assert fresh.state == "published" and reused(fresh) == set()
    named, said = run(session, work, run_id="other")  # who asks for a name gets a run of that name
    assert named.state == "published" and "nothing to do" not in said
    with pytest.raises(ConfigError, match="there is no unfinished run"):
        run(session, work, first="exact")
    with pytest.raises(ConfigError, match=r"run id 'fresh': .* exists already"):
        run(session, work, "review.family_from=9", run_id="fresh")


@pytest.mark.parametrize(
    ("how", "complaint"),
    [(How(first="sign"), "--from 'sign': no such stage; the stages are read, normalize"), (How(last="x"), "--until 'x'"),
     (How(first="rank", last="read"), "earlier --until"), (How(first="rank", fresh=True), "--fresh")],
)  # fmt: skip
def test_stages_that_make_no_sense(work, how, complaint):
    with pytest.raises(ConfigError, match=complaint):
        rebuild(None, config(work), how=how)


# ---- fingerprints ----


def differs_from(folder: Path, before, *overrides: str) -> str | None:
    """The first stage whose fingerprint is another one now."""
    after = facts(config(folder, *overrides))
    different = [stage for stage in STAGES if before.until[stage] != after.until[stage]]
    assert different == list(STAGES[STAGES.index(different[0]) :]) if different else True
    return different[0] if different else None


@pytest.mark.parametrize(
    ("override", "stage"),
    [("profiles.news.ngram=5", "read"), ("input.columns.title=t", "read"), ("profile=notice", "read"), ("engine=spark", "read"),
     ("candidates.max_rounds=41", "settle"), ("profiles.news.near.drop_jaccard=0.85", "settle"),
     ("profiles.news.near.guard.words_up_to=300", "settle"), ("profiles.news.near.guard=null", "settle"),
     ("profiles.news.near.min_features=21", "read"), ("profiles.news.near.hamming=[{limit: 2}]", "settle"),
     ("profiles.news.contain.action=drop", "contain"), ("profiles.news.contain.min_features=60", "read"),
     ("profiles.news.contain=null", "read"), ("review.max_pairs_per_row=4", "publish"),
     ("gates.drop_rate.fail=1", None), ("output.keep_work=true", None)],
)  # fmt: skip
def test_a_setting_matters_from_its_stage_on(work, override, stage):
    assert differs_from(work, facts(config(work)), override) == stage


def test_files_verdicts_and_code_matter(work, monkeypatch):
    before = facts(config(work))
    verdicts = work / "v.csv"
    verdicts.write_text("doc_id,other_id,verdict\n")
    assert differs_from(work, before, f"input.verdicts={verdicts}") == "verdicts"
    judged = facts(config(work, f"input.verdicts={verdicts}"))
    verdicts.write_text("doc_id,other_id,verdict\na,,protect\n")
    assert differs_from(work, judged, f"input.verdicts={verdicts}") == "verdicts"
    part = work / "input" / "part-000.parquet"
    content = part.read_bytes()
    part.write_bytes(content)  # the same, later
    assert differs_from(work, before) == "read" and changed(before.files, config(work).input.path) == [str(part)]
    before = facts(config(work))
    (work / "input" / "_SUCCESS").touch(), (work / "input" / ".part.crc").touch()
    assert differs_from(work, before) is None
    (work / "input" / "part-009.parquet").write_bytes(content)
    assert differs_from(work, before) == "read" and changed(before.files, config(work).input.path) == []
    before = facts(config(work))
    monkeypatch.setattr(fingerprints, "code_version", lambda: "other")
    assert differs_from(work, before) == "read"


@embedded_only
def test_the_reason_is_told(session, work):
    run(session, work, last="contain")
    _, said = run(session, work, "candidates.max_rounds=41", last="contain")
    assert "read, normalize, templates, verdicts, exact, rank taken from it; settle and what follows done again: " in said
    assert "setting candidates.max_rounds was 40, is 41" in said
    (work / "input" / "part-000.parquet").touch()
    _, said = run(session, work, "candidates.max_rounds=41", last="read")
    assert f"nothing of it can be used: input file {work}/input/part-000.parquet changed" in said


@embedded_only
def test_settings_of_later_stages_do_not_matter_before(session, work):
    """The oracle of the list of settings that only later stages look at: change all of them, compare the tables before."""
    late = [
        "candidates={rows_per_bucket: 9, all_pairs_up_to: 3}", "review={max_pairs_per_row: 1, family_from: 2}",
        "profiles.news.near={drop_jaccard: 0.9, review_jaccard: 0.85, hamming_jaccard: 0.88, hamming: [{limit: 2}], guard: null}",
        "profiles.news.contain={min_containment: 0.6, action: drop, rows_per_anchor: 9}",
    ]  # fmt: skip
    seen = []
    for name, overrides in (("x", []), ("y", late)):
        result, _ = run(session, work, "output.keep_work=true", *overrides, run_id=name, fresh=True)
        frames = [session.read.parquet(f"{result.store.work}/{table}") for table in ("normalized", "exact", "signatures")]
        seen.append([sorted(map(str, frame.collect())) for frame in frames])
    assert seen[0] == seen[1] and all(seen[0])


@pytest.mark.parametrize("path", ["nowhere", "input/*.csv", "empty"])
def test_an_input_without_files_is_named(work, monkeypatch, path):
    monkeypatch.chdir(work)
    (work / "empty").mkdir()
    with pytest.raises(InputError, match="no such file or folder"):
        listed([path])
