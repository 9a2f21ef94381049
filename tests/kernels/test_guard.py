"""Which differences keep two alike texts apart, and which do not."""

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.config import Profile
from dedup_lib.kernels.conflicting import MANY
from dedup_lib.kernels.guard import Guard, differences, digests, guarded, severity
from dedup_lib.kernels.normalize import Normalizer
from dedup_lib.kernels.remarks import _HINT, _REMARK, strip_remarks, without_remarks
from dedup_lib.kernels.wording import NEGATIONS

GUARD = Guard(letters_up_to=200, words_up_to=400, correction_from=400, correction_jaccard=0.95, remarks=True)
normalize = Normalizer(Profile().normalize)
HAN = "".join(map(chr, range(0x6C00, 0x7C00)))
texts = st.text(st.sampled_from("甲乙丙丁戊己庚辛12a。，第年月日:不 "), max_size=40)


def story(length: int, seed: int = 1) -> str:
    """A text of so many letters in which nothing repeats."""
    return "".join(random.Random(seed).sample(HAN, length))


def kept_apart(first: str, second: str, jaccard: float = 0.97) -> bool:
    ours, theirs = normalize(pa.array([first])), normalize(pa.array([second]))
    features = np.array([min(len(ours[0].as_py()), len(theirs[0].as_py()))])
    return bool(guarded(ours, theirs, features, np.array([jaccard]), GUARD)[0])


@given(st.lists(st.tuples(texts, texts), max_size=5), st.integers(0, 3))
def test_severity_is_symmetric_and_row_by_row(pairs, start):
    first, second = (pa.array([pair[side] for pair in pairs], pa.string())[start:] for side in (0, 1))
    features = np.full(len(first), 100)
    found = severity(first, second, features, GUARD).all.tolist()
    assert found == severity(second, first, features, GUARD).all.tolist()
    assert found == [int(severity(first[i : i + 1], second[i : i + 1], features[:1], GUARD).all[0]) for i in range(len(first))]


@given(texts)
def test_a_text_is_not_kept_apart_from_itself(text):
    same = pa.array([text])
    assert severity(same, same, np.array([9]), GUARD).all[0] == 0
    assert differences(text, text, 5) == []


@given(texts, texts)
def test_what_keeps_apart_can_be_listed(first, second):
    ours, theirs = pa.array([first]), pa.array([second])
    if severity(ours, theirs, np.array([9]), GUARD).all[0]:
        assert differences(first, second, 5)


