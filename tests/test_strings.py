"""Every string stands in every language, with the same places to fill in."""

from __future__ import annotations

from string import Formatter

import pytest

from dedup_lib.strings import LANGUAGES, places, strings


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("place", places())
def test_languages_agree(place):
    first, *others = (strings(place, language) for language in LANGUAGES)
    assert first and all(text.strip() for text in first.values())
    for other in others:
        assert other.keys() == first.keys()
        assert {name: fields(text) for name, text in other.items()} == {name: fields(text) for name, text in first.items()}
