"""Faults that users of deduplication tools met, each as a few rows and the outcome they would call right.

All cases are one corpus. Rows of a case come in the order of priority; every row has the same title and an address and a
time of its own, none of which may matter.
"""

from __future__ import annotations

import base64
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

CHARACTERS = (
    "的是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"
    "进着等部度家电力里如水化高自理起小物现实加量都体制机当使点从业本去把性好应开它合还因由其些然前外天政日那社义事平形相全表间"
)
FUNCTION_WORDS = "的了在是和对将也与等为及"
LIBRARY = (
    "昨日上午，市图书馆新馆正式对外开放。新馆总面积约两万平方米，设有儿童阅览区、自习区和展览厅，全年免费开放。"
    "馆方提醒读者入馆前完成预约，周一闭馆维护。"
)
REWORDED = LIBRARY.replace("、自习区", "")  # Jaccard 0.86
CLINIC = (
    "自下月一日起，区妇幼保健院夜间门诊延长至晚上十点，儿科、妇科和急诊均可挂号就诊，检验和取药窗口同步延长服务。"
    "院方建议家长提前在手机上预约，尽量避开晚间高峰时段。"
)
EARNINGS = (
    "示例股份（代码600000）今日披露2024年第二季度主要经营数据：营业收入12.4亿元，同比增长8.1%，净利润1.9亿元。公司表示，本期经营"
    "情况总体平稳，主要产品产销两旺，原材料价格波动对毛利率的影响可控。公司将继续推进智能制造升级，优化供应链管理，加大研发投入，稳步"
    "拓展海外市场，切实提升经营质量和股东回报。风险提示：本公告所载数据为公司内部统计，未经会计师事务所审计，敬请广大投资者谨慎决策。"
)
TRAIN = "【列车晚点】受强降雨影响，G1503次列车今日晚点35分钟，预计18:20到达杭州东站，请旅客合理安排行程。"
FLIGHT = (
    "受航路天气影响，原定今日从本场出港的CA1831次航班推迟起飞，"
    "登机口调整到二层东侧候机区，给旅客带来的不便敬请谅解，请留意广播和电子屏的最新通知。"
)
BUS = (
    "因道路施工，自即日起途经人民广场的315路公交车临时改道行驶，"
    "沿途取消三个站点，增设两个站点，施工结束后恢复原线路，请市民提前安排好出行。"
)
DIVIDEND = (
    "样本股份有限公司（代码600000）董事会公告：经股东大会审议通过，"
    "公司决定向全体股东派发现金红利，股权登记日和除权除息日将另行通知，敬请投资者留意。"
)
STOVE = (
    "晨光电磁炉采用整块微晶面板，触控按键带童锁，五档火力可调，适用锅底直径22厘米，"
    "附赠汤锅和炒锅各一只，全国联保，签收后七天内可以无理由退货。"
)
RATE = (
    "中国外汇交易中心公布，今日银行间外汇市场人民币汇率中间价为1美元对人民币7.1023元，"
    "交易员称市场供求总体平衡，企业结汇意愿有所回升。"
)
MATCH = (
    "昨晚的足球联赛焦点战中，主场作战的海港队凭借下半场的出色发挥以3:1战胜来访的山城队，"
    "终场哨响后全场球迷起立鼓掌，主教练赛后表示对结果非常满意。"
)
SHOP = (
    "便民服务中心因装修即日起迁至中山路18号办公，原办公地点不再受理业务，"
    "请前来办事的居民带好身份证件，工作日均可办理，咨询请拨打服务热线。"
)
FROST = (
    "气象台发布霜冻预警：预计明天凌晨北部山区最低气温-3度，"
    "部分低洼地带可能出现霜冻，请种植户提前做好果树和蔬菜大棚的防寒保暖工作。"
)
FORUM = (
    "第二届城市更新论坛在会展中心开幕，来自各地的规划师、"
    "建筑师和社区代表围绕老旧小区改造展开讨论，主办方表示论坛成果将汇编成册向公众发布。"
)
PHONE = (
    "乐途A12手机保护壳采用加厚气囊设计，四角防摔，背板磨砂不沾指纹，"
    "按键回弹清脆，支持无线充电，适用6.1英寸机型，下单后四十八小时内发货。"
)
STANDINGS = (
    "小组赛全部结束，积分榜上海港队积3分，山城队积5分，两队都进入下一阶段，"
    "抽签仪式将于下周举行，组委会提醒球迷通过官方渠道购票入场观赛。"
)
VOLUMES = (
    "档案馆今年共整理旧报纸一千三百件、老照片若干，全部完成数字化扫描，"
    "市民可以在阅览室的电脑上检索查看，馆方还将挑选其中的精品举办专题展览。"
)


@dataclass(frozen=True)
class Case:
    """Rows by name, and what becomes of them: who falls for whom, which pairs are doubtful, what cannot be processed."""

    name: str
    rows: dict[str, str | None]
    dropped: dict[str, tuple[str, str]] = field(default_factory=dict)  # name: (survivor, method)
    review: dict[tuple[str, str], str] = field(default_factory=dict)  # (later, earlier): beginning of the reason
    blank: tuple[str, ...] = ()


