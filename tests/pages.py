"""What a page is made of, and texts of people who mean no good."""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE = [
    "<script>alert(1)</script>", "{{ 7*7 }}{% raw %}", "</script><script>alert(1)</script>",
    "</textarea><img src=x onerror=alert(1)>", "]]><!--",
    "\"'><svg onload=alert(1)>", "&lt;b&gt;", "=HYPERLINK(\"http://evil\")", "\u202egnp.exe\u2066",
    "a\u2028b\u2029c\u0085d", "\0\x1b[31m\ufeff", "javascript:alert(1)", "</style><style>*{display:none}",
]  # fmt: skip
INVISIBLE = set("\u202e\u2066\u2028\u2029\u0085\0\x1b\ufeff")


class Seen(HTMLParser):
    """Elements, attributes, text and scripts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.words += data

    def dangers(self) -> list[str]:
        """Attributes that run something or reach outside."""
        return [
            f"{name}={value}" for name, value in self.attributes
            if name.startswith("on") or name in ("src", "srcset", "action", "formaction") or (name == "href" and value[:1] != "#")
            or (name == "style" and not value.startswith(("width:", "height:", "left:")))
        ]  # fmt: skip
