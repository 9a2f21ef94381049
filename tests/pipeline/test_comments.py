"""The profile of comments: short texts by edits, spam but for its codes; and the profiles in which every fact counts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.conftest import embedded_only
from tests.oracle import jaccard, shingle_set
from tests.pipeline.helpers import drops, run, survivors

pytestmark = embedded_only  # both engines are compared on the sample and the practitioners' cases

COMMENT = "profile=comment"
SPAM = "正品代购招全国代理，有意请加微信{}，长期有效欢迎咨询"
FEW = "招聘兼职打字员日结工资，联系电话{}，名额有限先到先得"
STARS = "这家酒店位置方便房间干净早餐丰富，我给{}星推荐大家入住"
CODES = [f"wx{number:04d}" for number in range(100)]
GROUPS: dict[str, list[str | None]] = {
    "empty": ["", "   ", "\u3000\n\t", None],
    "short": ["好评", "差评", "好评", "要退货"],
    "signs": ["👍👍👍", "😡😡", "？？？", "……", "❤️"],
    "letter case": ["ABC", "abc", "abc ", "ábc"],
    "name": ["前台李平服务特别热情", "前台李萍服务特别热情"],
    "typo": ["快递很快包装完好下次还来", "快递很快包妆完好下次还来"],
    "particle": ["味道很好就是送餐太慢", "味道很好，就是送餐太慢了！"],
    "opposite": ["土豆丝卷饼太好吃了", "土豆丝卷饼太难吃了"],
    "negation": ["他们家的菜真的好吃", "他们家的菜真的不好吃"],
    "number": ["太慢了等了1个小时才到", "太慢了等了3个小时才到"],
    "other word": ["送货速度很快味道一般", "送餐速度很快味道一般"],
    "two edits": ["师傅很辛苦服务态度好", "师傅真辛苦服务热情好"],
    "repeats": ["太慢了……", "太慢了太慢了太慢了……"],
    "stars": [STARS.format(number) for number in range(1, 10)],
    "spam": [SPAM.format(code) for code in CODES],
    "few": [FEW.format(number) for number in (13800000000, 13911111111, 13722222222)],
}


def comments(texts: Sequence[tuple[str, str | None]]) -> list[dict]:
    return [{"doc_id": name, "title": "编辑部公告", "content": text} for name, text in texts]


@pytest.fixture(scope="module")
def rows():
    return comments([(f"{name} {at:02d}", text) for name, group in GROUPS.items() for at, text in enumerate(group)])


@pytest.fixture(scope="module")
def tables(session, rows, tmp_path_factory):
    return run(session, rows, tmp_path_factory.mktemp("comments"), COMMENT, files=3)


def fallen(tables, group: str) -> dict[str, str]:
    """Method of each dropped row of a group, by its number."""
    return {name.rpartition(" ")[2]: method for name, (_, method) in drops(tables).items() if name.startswith(group + " ")}


def asked(tables, group: str) -> list[str]:
    return [row["reason"] for row in tables["review"] if row["doc_id"].startswith(group + " ")]


@pytest.mark.parametrize(
    ("group", "dropped"),
    [
        ("short", {"02": "exact_raw"}),
        ("signs", {}),
        ("letter case", {"00": "exact_normalized", "01": "exact_normalized"}),  # "abc " is the longest
        ("name", {}),
        ("typo", {"01": "near"}),
        ("repeats", {"00": "exact_folded"}),  # the longer text comes first
        ("particle", {"00": "near"}),
        ("opposite", {}),
        ("negation", {}),
        ("number", {}),
        ("other word", {}),
        ("two edits", {}),
        ("stars", {}),
        ("few", {}),
    ],
)
def test_what_is_dropped(tables, group, dropped):
    assert fallen(tables, group) == dropped


@pytest.mark.parametrize(
    ("group", "reasons"),
    [
        ("opposite", ["facts_differ: 难 / 好"]),
        ("negation", ["facts_differ: - / 不"]),
        ("number", ["facts_differ: 3 / 1"]),
        ("name", ["edit_distance 1 of 10: 萍 / 平"]),
        ("other word", ["edit_distance 1 of 10: 餐 / 货"]),
        ("typo", []),
        ("two edits", []),
        ("short", []),
        ("signs", []),
    ],
)
def test_what_a_person_is_asked(tables, group, reasons):
    assert asked(tables, group) == reasons


def test_of_a_hundred_pieces_of_spam_one_stays(tables):
    assert len(fallen(tables, "spam")) == 99
    reasons = {row["reason"] for row in tables["pairs"] if row["doc_id"].startswith("spam ")}
    assert reasons == {"same_but_for_digits"}


def test_every_near_drop_is_measured_on_its_own_two_texts(tables, rows):
    texts = {row["doc_id"]: row["content"] for row in rows}
    near = [row for row in tables["pairs"] if row["method"] == "near" and row["decision"] == "drop"]
    assert len(near) == 101
    for row in near:
        ours, theirs = (shingle_set(texts[row[name]], 2) for name in ("doc_id", "kept_id"))
        assert row["jaccard"] == pytest.approx(jaccard(ours, theirs), abs=1e-12)
        assert row["jaccard"] >= row["threshold"] > 0


def test_short_texts_are_counted(tables):
    counted = tables["metrics"]["exact"]
    assert counted["compared_as_short"] > 100
    assert counted["too_short_to_compare"] == 11
    assert tables["metrics"]["quarantine"] == {"empty": len(GROUPS["empty"])}


def test_a_million_short_comments_would_give_no_pair(session, tmp_path):
    rows = comments([(f"r{number:04d}", f"{chr(0x4E00 + number)}好") for number in range(3000)])
    tables = run(session, rows, tmp_path, COMMENT)
    assert tables["metrics"]["candidates"]["pairs_given"] == 0
    assert {method for _, method in drops(tables).values()} <= {"exact_normalized"}  # traditional characters


def test_a_hot_bucket_of_short_texts_stays_within_its_budget(session, tmp_path):
    """All share the text without its first character, and none is a duplicate."""
    rows = comments([(f"r{number:04d}", f"{chr(0x4E00 + number)}家的味道真好吃") for number in range(400)])
    counted = run(session, rows, tmp_path, COMMENT)["metrics"]["candidates"]
    assert counted["rounds"] > 1
    assert counted["pairs_given"] <= 2 * counted["pairs_of_a_naive_self_join"]


TITLES = [
    "乐途 A12 手机保护壳 防摔 黑色 适用6.1英寸",
    "乐途 A12s 手机保护壳 防摔 黑色 适用6.1英寸",
    "乐途 A12 手机保护壳 防摔 白色 适用6.1英寸",
]
DESCRIPTION = "采用加厚气囊设计，四角防摔，背板磨砂不沾指纹，按键回弹清脆，支持无线充电，下单后四十八小时内发货。" * 2
NOTICE = (
    "{}市气象台{}月5日发布大风蓝色预警：受冷空气影响，预计未来24小时内我市将出现5到6级偏北风，阵风可达7级，请有关单位和市民注意防范，"
    "高空作业人员应停止户外作业，加固围板、棚架、广告牌等易被风吹动的搭建物，行人尽量少骑自行车，机动车驾驶员应减速慢行。"
)


@pytest.mark.parametrize(
    ("profile", "texts", "stay"),
    [
        ("product", [(title, "") for title in TITLES], {0, 1, 2}),
        ("product", [(title, DESCRIPTION) for title in TITLES], {0, 1, 2}),
        ("product", [(TITLES[0], DESCRIPTION), (TITLES[0], DESCRIPTION.replace("，", "；"))], {0}),
        ("notice", [("", 3 * NOTICE.format(city, month)) for city, month in (("青河", 3), ("青河", 4), ("临湖", 3))], {0, 1, 2}),
        ("notice", [("", NOTICE.format("青河", 3)), ("", NOTICE.format("青河", 3) + "请注意安全。")], {1}),
    ],
)
def test_every_fact_of_goods_and_notices_counts(session, tmp_path, profile, texts, stay):
    rows = [{"doc_id": f"r{at}", "title": title, "content": text or title} for at, (title, text) in enumerate(texts)]
    assert survivors(run(session, rows, tmp_path, f"profile={profile}")) == {f"r{at}" for at in stay}
