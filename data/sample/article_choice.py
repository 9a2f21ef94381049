"""Which articles go into the sample: a fixed choice by origin, date and a seeded order, never by chance."""

from __future__ import annotations

import hashlib

import pandas as pd

SEED = "sample-1"

PROGRAMMES = ("xwlb_chinadata", "xwlb_duckburn")
FLASHES, CHINANEWS, LAWS = "dxynews", "chinanews_seeea", "laws_lawrefbook"
ORIGINS = (*PROGRAMMES, FLASHES, CHINANEWS, LAWS)

EVERY_NTH_PROGRAMME_DAY = 12
FLASH_DAYS = ("2020-01-24", "2020-02-02")
CHINESE_SHARE = 0.3
CHINANEWS_ROWS = 450
OTHER_LAWS = 70
LONG_CHARS = 10_000
LONG_LAWS = 5
LAW_PAIRS = "same_law_other_version_or_place"
MOBILE_NUMBER = r"(?<!\d)1[3-9]\d{9}(?!\d)"


def choose_articles(articles: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """The chosen rows in order of publish time and id; rows that print somebody's mobile number stay out."""
    free = articles[articles["origin"].isin(ORIGINS) & ~articles["content"].str.contains(MOBILE_NUMBER)]
    parts = [choose_programmes(free), choose_flashes(free), choose_chinanews(free), choose_laws(free, pairs)]
    return pd.concat(parts).sort_values(["publish_time", "doc_id"], na_position="last", ignore_index=True)


def choose_programmes(articles: pd.DataFrame) -> pd.DataFrame:
    """All items of both crawls on every n-th day that both have: the same item stands there twice."""
    items = articles[articles["origin"].isin(PROGRAMMES) & (articles["content"].str.len() <= LONG_CHARS)]
    day = items["publish_time"].dt.date
    common = set.intersection(*(set(day[items["origin"] == origin]) for origin in PROGRAMMES))
    return items[day.isin(sorted(common)[::EVERY_NTH_PROGRAMME_DAY])]


def choose_flashes(articles: pd.DataFrame) -> pd.DataFrame:
    """All Chinese flashes of ten busy days: several sources report the same, daily counts repeat one template."""
    flashes = articles[articles["origin"] == FLASHES]
    chinese = flashes["content"].str.count(r"[\u4e00-\u9fff]") >= CHINESE_SHARE * flashes["content"].str.len()
    day = flashes["publish_time"].dt.strftime("%Y-%m-%d")
    return flashes[chinese & day.between(*FLASH_DAYS)]


def choose_chinanews(articles: pd.DataFrame) -> pd.DataFrame:
    """Articles that mostly have nothing to do with each other."""
    return seeded(articles[articles["origin"] == CHINANEWS]).head(CHINANEWS_ROWS)


def choose_laws(articles: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Laws that have another version or a sister law elsewhere, some that have none, and few long ones."""
    laws = seeded(articles[articles["origin"] == LAWS])
    tied = pairs.loc[pairs["label"] == LAW_PAIRS, ["doc_id_a", "doc_id_b"]].to_numpy().ravel()
    is_long, is_tied = laws["content"].str.len() > LONG_CHARS, laws["doc_id"].isin(tied)
    lone, long = laws[~is_tied & ~is_long], laws[is_long]
    return pd.concat([laws[is_tied & ~is_long], lone.head(OTHER_LAWS), long.head(LONG_LAWS)])


def seeded(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows in an order that depends on the seed and the ids alone."""
    return rows.sort_values("doc_id", key=lambda ids: ids.map(seeded_key))


def seeded_key(doc_id: str) -> str:
    """A hash of seed and id."""
    return hashlib.sha256(f"{SEED}:{doc_id}".encode()).hexdigest()
