"""One source changes its template: its pages all say the same now. The run is refused, and the message names the source."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from bench.corpus import make_corpus
from dedup_lib.errors import GateRefused
from dedup_lib.files import Folder
from dedup_lib.pipeline import rebuild
from dedup_lib.publishing import current_run, promote
from dedup_lib.settings import load_settings
from tests.conftest import embedded_only
from tests.pipeline.helpers import UNREPORTED, published

WALL = "本站已升级，请登录后查看全文。登录即表示您同意用户协议和隐私政策，更多精彩内容请下载客户端，扫描二维码关注公众号。"


@embedded_only
def test_a_source_that_changed_its_template_is_named(session, tmp_path):
    corpus = ds.dataset(str(make_corpus("mixed", 300, 7, tmp_path).files.rpartition("/")[0])).to_table()
    sources = pa.array([f"站点{number % 3}" for number in range(len(corpus))])
    corpus = corpus.set_column(corpus.schema.get_field_index("source"), "source", sources)
    (tmp_path / "in").mkdir()
    pq.write_table(corpus, tmp_path / "in" / "rows.parquet")
    given = [f"input.path={tmp_path / 'in'}", f"output.path={tmp_path / 'out'}", "gates.min_rows=0"]
    given += ["gates.history={at_least: 1, min_source_rows: 20}", UNREPORTED]
    settings = load_settings(None, given).config
    rebuild(session, settings, "monday", say=lambda line: None)
    before = published(tmp_path / "out")

    broken = pc.if_else(pc.equal(corpus["source"], "站点1"), WALL, corpus["content"])
    pq.write_table(
        corpus.set_column(corpus.schema.get_field_index("content"), "content", broken), tmp_path / "in" / "rows.parquet"
    )
    with pytest.raises(GateRefused) as raised:
        rebuild(session, settings, "tuesday", say=lambda line: None)
    assert "source_drop_rate: source '站点1' drops 99." in str(raised.value)
    assert "站点0" not in str(raised.value) and "站点2" not in str(raised.value)
    told = json.loads((tmp_path / "out" / "runs" / "tuesday" / "gates.json").read_text())
    gate = {gate["gate"]: gate for gate in told["gates"]}["source_drop_rate"]
    assert gate["verdict"] == "fail" and len(gate["rows"]) == 5 and {row["source"] for row in gate["rows"]} == {"站点1"}
    assert current_run(str(tmp_path / "out")) == "monday" and published(tmp_path / "out") == before
    promote(Folder(str(tmp_path / "out")), "tuesday", force=True)
    assert current_run(str(tmp_path / "out")) == "tuesday"