def _numbered(*texts: str | None, prefix: str = "t") -> dict[str, str | None]:
    return {f"{prefix}{number}": text for number, text in enumerate(texts, 1)}


def _different(name: str, *texts: str) -> Case:
    """Texts that all survive and are not even doubtful."""
    return Case(name, _numbered(*texts))


def _equal(name: str, method: str, *texts: str) -> Case:
    """Texts that all say what the first says."""
    rows = _numbered(*texts)
    return Case(name, rows, dict.fromkeys(list(rows)[1:], ("t1", method)))


def _other_fact(name: str, text: str, *changes: tuple[str, str]) -> Case:
    """A template filled with other facts: alike enough to be dropped, but a person has to look at it."""
    other = text
    for old, new in changes:
        assert old in text
        other = other.replace(old, new)
    return Case(name, _numbered(text, other), review={("t2", "t1"): "facts_differ: "})


def _random_text(seed: int, length: int, function_words: float = 0) -> str:
    rng = random.Random(seed)
    return "".join(rng.choice(FUNCTION_WORDS if rng.random() < function_words else CHARACTERS) for _ in range(length))


def _chain(links: int) -> dict[str, str | None]:
    """Windows of ten sentences, each one sentence further: neighbours have Jaccard 0.8 and more, the next but one 0.67."""
    sentences = [_random_text(number, 30) + "。" for number in range(links + 9)]
    return _numbered(*("".join(sentences[at : at + 10]) for at in range(links)))


def _hot_family(size: int) -> dict[str, str | None]:
    """Copies of one text with one word added to each: all share most of their buckets."""
    text = _random_text(99, 300)
    return _numbered(text, *(text[: 7 * at] + "改动" + text[7 * at :] for at in range(1, size)))


BLANK = ("", "   ", "\u3000\n\t", None, "\u200b\ufeff\u2060", "\u00a0\u2028\r\n", "\u00ad\u202e", None)
BASE64 = base64.b64encode(random.Random(7).randbytes(750_000)).decode()

