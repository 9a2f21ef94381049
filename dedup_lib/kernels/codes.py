"""Spam that is posted again and again with another number: texts that are equal but for their codes.

A code is a run of Latin letters and digits with at least one digit (a telephone or chat number, a voucher, a counter that
the sender raises). A short number that counts or rates something (5星, 3晚, 打5分, 129.90元) is no code: it is what the text
says.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.classes import FEATURE, character_classes
from dedup_lib.kernels.features import longest_text, mix
from dedup_lib.kernels.urls import take_out_urls, url_characters
from dedup_lib.kernels.utf8 import code_points, compiled, string_buffers

FACT_DIGITS = 4  # more digits, but for one or two decimals, are a code whatever stands around them
COUNTED = "星颗分元块毛钱角百千万亿次个人名位天晚夜周年月日号楼层点时小秒折倍成度米里克斤两公平寸份杯瓶碗盒包件只条张间床岁级家"
RATING = "第打给评分数共花约近满减才只就¥$"  # before a number that says something

_LETTER, _ALNUM, _DIGIT, _COUNTED, _RATING = 1, 2, 4, 8, 16
_CODE = np.uint64(1)
_STEP = np.uint64(0x9E3779B97F4A7C15)


@lru_cache(maxsize=1)
def code_characters() -> np.ndarray:
    """For each code point, what it can be in or beside a code."""
    kinds = ((character_classes() & FEATURE) > 0).astype(np.uint8) * _LETTER
    for chars, kind in (
        ("0123456789", _DIGIT | _ALNUM),
        ("abcdefghijklmnopqrstuvwxyz", _ALNUM),
        (COUNTED + "%", _COUNTED),
        (RATING, _RATING),
    ):
        for char in chars:
            kinds[ord(char)] |= kind
    kinds.setflags(write=False)
    return kinds


@compiled
def _code_end(text, start, count, kinds):
    """Where the run of letters and digits that begins at ``start`` ends, and how many digits and letters it has."""
    i, digits = start, 0
    while i < count and (
        kinds[text[i]] & _ALNUM or (i + 1 < count and text[i] in (45, 46, 95) and kinds[text[i + 1]] & _ALNUM)  # - . _
    ):
        digits += (kinds[text[i]] & _DIGIT) > 0
        i += 1
    return i, digits


@compiled
def _says(text, start, end, count, digits, kinds):
    """Whether a number counts or rates something, and hence is no code."""
    decimals = 0
    for size in range(1, 3):
        if end - size - 1 > start and text[end - size - 1] == 46:
            decimals = size
    if digits - decimals > FACT_DIGITS:
        return False
    return (end < count and kinds[text[end]] & _COUNTED) or (start > 0 and kinds[text[start - 1]] & _RATING)


@compiled
def _masked(data, offsets, min_letters, kinds, in_url, found, valid):
    text = np.empty(longest_text(offsets), np.int32)
    for row in range(len(found)):
        count = take_out_urls(text, code_points(data, offsets[row], offsets[row + 1], text), in_url)
        key, i, letters, codes = np.uint64(0), 0, 0, 0
        while i < count:
            end, digits = i, 0
            if kinds[text[i]] & _ALNUM:
                end, digits = _code_end(text, i, count, kinds)
                if digits and not _says(text, i, end, count, digits, kinds):
                    key = mix(key ^ _CODE) + _STEP
                    codes += 1
                    i = end
                    continue
            for k in range(i, max(end, i + 1)):
                if kinds[text[k]] & _LETTER:
                    key = mix(key ^ np.uint64(text[k])) + _STEP
                    letters += 1
            i = max(end, i + 1)
        found[row], valid[row] = np.int64(key), codes > 0 and letters >= min_letters


def masked_keys(texts: pa.Array, min_letters: int) -> pa.Array:
    """A hash (int64) of each normalised text with every code replaced by one placeholder, punctuation and addresses left out.

    Null for a text without a code, or with fewer than ``min_letters`` letters outside its codes.
    """
    found, valid = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.bool_)
    _masked(*string_buffers(texts), min_letters, code_characters(), url_characters(), found, valid)
    return pa.array(found, mask=~valid)
