"""Compare printed text with the text in a document."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

ADDRESS = re.compile(r"0x[0-9a-f]+")
FLOAT = re.compile(r" *(-?\d+\.\d*(?:e[+-]\d+)?) *")


def assert_printed(actual: str, expected: str, *, rel: float = 1e-5, abs_: float = 1e-6) -> None:
    """Compare two printed texts: words and whole numbers exactly, floats with a tolerance.

    The last digits of a float depend on the machine, and the padding around it on the digits.
    Addresses of functions do not count either.

    Args:
        actual: what our program prints.
        expected: what the document prints; its common indentation does not count.
        rel: relative tolerance of floats.
        abs_: absolute tolerance of floats.
    """
    texts = [ADDRESS.sub("0x", text.strip()) for text in (actual, dedent(expected))]
    assert FLOAT.sub("<float>", texts[0]) == FLOAT.sub("<float>", texts[1])
    floats = [[float(number) for number in FLOAT.findall(text)] for text in texts]
    assert floats[0] == pytest.approx(floats[1], rel=rel, abs=abs_)
