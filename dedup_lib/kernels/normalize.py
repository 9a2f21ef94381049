"""The named steps that turn crawled text into the text that is compared, in the order a profile lists them.

A step is a function on strings, tested alone. ``Normalizer`` applies a list of steps to Arrow arrays: neighbouring
per-character steps become one table look-up for the whole batch, and a step on whole texts runs only on the texts in which
its trigger (a compiled search) finds something to do.

To add a step: write the function with its test, give it a line in ``TEXT_STEPS`` (or in ``characters.STEPS``), raise
``NORMALIZER_VERSION``, and name it in the profiles that want it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.kernels import boilerplate, characters, chinese, markup, mojibake
from dedup_lib.kernels.boilerplate import Lexicon
from dedup_lib.kernels.triggers import Trigger, holding
from dedup_lib.kernels.whitespace import join_lines

# Stored with every run: a change of any step's result makes old fingerprints worthless.
NORMALIZER_VERSION = 1


class TextStep(NamedTuple):
    """A function on one text, and a search for the texts that it may change."""

    apply: Callable[[str], str]
    trigger: Trigger


TEXT_STEPS: dict[str, Callable[[Lexicon], TextStep]] = {
    "mojibake": lambda lexicon: TextStep(mojibake.repair_mojibake, mojibake.suspicious()),
    "html": lambda lexicon: TextStep(markup.strip_html, holding(markup.MARKS)),
    "simplify": lambda lexicon: TextStep(chinese.simplify, holding(chinese.traditional_characters())),
    "pinyin": lambda lexicon: TextStep(chinese.strip_pinyin, holding(chinese.TONED + chinese.TONED.upper())),
    "title_tags": lambda lexicon: TextStep(*boilerplate.title_tag_remover(lexicon)),
    "noise": lambda lexicon: TextStep(*boilerplate.noise_remover(lexicon)),
}
JOIN_LINES = "join_lines"
STEP_NAMES: tuple[str, ...] = (*TEXT_STEPS, *characters.STEPS, JOIN_LINES)


class Normalizer:
    """A list of steps, ready to be applied to Arrow string arrays. Nulls and texts that vanish come out as empty texts.

    Raises ``KeyError`` for a step that does not exist.
    """

    def __init__(self, steps: Sequence[str], lexicon: Lexicon = Lexicon()) -> None:
        lexicon = _in_canonical_characters(lexicon)
        self._stages: list[Callable[[pa.Array], pa.Array]] = []
        for per_character, names in groupby(steps, key=characters.STEPS.__contains__):
            group = tuple(names)
            if per_character:
                self._stages.append(lambda texts, group=group: characters.apply_characters(texts, group))
            else:
                self._stages.extend(self._stage(name, lexicon) for name in group)

    def __call__(self, texts: pa.Array) -> pa.Array:
        texts = pc.fill_null(texts, "")
        for stage in self._stages:
            texts = stage(texts)
        return texts

    @staticmethod
    def _stage(name: str, lexicon: Lexicon) -> Callable[[pa.Array], pa.Array]:
        if name == JOIN_LINES:
            return join_lines
        step = TEXT_STEPS[name](lexicon)
        return lambda texts: apply_where(texts, step)


def apply_where(texts: pa.Array, step: TextStep) -> pa.Array:
    """Apply a step to the texts that its trigger matches; the others are passed on untouched."""
    wanted = step.trigger(texts)
    if not pc.any(wanted).as_py():
        return texts
    changed = pa.array(map(step.apply, texts.filter(wanted).to_pylist()), texts.type)
    return pc.replace_with_mask(texts, wanted, changed)


def _in_canonical_characters(lexicon: Lexicon) -> Lexicon:
    """The lexicon as the character steps would leave it, so that its author need not think of width and script."""
    canonical = Normalizer.__new__(Normalizer)
    canonical._stages = [
        lambda texts: characters.apply_characters(texts, tuple(characters.STEPS)),
        lambda texts: apply_where(texts, TEXT_STEPS["simplify"](lexicon)),
    ]
    return Lexicon(*(tuple(canonical(pa.array(phrases, pa.string())).to_pylist()) for phrases in lexicon))
