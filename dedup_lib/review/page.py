"""The review page: one file that needs no network, in which a person answers by keyboard and saves the verdicts.

Texts of strangers stand in a block of JSON that no browser runs, and reach the screen as text alone. The policy of the page
allows this script and this style sheet by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from dedup_lib.html import environment, legible, seen
from dedup_lib.report.words import reason_in_words
from dedup_lib.strings import strings

_RISKY = re.compile("[<>&\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")


def page(asked: Sequence[dict[str, Any]], run_id: str, started: str, language: str) -> str:
    """The page of some questions (as ``questions.py`` makes them) of a run that ``started`` then."""
    t = strings("review", language)
    script, style = (files("dedup_lib.review").joinpath(name).read_text(encoding="utf-8") for name in ("review.js", "review.css"))
    data = {"run_id": run_id, "started": started, "strings": dict(t), "questions": [_question(row, t, language) for row in asked]}
    return environment("dedup_lib.review").get_template("review.html.j2").render(
        t=t, lang={"zh": "zh-CN"}.get(language, language), run_id=run_id, data=Markup(inert_json(data)),
        script=Markup(script), style=Markup(style), script_hash=_hash(script), style_hash=_hash(style),
    )  # fmt: skip


def inert_json(data: object) -> str:
    """JSON that may stand inside a script element whatever texts it holds: no ``<``, no line separator, nothing invisible."""
    return _RISKY.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(data, ensure_ascii=False))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _question(row: dict[str, Any], t: Mapping[str, str], language: str) -> dict[str, Any]:
    """What the page knows of a question; ids as they are, since they go back, everything else made visible."""
    relation = "drop" if row["decision"] == "drop" else row["relation"]
    measures = [f"Jaccard {row['jaccard']:.3f}"] if row["jaccard"] is not None else []
    measures += [f"{t['containment']} {row['containment']:.3f}"] if row["containment"] is not None else []
    if row["threshold"] is not None and row["threshold"] <= 1:
        measures.append(t["needed"].format(threshold=f"{row['threshold']:.2f}"))
    measures += [t["concerns"].format(rows=f"{row['rows']:,}")] if row["rows"] > 2 else []
    return {
        "key": row["question"],
        "ids": [row["doc_id"], row["kept_id"]],
        "shown_ids": [seen(row["doc_id"]), seen(row["kept_id"])],
        "titles": [seen(row["title"]), seen(row["kept_title"])],
        "texts": [_lines(row["text"]), _lines(row["kept_text"])],
        "pieces": [[kind, text[2:-2] if kind else text] for kind, text in row["pieces"]],
        "ask": t["ask_" + relation],
        "why": " · ".join(
            [*measures, *([seen(reason_in_words(row["reason"], strings("report", language)), 300)] if row["reason"] else [])]
        ),
    }


def _lines(text: str) -> str:
    return "\n".join(legible(line) for line in text.splitlines())
