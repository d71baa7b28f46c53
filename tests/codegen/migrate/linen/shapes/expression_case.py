"""What a case of a symbolic expression is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """An expression.

    Attributes:
        code: The expression. ``self.d`` is a field with the size of the letter.
        shapes: The arrays in it by name, ``x: b t 4*d``; letters are sizes that vary.
        last: How many of the last dimensions must be known where nothing is known of the arrays.
        complete: Whether all must be known where the ranks and sizes of the arrays are.
        ranked: The arrays of which at least the rank is known.
        real: What is run in the place of the expression, where it cannot be.
    """

    code: str
    shapes: str
    last: int = 1
    complete: bool = True
    real: str = ""
    ranked: str = ""


X: str = "x: b t d"
XY: str = "x: b t d; y: b t d"
