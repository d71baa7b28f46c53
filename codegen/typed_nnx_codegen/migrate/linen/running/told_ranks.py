"""What questions tell of the ranks of arrays: `if x.ndim == 2:`, `assert len(x.shape) == 4`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.values import Array

Told = dict[str, tuple[Array, Array]]


def take_told(
    test: cst.BaseExpression | None,
    *,
    outcome: bool,
    frame: Frame,
    body: Sequence[cst.CSTNode] = (),
) -> Told:
    """Note the rank of an array where a question about it has an outcome.

    Args:
        test: The question.
        outcome: Whether it is answered with yes.
        frame: Where it is asked.
        body: What is done where it has that outcome.

    Returns:
        By name the array before, and with its rank.
    """
    told: Told = {}
    for name, rank in _told(test, body, outcome=outcome):
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


def _told(
    test: cst.BaseExpression | None, body: Sequence[cst.CSTNode], *, outcome: bool
) -> Iterator[tuple[str, int]]:
    """Yield the names of arrays and their ranks."""
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right) if outcome:
            yield from _told(left, body, outcome=True)
            yield from _told(right, body, outcome=True)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _told(inner, body, outcome=not outcome)
        case cst.Comparison(
            left=left,
            comparisons=[
                cst.ComparisonTarget(operator=operator, comparator=cst.Integer() as number)
            ],
        ):
            name = _asked(left)
            rank = _rank_of(operator, number.evaluated_value, outcome=outcome)
            if outcome and _gets_axis(name, body):
                # The axis that is missing is taken to be just one.
                rank = _missing_rank(operator, number.evaluated_value) or rank
            if rank is not None:
                yield name, rank


def _rank_of(operator: cst.BaseCompOp, number: int, *, outcome: bool) -> int | None:
    """Return the rank that an array has by a comparison of it; None where it tells none."""
    is_equal = isinstance(operator, cst.Equal)
    is_asked = is_equal or isinstance(operator, cst.NotEqual)
    return number if is_asked and is_equal is outcome else None


def _missing_rank(operator: cst.BaseCompOp, number: int) -> int | None:
    """Return the rank of an array that gets an axis where it has fewer than some number."""
    rank = {cst.LessThan: number - 1, cst.LessThanEqual: number}.get(type(operator))
    return rank or None


def _gets_axis(name: str, body: Sequence[cst.CSTNode]) -> bool:
    """Whether statements bind a name to an array with one more axis."""
    for statement in body:
        for node in descendants(statement):
            match node:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=bound))]):
                    if bound == name and any(_is_new_axis(one) for one in descendants(node.value)):
                        return True
    return False


def _is_new_axis(node: cst.CSTNode) -> bool:
    match node:
        case cst.Name(value="expand_dims" | "newaxis"):
            return True
        case cst.SubscriptElement(slice=cst.Index(value=cst.Name(value="None"))):
            return True
    return False


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
