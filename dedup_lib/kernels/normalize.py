"""The named steps that turn crawled text into the text that is compared, in the order a profile lists them.

A step is a function on strings, tested alone. ``Normalizer`` applies a list of steps to Arrow arrays: neighbouring
per-character steps become one table look-up for the whole batch, and a step on whole texts runs only on the texts in which
its trigger (a compiled search) finds something to do.

To add a step: write the function with its test, give it a line in ``TEXT_STEPS`` (``ARRAY_STEPS`` where it takes a whole batch,
``characters.STEPS`` where one character), raise ``NORMALIZER_VERSION``, and name it in the profiles that want it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.kernels import boilerplate, characters, chinese, markup, masking, mojibake
from dedup_lib.kernels.boilerplate import Lexicon
from dedup_lib.kernels.triggers import Trigger, either, holding
from dedup_lib.kernels.whitespace import join_lines

# Stored with every run: a change of any step's result makes old fingerprints worthless.
NORMALIZER_VERSION = 3
MAX_PASSES = 8


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
ARRAY_STEPS: dict[str, Callable[[pa.Array], pa.Array]] = {
    "join_lines": join_lines,
    "mask": masking.mask,
    **{f"mask_below_{level}": partial(masking.mask_below, level=level) for level in masking.LEVELS},
}
STEP_NAMES: tuple[str, ...] = (*TEXT_STEPS, *characters.STEPS, *ARRAY_STEPS)


class Normalizer:
    """A list of steps, ready to be applied to Arrow string arrays. Nulls and texts that vanish come out as empty texts.

    One step can make another's work: removing a gloss joins a phrase, joining lines completes an entity. Texts in which a
    trigger still finds something afterwards go through all steps again until they do not change, so normalising is
    idempotent (up to ``MAX_PASSES``, which only text made for the purpose reaches). Raises ``KeyError`` for a step that does
    not exist.
    """

    def __init__(self, steps: Sequence[str], lexicon: Lexicon | None = None) -> None:
        lexicon = in_canonical_characters(lexicon or Lexicon())
        self._stages: list[Callable[[pa.Array], pa.Array]] = []
        self._triggers: list[Trigger] = []
        for per_character, names in groupby(steps, key=characters.STEPS.__contains__):
            group = tuple(names)
            if per_character:
                self._stages.append(partial(characters.apply_characters, steps=group))
                self._triggers.append(holding(characters.in_context(group)))
            else:
                for name in group:
                    self._add(name, lexicon)

    def __call__(self, texts: pa.Array) -> pa.Array:
        result = self._pass(pc.fill_null(texts, ""))
        if not self._triggers:
            return result
        rows = np.flatnonzero(either(*self._triggers)(result))
        for _ in range(MAX_PASSES - 1):
            if not len(rows):
                break
            before = result.take(pa.array(rows))
            after = self._pass(before)
            changed = np.asarray(pc.not_equal(before, after))
            rows, after = rows[changed], after.filter(pa.array(changed))
            mask = np.zeros(len(result), bool)
            mask[rows] = True
            result = pc.replace_with_mask(result, pa.array(mask), after)
        return result

    def _pass(self, texts: pa.Array) -> pa.Array:
        for stage in self._stages:
            texts = stage(texts)
        return texts

    def _add(self, name: str, lexicon: Lexicon) -> None:
        if name in ARRAY_STEPS:
            self._stages.append(ARRAY_STEPS[name])
            return
        step = TEXT_STEPS[name](lexicon)
        self._stages.append(partial(apply_where, step=step))
        self._triggers.append(step.trigger)


def apply_where(texts: pa.Array, step: TextStep) -> pa.Array:
    """Apply a step to the texts that its trigger matches; the others are passed on untouched."""
    wanted = step.trigger(texts)
    if not pc.any(wanted).as_py():
        return texts
    changed = pa.array(map(step.apply, texts.filter(wanted).to_pylist()), texts.type)
    return pc.replace_with_mask(texts, wanted, changed)


def in_canonical_characters(lexicon: Lexicon) -> Lexicon:
    """The lexicon as the character steps would leave it, so that its author need not think of width and script."""

    def canonical(phrases: tuple[str, ...], shortest: int) -> tuple[str, ...]:
        written = characters.apply_characters(pa.array(phrases, pa.string()), tuple(characters.STEPS))
        stripped = (chinese.simplify(phrase).strip() for phrase in written.to_pylist())
        return tuple(phrase for phrase in stripped if len(phrase) >= shortest)

    return Lexicon(
        canonical(lexicon.title_tags, 1),
        canonical(lexicon.lines, 2),
        canonical(lexicon.phrases, 2),
        canonical(lexicon.keep, 1),
    )
