"""The settings of a run in sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Settings = Mapping[str, Any]
Words = Mapping[str, str]

_RULE = re.compile(r"([a-z_]+)(?: in a family of ([\d,]+) rows)?(?=$|[: ])")

_SHORTER = re.compile(r"^: ([\d.]+) of the shorter text$")


def reason_in_words(reason: str | None, t: Words) -> str:
    """The column ``reason`` of a pair: the rule's name in words, the facts as they are."""
    found = _RULE.match(reason or "")
    if not found or f"rule_{found[1]}" not in t:
        return reason or ""
    family = t["in_family"].format(rows=found[2]) if found[2] else ""
    rest = _SHORTER.sub(lambda part: t["of_shorter"].format(share=part[1]), reason[found.end() :])
    return t[f"rule_{found[1]}"] + family + rest


def profile_in_words(profile: Settings, t: Words) -> list[str]:
    """What a profile of ``manifest.json`` does, one sentence for each rule; ``t``: the strings of the report."""
    told = [t[f"compare_{profile['compare']}"]]
    told += _near(profile, t)
    if contain := profile.get("contain"):
        key = "contain_drop" if contain["action"] == "drop" else "contain_review"
        told.append(t[key].format(share=f"{contain['min_containment']:.0%}", features=contain["min_features"]))
    if fold := profile.get("fold"):
        told.append(t["fold"].format(repeats=fold["min_repeats"]))
    if templates := profile.get("templates"):
        told.append(t["learn"].format(documents=templates["min_documents"]))
    if profile.get("events"):
        told.append(t["log_events"])
    told.append(t["steps"].format(steps=", ".join(profile["normalize"])))
    return told


def _near(profile: Settings, t: Words) -> list[str]:
    near = profile.get("near")
    if near is None:
        return [t["exact_only"]]
    limits = [
        t["limit_up_to"].format(limit=limit["limit"], up_to=limit["up_to"])
        if limit["up_to"]
        else t["limit_any"].format(limit=limit["limit"])
        for limit in near["hamming"]
    ]
    told = [
        t["near"].format(drop=near["drop_jaccard"]),
        t["near_hamming"].format(drop=near["hamming_jaccard"], limits=t["comma"].join(limits)),
        t["near_review"].format(review=near["review_jaccard"]),
    ]
    if near.get("guard"):
        told.append(t["guarded"])
    short = profile.get("short")
    told.append(t["short"].format(low=short["min_features"], high=near["min_features"]) if short else
                t["too_short"].format(low=near["min_features"]))  # fmt: skip
    return told


def run_in_words(settings: Settings, t: Words) -> list[str]:
    """What holds for all profiles."""
    columns, review = settings["input"]["columns"], settings["review"]
    told = [t["priority" if columns.get("publish_time") else "priority_length"]]
    told.append(t["verdicts_read"].format(path=v) if (v := settings["input"].get("verdicts")) else t["no_verdicts"])
    told.append(t["bounded"].format(row=review["max_pairs_per_row"], family=review["family_from"]))
    return told
