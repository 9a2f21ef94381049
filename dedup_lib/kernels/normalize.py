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
from dedup_lib.kernels.triggers import Search, Trigger, holding
from dedup_lib.kernels.whitespace import join_lines

# Stored with every run: a change of any step's result makes old fingerprints worthless.
NORMALIZER_VERSION = 4
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

    One step can make another's work: removing a gloss joins a phrase, joining lines completes an entity. Texts that a later step
    changed and in which an earlier step's trigger then finds something go through all steps again until they do not change, so
    normalising is idempotent (up to ``MAX_PASSES``, which only text made for the purpose reaches). Raises ``KeyError`` for a
    step that does not exist.
    """

    def __init__(self, steps: Sequence[str], lexicon: Lexicon | None = None) -> None:
        lexicon = in_canonical_characters(lexicon or Lexicon())
        self._stages: list[_Batch | _Searched] = []
        triggers: list[tuple[int, Trigger, TextStep | None]] = []
        for kind, group in groupby(steps, key=_kind):
            names, number = tuple(group), 1 + sum(len(stage.numbers) for stage in self._stages)
            if kind == "text":
                found = [TEXT_STEPS[name](lexicon) for name in names]
                triggers += [(number + place, step.trigger, step) for place, step in enumerate(found)]
                self._stages.append(_Searched(range(number, number + len(names)), found, Search([s.trigger for s in found])))
            elif kind == "character":
                triggers.append((number, holding(characters.in_context(names)), None))
                self._stages.append(_Batch([number], partial(characters.apply_characters, steps=names)))
            else:
                self._stages += [_Batch([number + place], ARRAY_STEPS[name]) for place, name in enumerate(names)]
        self._numbers = np.array([number for number, _, _ in triggers], np.int8)
        self._search = Search([trigger for _, trigger, _ in triggers])
        self._again = [step for _, _, step in triggers]

    def __call__(self, texts: pa.Array) -> pa.Array:
        result, last = self._pass(pc.fill_null(texts, ""))
        if not len(self._numbers):
            return result
        rows = self._unfinished(result, last)
        for _ in range(MAX_PASSES - 1):
            if not len(rows):
                break
            before = result.take(pa.array(rows))
            after, _ = self._pass(before)
            changed = _differ(before, after)
            rows, after = rows[changed], after.filter(pa.array(changed))
            result = _replaced(result, rows, after)
        return result

    def _unfinished(self, texts: pa.Array, last: np.ndarray) -> np.ndarray:
        """The texts that an earlier step would change again. Nearly all that its trigger names it leaves as they are."""
        wanted = self._search(texts) & (last[:, None] > self._numbers)
        for place, step in enumerate(self._again):
            if step:
                rows = np.flatnonzero(wanted[:, place])
                wanted[rows, place] = np.isin(rows, _changes(texts, step, rows)[0])
        return np.flatnonzero(wanted.any(axis=1))

    def _pass(self, texts: pa.Array) -> tuple[pa.Array, np.ndarray]:
        """The texts after all steps, and the number (from 1) of the last step that changed each, 0 for none (int8)."""
        last = np.zeros(len(texts), np.int8)
        for stage in self._stages:
            texts = stage(texts, last)
        return texts, last


def _kind(name: str) -> str:
    """Which steps stand together: those that share a table, and those that share a search."""
    return "character" if name in characters.STEPS else "text" if name in TEXT_STEPS else "array"


class _Batch(NamedTuple):
    """A step, or several composed into one, that takes every text of a batch."""

    numbers: Sequence[int]
    apply: Callable[[pa.Array], pa.Array]

    def __call__(self, texts: pa.Array, last: np.ndarray) -> pa.Array:
        after = self.apply(texts)
        last[_differ(texts, after)] = self.numbers[-1]
        return after


class _Searched(NamedTuple):
    """Neighbouring steps on whole texts: one search finds what each has to do."""

    numbers: Sequence[int]
    steps: Sequence[TextStep]
    search: Search

    def __call__(self, texts: pa.Array, last: np.ndarray) -> pa.Array:
        wanted = self.search(texts)
        for place, (number, step) in enumerate(zip(self.numbers, self.steps, strict=True)):
            rows, after = _changes(texts, step, np.flatnonzero(wanted[:, place]))
            texts = _replaced(texts, rows, after)
            last[rows] = number
            wanted[rows, place + 1 :] = self.search(after)[:, place + 1 :]
        return texts


def apply_where(texts: pa.Array, step: TextStep) -> pa.Array:
    """Apply a step to the texts that its trigger matches; the others are passed on untouched."""
    wanted = step.trigger(texts).to_numpy(zero_copy_only=False)
    return _replaced(texts, *_changes(texts, step, np.flatnonzero(wanted)))


def _changes(texts: pa.Array, step: TextStep, rows: np.ndarray) -> tuple[np.ndarray, pa.Array]:
    """Those of the rows that a step changes, and what it makes of them."""
    before = texts.take(pa.array(rows, pa.int64()))
    after = pa.array(map(step.apply, before.to_pylist()), texts.type)
    changed = _differ(before, after)
    return rows[changed], after.filter(pa.array(changed))


def _differ(before: pa.Array, after: pa.Array) -> np.ndarray:
    return pc.not_equal(before, after).to_numpy(zero_copy_only=False)


def _replaced(texts: pa.Array, rows: np.ndarray, new: pa.Array) -> pa.Array:
    """The texts with new ones in these rows, which ascend."""
    if not len(rows):
        return texts
    mask = np.zeros(len(texts), bool)
    mask[rows] = True
    return pc.replace_with_mask(texts, pa.array(mask), new)


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