SHORT, LONG = story(150), story(600)


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("brand at the head", "乐途 A12 手机保护壳" + SHORT, "优护 A12 手机保护壳" + SHORT),
        ("model", "乐途 A12 手机保护壳" + SHORT, "乐途 A12s 手机保护壳" + SHORT),
        ("one letter of a town", SHORT + "明天到达南京站。", SHORT + "明天到达北京站。"),
        ("teams change sides", "青河队在主场以3比1战胜临湖队" + SHORT, "临湖队在主场以3比1战胜青河队" + SHORT),
        ("negation", LONG[:300] + "我们支持这项决定" + LONG[300:], LONG[:300] + "我们不支持这项决定" + LONG[300:]),
        ("one letter of a name", LONG[:280] + "任命张伟为馆长", LONG[:280] + "任命张强为馆长"),
        (
            "one letter of a name at places",
            *(f"{n}到任。{LONG[:140]}{n}讲话。{LONG[140:280]}{n}离会。" for n in ("张伟", "张强")),
        ),
        ("name twice in a long text", "远山股份" + LONG + "远山股份", "东港重工" + LONG + "东港重工"),
        ("date in a long text", LONG + "3月5日开幕", LONG + "3月6日开幕"),
        ("two figures in a long text", "投资12.4亿元" + LONG + "增长8%", "投资13.4亿元" + LONG + "增长9%"),
        ("quarter in a long text", "第二季度" + LONG, "第三季度" + LONG),
        ("name behind a header", "本报综合各地消息报道今日天气\n米朵 B44" + SHORT, "优护 B44" + SHORT),
        ("revision of a law", "1998年通过，2011年第一次修正" + LONG, "1998年通过，2011年第一次修正，2020年第二次修正" + LONG),
        ("notices of two days", "2020年3月14日0-24时，江苏省无新增" + SHORT, "2020年3月15日0-24时，江苏省无新增" + SHORT),
        ("signed on two days", SHORT + "特此公告。2024年3月1日", SHORT + "特此公告。2024年3月2日"),
        ("readers of a report", SHORT + "人均阅读12本书", SHORT + "人均阅读15本书"),
        ("a figure in a short text", SHORT + "投资12.4亿元", SHORT + "投资13.4亿元"),
    ],
)
def test_other_facts_keep_apart(kind, first, second):
    assert kept_apart(first, second) and kept_apart(second, first)


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("corrected figure", LONG + "投资12.4亿元" + SHORT, LONG + "投资13.4亿元" + SHORT),
        ("figure corrected twice", "投资12.4亿元" + LONG + "投资12.4亿元", "投资13.4亿元" + LONG + "投资13.4亿元"),
        ("date line", "2024-03-01 08:30 来源：新华网 " + SHORT, "2024-03-02 09:10 来源：人民网 " + SHORT),
        ("posting date at the end", SHORT + "（2024年3月1日）", SHORT + "（2024年3月9日）"),
        ("update", "发布时间：2024年3月1日 08:30\n" + SHORT, "更新时间：2024年3月2日 10:00\n" + SHORT),
        ("reporter", "本报讯（记者 张三 通讯员 李四）" + SHORT, "本报讯（记者 王五 通讯员 赵六七）" + SHORT),
        ("page counter", SHORT + "第1页/共3页", SHORT + "第2页/共3页"),
        ("readers", SHORT + " 阅读(123)", SHORT + " 阅读(2345)"),
        ("touched words in a long text", LONG + "不能令人满意" + SHORT, LONG + "很难使他高兴" + SHORT),
        ("damaged letters", LONG, LONG[:90] + "鑫" + LONG[91:300] + "淼" + LONG[301:]),
        (
            "many damaged letters",
            LONG[:300],
            "".join("鑫淼焱垚犇"[i // 60] if i % 60 == 9 else c for i, c in enumerate(LONG[:300])),
        ),
        ("sentence added", SHORT, SHORT + "。本报将继续关注此事。"),
        ("paragraphs moved", LONG[:300] + LONG[300:], LONG[300:] + LONG[:300]),
    ],
)
def test_the_same_article_stays_the_same(kind, first, second):
    assert not kept_apart(first, second) and not kept_apart(second, first)


def test_a_correction_is_forgiven_only_in_texts_that_are_otherwise_equal():
    pair = LONG + "投资12.4亿元" + SHORT, LONG + "投资13.4亿元" + SHORT
    assert kept_apart(*pair, jaccard=0.9)


@pytest.mark.parametrize("negation", NEGATIONS)
def test_every_negation_counts_at_any_length(negation):
    first, second = pa.array([LONG + "可行" + SHORT]), pa.array([LONG + negation + "可行" + SHORT])
    assert severity(first, second, np.array([700]), GUARD).all[0] == MANY


@pytest.mark.parametrize(
    "text",
    [
        "记者从气象局获悉,明天有雨。会议于2024年3月1日在京召开,第3版有评论文章。",
        "2020年3月14日0-24时,江苏省无新增确诊病例。",
        "据台网测定,2024年3月1日10时30分在某地发生地震。",
        "时间:2024年3月1日,地点:礼堂。",
        "学生人均阅读12本书,转发5万次。",
        "资金来源为财政拨款200万元,由三个部门审核12次。",
        "报告共120页,见第12页。",
        "特此公告。某公司2024年3月1日",
    ],
)
def test_what_an_article_says_is_no_remark(text):
    assert strip_remarks(text) == text


@given(texts)
def test_remarks_are_found_by_their_trigger(text):
    stripped = strip_remarks(text)
    assert without_remarks(pa.array([text]))[0].as_py() == stripped


def test_the_digest_leaves_remarks_out():
    first, second = digests(pa.array([SHORT + "阅读(12)共5人", SHORT + "阅读(99)共5人"]), GUARD)
    other = digests(pa.array([SHORT + "阅读(12)共6人"]), GUARD)[0]
    assert first == second != other


pieces_of_remarks = st.sampled_from(
    ["记者", "来源:", "新华网", "编辑", ":", "/", "张三", "。", "(", ")", "阅读", "次数", "数", "12", "发布",
     "时间", "2024-03-01", "2024年3月1日", "第", "1/3", "页", "共", "8", " ", "10:30", "正文"]
)  # fmt: skip


@given(st.lists(pieces_of_remarks, max_size=10).map("".join))
def test_every_remark_has_what_is_looked_for_first(text):
    assert _HINT.search(text) or _REMARK.sub(" ", text) == text
