"""The one definition of what a feature character is."""

import unicodedata

import pytest

from dedup_lib.kernels.classes import DIGIT, FEATURE, SPACE, SPACED, STOP, character_classes


def test_features_are_the_letters_and_numbers_that_python_calls_alphanumeric():
    """Words and facts use ``str.isalnum``, the compiled kernels the table: both must mean the same characters."""
    classes = character_classes()
    differing = [c for c in range(len(classes)) if bool(classes[c] & FEATURE) != chr(c).isalnum()]
    assert differing == []


def test_space_is_what_python_calls_space():
    classes = character_classes()
    assert [c for c in range(len(classes)) if bool(classes[c] & SPACE) != chr(c).isspace()] == []


def test_digits_are_the_decimal_digits():
    classes = character_classes()
    assert [c for c in range(len(classes)) if bool(classes[c] & DIGIT) != (unicodedata.category(chr(c)) == "Nd")] == []


@pytest.mark.parametrize(
    ("char", "flags"),
    [("中", FEATURE), ("の", FEATURE), ("ㄅ", FEATURE), ("𠮷", FEATURE), ("a", FEATURE | SPACED), ("Я", FEATURE | SPACED),
     ("한", FEATURE | SPACED), ("7", FEATURE | SPACED | DIGIT), (".", STOP), (":", STOP), ("，", 0), ("😀", 0), ("-", 0),
     ("\u3000", SPACE), ("\n", SPACE)],
)  # fmt: skip
def test_flags_of_a_character(char, flags):
    assert character_classes()[ord(char)] == flags


def test_the_shared_table_cannot_be_changed():
    with pytest.raises(ValueError):
        character_classes()[65] = 0
