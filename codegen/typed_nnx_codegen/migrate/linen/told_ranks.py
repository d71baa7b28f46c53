"""What questions tell of the ranks of arrays: `if x.ndim == 2:`, `assert len(x.shape) == 4`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.linen.frames import Frame
from typed_nnx_codegen.migrate.linen.values import Array

Told = dict[str, tuple[Array, Array]]


def take_told(test: cst.BaseExpression | None, *, outcome: bool, frame: Frame) -> Told:
    """Note the rank of an array where a question about it has an outcome.

    Args:
        test: The question.
        outcome: Whether it is answered with yes.
        frame: Where it is asked.

    Returns:
        By name the array before, and with its rank.
    """
    told: Told = {}
    for name, rank in _told(test, outcome=outcome):
        array = frame.names.get(name)
        if isinstance(array, Array) and array.shape.rank is None:
            shape = array.shape.with_rank(rank)
            if shape is not None:
                ranked = replace(array, shape=shape)
                frame.names[name] = ranked
                told[name] = (array, ranked)
    return told


def forget(told: Told, frame: Frame) -> None:
    """Leave the branch in which the ranks of arrays are known."""
    for name, (before, ranked) in told.items():
        if frame.names.get(name) is ranked:
            frame.names[name] = before


def _told(test: cst.BaseExpression | None, *, outcome: bool) -> Iterator[tuple[str, int]]:
    """Yield the names of arrays and their ranks."""
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right) if outcome:
            yield from _told(left, outcome=True)
            yield from _told(right, outcome=True)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _told(inner, outcome=not outcome)
        case cst.Comparison(
            left=left,
            comparisons=[
                cst.ComparisonTarget(
                    operator=(cst.Equal() | cst.NotEqual()) as operator,
                    comparator=cst.Integer() as number,
                )
            ],
        ) if isinstance(operator, cst.Equal) is outcome:
            yield _asked(left), number.evaluated_value


def _asked(node: cst.BaseExpression) -> str:
    """Return the name whose rank an expression is; empty where it is something else."""
    match node:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="ndim")):
            return name
        case cst.Call(
            func=cst.Name(value="len"),
            args=[
                cst.Arg(
                    value=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="shape"))
                )
            ],
        ):
            return name
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value="ndim")),
            args=[cst.Arg(value=cst.Name(value=name))],
        ):
            return name
    return ""
