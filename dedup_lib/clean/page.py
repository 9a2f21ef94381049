"""``report.html``: one page without scripts or anything from elsewhere, to read, to print, and to show to others.

Every text comes from strangers: the template escapes all that is put into it, and invisible characters are shown as their codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import vl_convert
from markupsafe import Markup

from dedup_lib.clean.evidence import Evidence, Pair
from dedup_lib.diff import visible
from dedup_lib.html import environment, pieces

_DIFFERENCE = 1_200  # characters of a difference
_METHODS = {
    "exact_raw": "equal as they are",
    "exact_normalized": "equal without markup, spaces, width, tags",
    "exact_folded": "equal without repeats",
    "near": "nearly equal, measured",
    "verdict": "a person said so",
}
_FLAGS = {
    "charset_repaired": "characters that an old site stored in a column of another character set; read as what they are",
    "charset_guessed": "bytes without a declared character set; it was found out",
    "charset_mismatch": "bytes in another character set than declared",
    "charset_doubtful": "bytes whose character set is not certain",
    "bytes_replaced": "bytes that are no characters; shown as \ufffd",
    "undecodable": "bytes that could not be read",
    "zero_date": "a date of zeros, read as unknown",
    "bad_date": "no date, read as unknown",
    "bad_value": "no value of the column's type, read as unknown",
    "expression": "a function call, read as unknown",
    "body_extracted": "a whole web page, of which the body is compared",
    "no_body_found": "a whole web page without a body",
}
_YEAR_WIDTH = 640


def page(found: Evidence, heading: Mapping[str, str], notes: Sequence[str], made: Sequence[str]) -> str:
    """The page as HTML. ``heading``: what was cleaned; ``notes``: sentences; ``made``: names of the files beside it."""
    return environment("dedup_lib.clean").get_template("report.html.j2").render(
        heading=heading, notes=[visible(note) for note in notes], made=made, rows=found.metrics["rows"],
        methods=[(name, _METHODS.get(name, ""), count) for name, count in found.metrics["dropped"].items()],
        quarantine=found.metrics["quarantine"], years=found.years, chart=_years(found.years),
        flags=[(name, _FLAGS.get(name, ""), count) for name, count in found.flags.items()],
        clusters=found.clusters, examples=[*map(_shown, found.examples)], questions=[*map(_shown, found.questions)],
    )  # fmt: skip


def _shown(pair: Pair) -> dict[str, object]:
    """A pair for the template."""
    difference = pieces(pair.text, pair.kept_text, _DIFFERENCE)
    return {"row": pair.row, "title": pair.title, "kept_title": pair.kept_title, "pieces": difference}


def _years(years: Mapping[str, tuple[int, int]]) -> Markup | None:
    """Bars of kept and dropped rows by year, drawn as SVG here; only years and numbers go in."""
    rows = [
        {"year": year or "unknown", "rows": count, "what": what}
        for year, counts in years.items()
        for what, count in zip(("kept", "dropped"), counts, strict=True)
    ]
    if len(years) < 2:
        return None
    colour = alt.Scale(domain=["kept", "dropped"], range=["#8fb8d6", "#d1495b"])
    chart = alt.Chart(alt.InlineData(values=rows)).mark_bar().encode(
        x=alt.X("year:N", title=None, axis=alt.Axis(labelAngle=-45)), y=alt.Y("rows:Q", title="rows"),
        color=alt.Color("what:N", scale=colour, title=None), order=alt.Order("what:N", sort="descending"),
    )  # fmt: skip
    sized = chart.properties(width=_YEAR_WIDTH, height=180).configure_view(stroke=None)
    return Markup(vl_convert.vegalite_to_svg(sized.to_dict()))