CASES = [
    Case("nothing to compare", {**_numbered(*BLANK), "ok": "今天上架了三款新茶"}, blank=tuple(_numbered(*BLANK))),
    Case("words for nothing", _numbered("None", "nan", "NULL", "N/A", "<NA>", "undefined", None), blank=("t7",)),
    Case("shorter than an n-gram", _numbered("好评", "差评", "要退货", "好", "7", "好评"), {"t6": ("t1", "exact_raw")}),
    _different(
        "signs only", "👍👍👍", "😡😡", "？？？", "……", "❤️", "👍", "👍🏻", "👍🏿", "👨\u200d👩\u200d👧", "👨👩👧", "。", "，"
    ),
    Case("markup only", _numbered("<p></p>", "<br/>", "&nbsp;", "<p></p>"), {"t4": ("t1", "exact_raw")}),
    _different("noise only", "责任编辑：张三", "责任编辑：李四", "【快讯】", "（完）"),
    _different("separators fill the text", *("-" * 400 + " " + _random_text(seed, 30) for seed in (41, 42))),
    _different("one character fills the text", *("哈" * 400 + _random_text(seed, 30) for seed in (43, 44)), "哈哈哈", "哈" * 7),
    _different("no word boundaries", "周末去爬山看日出", "请把发票寄到公司", *(_random_text(seed, 60) for seed in (45, 46))),
    _equal("spaces between characters", "exact_normalized", "明早去河边钓鱼", "明 早 去 河 边 钓 鱼", "明早\n去河边\u3000钓鱼"),
    Case(
        "almost a repost",
        _numbered(CLINIC, CLINIC.replace("手机上预约，尽量避开晚间", "公众号预约，避开夜间")),
        review={("t2", "t1"): "below_threshold"},
    ),
    *(
        Case(f"function words {seed}", _numbered(*(_random_text(2 * seed + side, 600, 0.3) for side in (0, 1))))
        for seed in range(50, 60)
    ),
    _different(
        "three facts of a short notice", TRAIN, TRAIN.replace("1503", "1507").replace("35", "50").replace("18:20", "19:05")
    ),
    _other_fact("flight", FLIGHT, ("CA1831", "CA1837")),
    _other_fact("full width", BUS, ("315路", "３１７路")),
    _other_fact("quarter", EARNINGS, ("第二", "第三"), ("12.4", "13.0"), ("8.1%", "2.7%"), ("1.9亿", "2.3亿")),
    _other_fact("company code", DIVIDEND, ("600000", "600001")),
    _other_fact("rate", RATE, ("7.1023", "7.1123")),
    _other_fact("score", MATCH, ("3:1", "2:0")),
    _other_fact("house number", SHOP, ("18号", "81号")),
    _other_fact("sign of a number", FROST, ("-3度", "3度")),
    _other_fact("Chinese numeral", FORUM, ("第二届", "第三届")),
    _other_fact("long Chinese numeral", VOLUMES, ("一千三百", "两千三百")),
    _other_fact("model", PHONE, ("A12", "A12s")),
    _other_fact("size", STOVE, ("22厘米", "28厘米")),
    _other_fact("facts change places", STANDINGS, ("海港队积3分，山城队积5分", "海港队积5分，山城队积3分")),
    Case(
        "weather",
        _numbered(
            "【天气预报】青河市今天白天到夜间晴转多云，偏北风2到3级，最高气温21度，最低气温12度，空气质量良，适宜户外活动。",
            "【天气预报】临湖市今天白天到夜间小雨转阴，偏北风3到4级，最高气温16度，最低气温9度，空气质量良，适宜户外活动。",
            "【天气预报】安岭市今天白天到夜间多云，偏南风2到3级，最高气温24度，最低气温14度，空气质量优，适宜户外活动。",
            "【天气预报】青河市今天白天到夜间晴转多云，偏北风2到3级，最高气温21度，最低气温12度，空气质量良，适宜户外活动。",
        ),
        {"t4": ("t1", "exact_raw")},
    ),
    Case(
        "short product names",
        _numbered(*(f"乐途 {model} 手机保护壳 防摔 黑色" for model in ("A12", "A12s", "A12", "A13", "B12"))),
        {"t3": ("t1", "exact_raw")},
    ),
    _different("typo in a short text", "快递很快包装完好下次还来", "快递很快包妆完好下次还来", "快递很慢包装完好下次不来"),
    _different("a word and an article", "银行", "市场", _random_text(71, 40) + "银行" + _random_text(72, 40) + "市场"),
    _different("excerpt", _random_text(73, 110), _random_text(73, 110)[20:70], _random_text(73, 110)[:40]),
    _different("punctuation makes the sense", "不要走，等我", "不要，走等我", "不要走等我？", "不要走等我。"),
    Case(
        "rows without a match",
        _numbered("独一无二的第一条", "完全不同的第二条", "第三条也不一样", "第三条也不一样"),
        {"t4": ("t3", "exact_raw")},
    ),
    Case(
        "every way to be equal",
        _numbered(
            LIBRARY,
            LIBRARY,
            LIBRARY + " ",
            f"<p>{LIBRARY}</p>",
            LIBRARY + "周一闭馆维护。" * 2,
            REWORDED,
            REWORDED + "\n",
            LIBRARY[:41],
        ),
        {
            "t2": ("t1", "exact_raw"),
            "t3": ("t1", "exact_normalized"),
            "t4": ("t1", "exact_normalized"),
            "t5": ("t1", "exact_folded"),
            "t6": ("t1", "near"),
            "t7": ("t1", "near"),
        },
    ),
    Case(
        "chain",
        _chain(8),
        {f"t{at}": (f"t{at - 1}", "near") for at in (2, 4, 6, 8)},
        review={(f"t{at + 2}", f"t{at}"): "below_threshold" for at in (1, 3, 5)},
    ),
    Case("hot bucket", _hot_family(40), {f"t{at}": ("t1", "near") for at in range(2, 41)}),
    Case(
        "letter case",
        _numbered("abc", "ABC", "abc ", "ａｂｃ", "ábc", "Straße", "STRASSE"),
        {**dict.fromkeys(("t2", "t3", "t4"), ("t1", "exact_normalized")), "t7": ("t6", "exact_normalized")},
    ),
    _equal(
        "invisible characters",
        "exact_normalized",
        "新品上市限时优惠",
        "新\u200b品上市\ufeff限时\u00ad优惠",
        "\u3000新品上市限时优惠\u00a0",
    ),
    _equal("traditional", "exact_normalized", "这台机器坏了怎么办", "這台機器壞了怎麼辦", "這臺機器壞了怎么办"),
    _equal("traditional with glosses", "exact_normalized", "发现这里的现象", "發(fā)現(xiàn)這里的現(xiàn)象"),
    Case(
        "wrong character set",
        _numbered("主图好评包邮", "ä¸»å›¾å¥½è¯„åŒ…é‚®", "café crème", "ä¸»å›¾å¥½è¯„åŒ…é‚", "naïve"),
        {"t2": ("t1", "exact_normalized")},
    ),
    _equal(
        "markup and tags",
        "exact_normalized",
        "限时特惠开抢啦",
        "【快讯】限时特惠开抢啦",
        "<b>限时</b>特惠&#24320;抢啦",
        "限时特惠开抢啦<script>x()</script>",
    ),
    Case("endless text", _numbered("测试" * 100_000, BASE64, "0123456789" * 30_000, BASE64), {"t4": ("t2", "exact_raw")}),
]


def corpus() -> list[dict[str, Any]]:
    """The rows of all cases."""
    rows = [(case, name, content) for case in CASES for name, content in case.rows.items()]
    return [
        {
            "doc_id": f"{case.name}: {name}",
            "url": f"https://a.example/{number}?from=app",
            "title": "编辑部公告",
            "content": content,
            "source": f"site {number % 3}",
            "publish_time": datetime(2030, 3, 1) + timedelta(seconds=number),
        }
        for number, (case, name, content) in enumerate(rows)
    ]
