"""Notices of one template that differ in the facts: all stay, their number does not explode the work, one question for all."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta

import pytest

from tests.conftest import embedded_only
from tests.pipeline.helpers import drops, run, survivors

pytestmark = embedded_only

ROWS = 400
HAN = "".join(map(chr, range(0x6C00, 0x7C00)))
NOTICE = (
    "受强降雨影响，{train}次列车今日晚点{minutes}分钟，预计{hour}:{minute:02d}到达{town}站，请旅客合理安排行程，及时关注车站公告。"
    "铁路部门已启动应急预案，组织人员加强线路巡查和设备检修，为旅客提供饮用水和方便食品，由此带来的不便敬请谅解。"
)
TOWNS = ("青河", "临湖", "安岭", "东渡", "沙坪", "石桥")
NAMED = (
    "经研究决定，任命{name}为本市图书馆馆长，任期自即日起算。"
    + NOTICE[70:]
    + "特此通知，请各有关单位遵照执行，认真做好各项工作。"
)
FAMILY_NAMES, GIVEN_NAMES = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许", "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平"


def notice(number: int) -> str:
    return NOTICE.format(
        train=f"g{1000 + number}", minutes=5 + number % 90, hour=6 + number % 17, minute=number % 60, town=TOWNS[number % 6]
    )


def named(number: int) -> str:
    return NAMED.format(name=FAMILY_NAMES[number % 20] + GIVEN_NAMES[number // 20 % 20])


def rows(texts: list[str]) -> list[dict]:
    return [
        {"doc_id": f"r{number:04d}", "content": text, "publish_time": datetime(2030, 1, 1) + timedelta(minutes=number)}
        for number, text in enumerate(texts)
    ]


@pytest.fixture(scope="module", params=[notice, named], ids=["numbers differ", "names differ"])
def family(request, session, tmp_path_factory):
    """Every notice, and each tenth of them once more with another site's header."""
    texts = [request.param(number) for number in range(ROWS)]
    texts += ["本站转载消息，供读者参考。\n" + text for text in texts[::10]]
    return run(session, rows(texts), tmp_path_factory.mktemp("family"))


def test_other_facts_stay_and_reposts_fall(family):
    reposts = {f"r{ROWS + at:04d}": f"r{10 * at:04d}" for at in range(ROWS // 10)}
    assert {doc_id: kept for doc_id, (kept, _) in drops(family).items()} == reposts
    assert len(survivors(family)) == ROWS


def test_one_question_stands_for_the_family(family):
    summary = [row for row in family["review"] if row["family"]]
    assert 1 <= len(summary) <= 3
    assert sum(row["family"] for row in summary) > 0.8 * ROWS
    assert all(row["reason"].startswith(f"facts_differ in a family of {row['family']} rows: ") for row in summary)
    assert len(family["review"]) < ROWS / 10


def test_pairs_are_not_compared_one_by_one(family):
    everything = ROWS * (ROWS - 1) // 2
    assert family["metrics"]["candidates"]["verified"] < everything / 3


def test_a_few_look_alikes_are_listed_one_by_one(session, tmp_path):
    tables = run(session, rows([notice(number) for number in range(4)]), tmp_path)
    assert len(tables["review"]) == 6
    assert {row["family"] for row in tables["review"]} == {None}
    assert all(row["reason"].startswith("facts_differ: ") for row in tables["review"])


def test_questions_are_bounded_on_both_sides(session, tmp_path):
    """Twelve remarks on one article: each row is asked about twice at most, the article four times."""
    article = "".join(sentence(0, number) for number in range(20))
    remarks = ["".join(sentence(remark, number) for number in range(6)) for remark in range(1, 13)]
    limits = ("review.max_pairs_per_row=2", "review.max_pairs_per_original=4")
    tables = run(session, rows([article, *(article + remark for remark in remarks)]), tmp_path, *limits)
    assert len(survivors(tables)) == 13
    pairs = [sorted((row["doc_id"], row["kept_id"])) for row in tables["review"]]
    assert max(Counter(later for _, later in pairs).values()) <= 2
    assert Counter(earlier for earlier, _ in pairs)["r0000"] == 4
    assert max(Counter(earlier for earlier, _ in pairs).values()) <= 4


def sentence(text: int, number: int) -> str:
    """A sentence that no other text and place has."""
    return "".join(random.Random(f"{text}-{number}").sample(HAN, 20)) + "。"
