"""What a site adds to a text without changing it: who edited it, when it was put up, how often it was read, which page it is.

The guard looks at a pair a second time without these, so that two postings of one article are not told apart by them.
"""

from __future__ import annotations

import re

import pyarrow as pa

from dedup_lib.kernels.normalize import TextStep, apply_where
from dedup_lib.kernels.triggers import Trigger, containing, either, matching

_PEOPLE = ("记者", "通讯员", "实习生", "编辑", "责编", "校对", "审核", "摄影", "作者", "撰文", "来源", "编译")
_COUNTERS = ("阅读", "浏览", "点击", "评论", "人气", "访问", "查看", "转发", "点赞", "分享", "收藏", "播放")
_OUTLETS = ("网", "社", "报", "台", "刊", "在线", "频道", "客户端", "公众号")
_CLOCK = r"\d{1,2}[:时]\d{1,2}(?:[:分]\d{1,2})?[分秒]?"
_DATE = r"\d{2,4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?"
_SPAN = r"[^。,;)\n]{1,24}?"
_PATTERNS = (
    rf"来源[: ]*\w{{2,8}}?(?:{'|'.join(_OUTLETS)})",  # runs into the text where a line break was joined
    # 记者从气象局获悉 is the article's own sentence
    rf"\(?(?:本报|本网|见习|特约|实习)*(?:{'|'.join(_PEOPLE)})[:/ ]*(?![从在对就近昨今了采注发看问来到将向表们和与])"
    rf"{_SPAN}(?:报道|摄|文|图|(?=[。,;)\n])|$)\)?",
    rf"(?:(?:发布|更新|发表|采集|上传|刊发|编辑)(?:时间|日期|于)?|时间|日期)[: ]*{_DATE}(?:[ t]*{_CLOCK})?",
    rf"{_DATE}[ t]*{_CLOCK}",
    rf"^\W*{_DATE}\W*(?=\S)|{_DATE}\W*$",
    rf"(?:{'|'.join(_COUNTERS)})(?:次数|人数|数|量)?[:( ]*\d+(?:\.\d+)?[万次人)]*",
    r"第?\d+/\d+页|第\d+页(?:[/,(]?共\d+页\)?)?|共\d+页|[(\[]\d+/\d+[)\]]",
)
_REMARK = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))


def strip_remarks(text: str) -> str:
    """The text without editors' names, posting dates, counters and page numbers."""
    return _REMARK.sub(" ", text)


holding_remarks: Trigger = either(containing((*_PEOPLE, *_COUNTERS)), matching(rf"{_DATE}|\d/\d|\d+页"))


def without_remarks(texts: pa.Array) -> pa.Array:
    """``strip_remarks`` for an Arrow string array; texts without any pass untouched."""
    return apply_where(texts, TextStep(strip_remarks, holding_remarks))
