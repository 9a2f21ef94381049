"""Hypothesis strategies: Chinese text, hostile text, repeats, and Arrow arrays in every awkward shape."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import strategies as st

HAN = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定"
MARKS = "，。！？：；、“”（）《》…—"
TRADITIONAL = "發現這臺機器壞麼辦後裡乾隆於為國學會說對與來時"
_PINYIN = ["(fā)", "(xiàn)", "（zhuāng）", "(ok)", "(nǚ)"]
_INVISIBLE = ["\u200b", "\u200c", "\u200d", "\ufeff", "\u00ad", "\u2060", "\u202e", "\ufe0f", "\x00", "\x07", "\x1f"]
_SPACES = [" ", "\t", "\n", "\r\n", "\u3000", "\u00a0", "\u2003", "\u2028", "\u0085", "\v"]
_WIDE = ["ＡＢＣ", "１２３", "！", "（", "）", "＆", "＜", "；", "．", "ｶﾞ", "㎡", "①", "Ⅷ", "㎒", "ﬁ", "豈"]
_HTML = [
    "<p>", "</p>", "<br/>", "<div class='x'>", "</div>", "<b>", "</b>", "<td>", "<script>var a=1;</script>", "<style>p{}</style>",
    "<!-- 注 -->", "&nbsp;", "&amp;", "&lt;", "&gt;", "&quot;", "&#20013;", "&#x56fd;", "&", "<", ">", "&amp;lt;p&amp;gt;",
]  # fmt: skip
_PICTOGRAPHS = ["😀", "❤️", "👨\u200d👩\u200d👧", "👍🏽", "☃", "🇨🇳"]
_COMBINING = ["e\u0301", "\u0301", "\u3099", "か\u3099", "ᄒ", "\u1161", "\u11ab", "가", "İ", "ß", "ſ", "ŉ", "Å", "\u0345", "ά"]
_ADDRESSES = ["http://a.cn/1?b=2", "https://", "www.a.com", "www.", "http:/", "HTTP://A.CN/１"]
_TAGS = ["【快讯】", "[原创]", "(图)", "图:", "责任编辑:某某", "版权声明", "相关推荐"]

unicode_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
chinese_text = st.text(st.sampled_from(HAN + MARKS + "0123456789abc"), max_size=40)


def _misread(text: str) -> list[str]:
    """A text as it looks after each of the three usual decoding faults, as far as the fault is possible."""
    found = []
    for right, wrong in (("utf-8", "latin-1"), ("utf-8", "cp1252"), ("utf-8", "gb18030"), ("gb18030", "latin-1")):
        try:
            found.append(text.encode(right).decode(wrong))
        except UnicodeError:
            continue
    return found


mojibake = st.text(st.sampled_from(HAN + "ab1 ，"), min_size=1, max_size=12).flatmap(lambda t: st.sampled_from(_misread(t)))
dirt = st.sampled_from(
    [*_PINYIN, *_INVISIBLE, *_SPACES, *_WIDE, *_HTML, *_PICTOGRAPHS, *_COMBINING, *_TAGS, *_ADDRESSES, *TRADITIONAL, *"aZ09.,:-"]
)
hostile_text = st.lists(st.one_of(dirt, dirt, chinese_text, unicode_text, mojibake), max_size=10).map("".join)


def repeats(alphabet: str = "哈看甲1，") -> st.SearchStrategy[str]:
    """Texts over a small alphabet, rich in runs of units that are themselves repeated, cut and nested."""
    letters = st.text(st.sampled_from(alphabet), max_size=5)
    run = st.tuples(letters, st.integers(1, 6)).map(lambda part: part[0] * part[1])
    nested = st.tuples(st.lists(run, max_size=3).map("".join), st.integers(1, 4)).map(lambda part: part[0] * part[1])
    return st.lists(st.one_of(letters, run, nested), max_size=4).map("".join)


@st.composite
def string_arrays(draw, texts: st.SearchStrategy[str] = hostile_text) -> pa.Array:
    """String arrays with nulls, cut out of longer arrays, with 32-bit or 64-bit offsets; sometimes empty."""
    values = draw(st.lists(st.one_of(st.none(), texts, texts, texts), max_size=8))
    before, behind = draw(st.sampled_from([[], ["前文"], [None, "x"]])), draw(st.sampled_from([[], ["后文"], [None]]))
    array = pa.array([*before, *values, *behind], draw(st.sampled_from([pa.string(), pa.large_string()])))
    return array.slice(len(before), len(values))
