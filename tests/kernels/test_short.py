"""The rule for short texts: only a slip of the keyboard is dropped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels import short
from dedup_lib.kernels.short import DIFFERENT, DOUBT, FAR, SLIP, Verdict, couples
from dedup_lib.kernels.wording import NEGATIONS
from dedup_lib.settings import load_settings

TEXT = "快递很快包装完好下次还来"
CONTRASTS = couples(load_settings().config.lexicon.contrasts)
texts = st.text("快递很包装妆完好下次还来不的了吧太,!?1a👍", max_size=14)
places = st.integers(0, len(TEXT))


def judge(first: str, second: str) -> Verdict:
    return short.judge(first, second, CONTRASTS)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (TEXT, "快递很快包妆完好下次还来"),
        ("房间干净整洁服务热情", "房间干静整洁服务热情"),
        ("味道很好就是送餐太慢", "味道很好,就是送餐太慢了。"),
        ("大冷天送餐员辛苦了", "大冷天的送餐员辛苦了"),
        ("味道很好很好就是贵", "味道很很好很好就是贵"),
        ("师傅送得快态度也好", "师傅送的快态度也好"),
        ("服务好速度快100分", "服务好,速度快,100分!!!"),
        (TEXT, TEXT + "http://a.cn/1"),
    ],
)
def test_a_slip_leaves_the_text_the_same(first, second):
    assert judge(first, second).kind == SLIP


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("土豆丝卷饼太好吃了", "土豆丝卷饼太难吃了"),
        ("这家的菜真的好吃呢", "这家的菜真的不好吃呢"),
        ("这家店给5星推荐大家", "这家店给1星推荐大家"),
        ("太慢了等了一个小时", "太慢了等了两个小时"),
        ("房间里的wifi很快", "房间里的wif很快"),
        ("住了99天都很满意", "住了999天都很满意"),
        ("这个老板专门买好酒", "这个老板专门卖好酒"),
    ],
)
def test_facts_and_opposites_keep_texts_apart(first, second):
    assert judge(first, second).kind == DIFFERENT


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("送货速度很快味道一般", "送餐速度很快味道一般"),
        ("价格实惠味道不错啊", "价格实惠味道还不错啊"),
        ("前台的张经理非常热情", "前台的章经理非常热情"),
        ("谢谢小张的热情服务啊", "谢谢小章的热情服务啊"),
        ("这个东西已经收到了哦", "这个东西已经受到了哦"),
        ("前台李平服务特别热情", "前台李萍服务特别热情"),
        ("大厨陈建国做菜真好吃", "大厨陈建果做菜真好吃"),
        ("大堂张蕾蕾服务很热情", "大堂张蕾服务很热情"),
        ("在欢快的乐曲声中,", "在欢快的乐曲声中,中"),
        ("如家酒店早餐还算丰富", "如佳酒店早餐还算丰富"),
        ("住在三亚湾海景房不错", "住在三雅湾海景房不错"),
        ("红糖糍粑味道真的很好", "红汤糍粑味道真的很好"),
        ("不知道哪家酒店比较好", "不知道那家酒店比较好"),
        ("这家吃不了辣的人别来", "这家吃不辣的人别来"),
        ("我太太特别喜欢这家店", "我太特别喜欢这家店"),
        ("不要走,等我回来再说", "不要走等,我回来再说"),
        ("这家的味道真的很好?", "这家的味道真的很好。"),
        ("服务真是太好了呢👍", "服务真是太好了呢😡"),
    ],
)
def test_doubt_goes_to_a_person(first, second):
    assert judge(first, second).kind == DOUBT


@given(texts, texts)
def test_the_order_does_not_matter(first, second):
    assert judge(first, second).kind == judge(second, first).kind


@given(texts)
def test_a_text_is_itself(text):
    assert judge(text, text).kind == SLIP


@given(places, st.sampled_from(sorted(CONTRASTS)))
def test_contrasts_are_never_a_slip(at, pair):
    first, second = (TEXT[:at] + word + TEXT[at:] for word in pair)
    assert judge(first, second).kind == DIFFERENT


def test_each_two_of_a_set_contrast_both_ways():
    assert couples(["甲乙丙", "丁戊"]) == {"甲乙", "乙甲", "甲丙", "丙甲", "乙丙", "丙乙", "丁戊", "戊丁"}


def test_what_contrasts_is_told():
    ours, theirs = "今天送来的房架有点高了", "今天送来的房价有点高了"
    assert short.judge(ours, theirs, frozenset()).kind == SLIP
    assert short.judge(ours, theirs, couples(["价架"])).kind == DIFFERENT


@given(places, st.sampled_from(NEGATIONS + "0123456789ax零一两"))
def test_one_negation_or_digit_more_is_never_a_slip(at, char):
    assert judge(TEXT, TEXT[:at] + char + TEXT[at:]).kind == DIFFERENT


@given(st.text("甲乙丙丁戊己", min_size=8, max_size=12), st.text("子丑寅卯", min_size=2, max_size=3), places)
def test_two_edits_are_too_many(text, more, at):
    assert judge(text, text[:at] + more + text[at:]).kind == FAR


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ("快递很快包妆完好下次还来", "edit_distance 1 of 12: 装 / 妆"),
        (TEXT + "啊", "edit_distance 1 of 13: - / 啊"),
        (TEXT + "!", "edit_distance 0 of 12"),
        (TEXT[1:], "edit_distance 1 of 12: 快 / -"),
        (TEXT + "不", "facts_differ: - / 不"),
    ],
)
def test_the_reason_names_the_edit(second, reason):
    assert judge(TEXT, second).reason == reason
