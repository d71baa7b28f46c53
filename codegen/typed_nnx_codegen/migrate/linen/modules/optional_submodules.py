"""Submodules and arrays that are only sometimes there: the condition, as the constructor says it.

Elsewhere there is None, or for a submodule a function: `self.norm = nn.LayerNorm() if deep else identity`.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.running.frames import Frame, Recorder
from typed_nnx_codegen.migrate.linen.running.module_or_function import is_submodule, stands_for_one
from typed_nnx_codegen.migrate.linen.running.references import Choice
from typed_nnx_codegen.migrate.linen.running.values import NONE, OPEN, Array, Value


def there_if(value: Value, one: Value, other: Value, code: str) -> Value:
    """Return what may be there, a submodule or array, with the condition that decides; else the value.

    Args:
        value: What stands for either of two values.
        one: What it is where the condition holds.
        other: What it is else.
        code: The condition.
    """
    if isinstance(value, Choice):
        if is_submodule(one) and stands_for_one(other):
            return replace(value, condition=code)
        if is_submodule(other) and stands_for_one(one):
            return replace(value, condition=negated(code))
        return value
    if NONE not in (one, other):
        return value
    condition = code if other == NONE else negated(code)
    before = one if other == NONE else other
    if isinstance(before, Array) and isinstance(value, Array):
        is_given = before.is_optional and bool(before.origin)
        if before.condition == OPEN or (
            before.is_optional and not before.condition + before.origin
        ):
            return value
        if before.condition:
            condition = f"({condition} and {before.condition})"
        return replace(value, condition=condition, origin=before.origin if is_given else "")
    return value


def negated(code: str) -> str:
    """Return the code of the condition that holds where another one does not."""
    match cst.parse_expression(code):
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return code_of(inner)
    return f"(not {code})"


def assigned_if(value: Value, before: Value, after: Value, recorder: Recorder) -> Value:
    """Return what an attribute stands for that a branch assigns again: the last one counts.

    Args:
        value: What stands for either of its values.
        before: What it was before.
        after: What it is assigned now.
        recorder: What is written down: the branches around.
    """
    conditions = recorder.conditions
    codes = [recorder.branch_codes.get(one.number, "") for one in conditions]
    if not all(codes) or not codes:
        return value
    parts = [
        code if one.side else negated(code) for one, code in zip(conditions, codes, strict=True)
    ]
    whole = parts[0] if len(parts) == 1 else f"({' and '.join(f'({part})' for part in parts)})"
    if isinstance(before, Choice) and before.condition and is_submodule(after):
        return Choice((after, before), condition=whole)
    return there_if(value, after, before, whole)


def asked_for_none(node: cst.Comparison, frame: Frame) -> cst.BaseExpression | None:
    """Return `x is None` as the constructor says it; None for another comparison.

    The size of an argument tells the constructor whether it is given; else the condition of the
    branch does that decides.

    Args:
        node: The comparison.
        frame: Where it is.
    """
    match node:
        case cst.Comparison(
            left=(cst.Name() | cst.Attribute()) as left,
            comparisons=[
                cst.ComparisonTarget(
                    operator=(cst.Is() | cst.IsNot()) as operator,
                    comparator=cst.Name(value="None"),
                )
            ],
        ):
            code = _there(frame.seen(left), left, frame)
            if not code:
                return None
            return cst.parse_expression(code if isinstance(operator, cst.IsNot) else negated(code))
    return None


def _there(value: Value | None, node: cst.BaseExpression, frame: Frame) -> str:
    """Return the condition on which a value is not None; empty where the constructor has none."""
    match value:
        case Array(condition=condition) if condition == OPEN or not frame.records:
            return ""
        case Array(is_optional=True, origin=str(origin), condition=condition) if origin:
            if not isinstance(node, cst.Name):
                return ""
            given = f"({frame.recorder.templates.given_token(origin)} is not None)"
            return f"({condition} and {given[1:-1]})" if condition else given
        case Array(condition=condition):
            return condition
        case Choice(options=options, condition=condition) if not frame.records:
            return condition if NONE in options else ""
    return ""
