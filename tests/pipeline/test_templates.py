"""Templates of sites through the whole job: what is learned, from whom, and what it changes."""

from __future__ import annotations

import random
import re
import shutil
from datetime import datetime, timedelta

import pyarrow.parquet as pq
import pytest
import yaml

from dedup_lib.pipeline import rebuild
from dedup_lib.settings import DEFAULT_CONFIG, load_settings
from tests.conftest import SAMPLE, embedded_only
from tests.pipeline.helpers import digest, drops, published, run, survivors, write_rows

pytestmark = embedded_only  # both engines are compared on the sample and the practitioners' cases

FOOTER = (
    "本网站所刊载的全部内容包括文字图片音视频均受著作权法保护。任何单位和个人不得擅自摘编复制或建立镜像!更多精彩内容请关注我们的公众号。"
    "欢迎广大读者来信来电提供新闻线索,本报地址位于和平路与解放街交叉口东南角,订阅热线全天开通,全国各地邮局均可订阅。"
    "如发现本站内容侵犯您的合法权益,请与我们联系以便及时处理。本站部分文章来自网友投稿,不代表本站立场。广告经营许可证由市场监督管理部门颁发。"
    "违法和不良信息举报请拨打热线电话,友情提示:谨防以本报名义进行的各种诈骗行为,本报常年法律顾问为正大律师事务所。"
    "本站已接入互联网安全防护体系并通过等级保护测评,未成年人请在监护人陪同下浏览本站。请广大网友文明上网理性发言共建清朗网络空间。"
    "本站最终解释权归报社新媒体中心所有,以纸质版面刊登内容为准。感谢您一直以来对本报的支持与厚爱,祝您阅读愉快。"
)
HEAD = "欢迎收看本台为您带来的新闻报道。"
FAMILY = "市场人士提醒,汇率受多种因素影响。双向波动是常态,企业应树立风险中性理念,合理运用衍生工具管理风险。"


def real_sentences() -> list[str]:
    """Sentences of the sample's articles, each once, in a fixed order."""
    articles = pq.read_table(SAMPLE / "articles.parquet", columns=["content"])["content"].to_pylist()
    found = {s for text in articles for s in re.findall(r"[\u4e00-\u9fa5，、]{25,60}。", text)}
    return random.Random(1).sample(sorted(found), len(found))


def corpus() -> list[dict]:
    """Sources that each show one thing; rows dated in the order in which they are made."""
    sentences, draw, rows = iter(real_sentences()), random.Random(2), []

    def article(count: int) -> str:
        return "".join(next(sentences) for _ in range(count))

    def add(doc_id: str, source: str | None, content: str) -> None:
        when = datetime(2024, 1, 1) + timedelta(minutes=len(rows))
        rows.append({"doc_id": doc_id, "source": source, "content": content, "publish_time": when})

    for number in range(30):  # short articles of one site, all of them behind one head and before one long footer
        add(f"site{number}", "网站", f"{HEAD}{article(2)}\n{FOOTER}")
    body = article(2)
    add("bare", "网站", body)
    add("framed", "网站", f"{HEAD}{body}\n{FOOTER}")
    add("elsewhere", "另一家", f"{body}{FOOTER}")
    add("only_frame", "另一家", HEAD + FOOTER)
    add("none", None, f"{article(2)}\n{FOOTER}")
    hot, tail = article(8), article(2)
    for number in range(40):  # reposts of one article
        at = draw.randrange(len(hot))
        add(f"repost{number}", "转载", hot[:at] + draw.choice("天地玄黄宇宙") + hot[at + 1 :] + tail)
    for number in range(40):  # notices of one form
        price = f"{7 + draw.random():.4f}元,较前一交易日调整{number + 10}个基点"
        add(
            f"notice{number}",
            "公告",
            f"{1 + number % 12}月{1 + number % 28}日外汇市场人民币汇率中间价为1美元对人民币{price}。{FAMILY}",
        )
    small = article(1)
    for number in range(9):  # a source with few documents
        add(f"small{number}", "小站", article(4) + small)
    large = article(1)
    for number in range(1300):  # a source in which ten documents in a thousand end alike by chance
        add(f"large{number}", "大站", article(2) + (large if number < 11 else ""))
    return rows


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    return corpus()


@pytest.fixture(scope="module")
def result(session, rows, tmp_path_factory):
    return run(session, rows, tmp_path_factory.mktemp("templates"))


def learned(tables: dict) -> set[tuple[str, str, str]]:
    return {(row["source"], row["position"], row["text"]) for row in tables["templates"]}


def units(text: str) -> list[str]:
    """Sentences as they are normalised."""
    return re.findall(r"[^。!]+[。!]", text)


def test_head_and_footer_of_the_site_are_learned_and_nothing_else(result):
    assert learned(result) == {("网站", "head", HEAD)} | {("网站", "tail", unit) for unit in units(FOOTER)}


def test_what_was_learned_can_be_judged(result):
    for row in result["templates"]:
        assert (row["profile"], row["documents"], row["vetoed"]) == ("news", 31, False)
        assert 10 <= row["unrelated"] <= 31
        assert len(set(row["example_ids"])) == 3 and set(row["example_ids"]) <= {f"site{n}" for n in range(30)} | {"framed"}


def test_different_short_articles_with_one_footer_stay(result):
    assert {f"site{number}" for number in range(30)} | {"none"} <= survivors(result)
    assert not [row for row in result["review"] if row["doc_id"].startswith("site")]


def test_an_article_is_the_same_with_and_without_the_frame_whatever_its_source(result):
    assert {name: drops(result).get(name) for name in ("framed", "elsewhere")} == {
        "framed": ("bare", "exact_normalized"),
        "elsewhere": ("bare", "exact_normalized"),
    }


def test_equal_documents_have_one_sha1_and_nothing_is_emptied(result):
    assert "only_frame" in survivors(result)
    sha1 = {row["doc_id"]: row["content_sha1"] for row in result["documents"]}
    assert len(set(sha1.values())) == len(sha1)


def test_what_was_taken_off_is_counted(result):
    count = len(units(FOOTER)) + 1
    assert result["metrics"]["templates"] == {"learned": count, "removed": count, "rows": 34}


def test_neither_order_nor_files_matter(session, rows, result, tmp_path):
    shuffled = random.Random(3).sample(rows, len(rows))
    assert digest(run(session, shuffled, tmp_path, files=7)) == digest(result)


def test_null_learns_nothing(session, rows, tmp_path):
    off = run(session, rows[:40], tmp_path, "profiles.news.templates=null")
    assert not off["templates"] and not off["metrics"]["templates"]
    assert "framed" in survivors(off)


def test_a_kept_phrase_vetoes(session, rows, tmp_path):
    conf = shutil.copytree(DEFAULT_CONFIG.parent, tmp_path / "conf")
    (conf / "lexicon" / "ours.yaml").write_text(yaml.safe_dump({"keep": ["欢迎收看", "祝您 閱讀愉快"]}), encoding="utf-8")
    source = write_rows(rows[:40], tmp_path / "input")
    settings = load_settings(conf / "rebuild.yaml", [f"input.path={source}", f"output.path={tmp_path / 'out'}"])
    rebuild(session, settings.config, say=lambda line: None)
    tables = published(tmp_path / "out")
    vetoed = {row["text"] for row in tables["templates"] if row["vetoed"]}
    assert vetoed == {HEAD, units(FOOTER)[-1]}
    assert "framed" in survivors(tables)  # the last sentence stays, and so does what stands before it


def test_a_folded_text_is_folded_anew(session, rows, tmp_path):
    """A repeat beside the footer: equal raw, normalised and folded texts are told apart."""
    body = "".join(re.findall("[^。]+。", rows[0]["content"])[1:3])
    more = [
        {"doc_id": "f1", "content": body + "打卡签到" * 3 + "。" + FOOTER},
        {"doc_id": "f2", "content": body + "打卡签到" * 5 + "。"},
        {"doc_id": "f3", "content": body + "打卡签到" * 3 + "。"},
        {"doc_id": "f4", "content": body + "打卡签到" * 3 + "。" + FOOTER},
    ]
    tables = run(session, rows[1:40] + more, tmp_path)
    assert {name: drops(tables).get(name) for name in ("f2", "f3", "f4")} == {
        "f2": ("f1", "exact_folded"), "f3": ("f1", "exact_normalized"), "f4": ("f1", "exact_raw"),
    }  # fmt: skip


_seen: dict[str, str] = {}


def test_both_engines_give_the_same_tables(session, result):
    engine = "embedded" if "connect" in type(session).__module__ else "spark"
    _seen[engine] = digest(result)
    assert len(set(_seen.values())) == 1
