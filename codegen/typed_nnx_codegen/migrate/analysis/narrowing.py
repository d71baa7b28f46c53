"""What a condition says of names: ``isinstance(x, nnx.Param)``, ``x is not None``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import ancestry, nnx_name
from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.analysis.values import (
    NONE,
    UNKNOWN,
    Collection,
    Evaluate,
    External,
    Instance,
    ProjectClass,
    Scope,
    Value,
    join,
    options_of,
    without_none,
)

_OLD_BASES: Final = frozenset({"GraphNode", "Object"})


def narrowings(
    evaluate: Evaluate, test: cst.BaseExpression, scope: Scope, *, holds: bool
) -> Iterator[tuple[str, Value]]:
    """Yield dotted names and what they stand for where a condition holds, or does not."""
    match test:
        case cst.UnaryOperation(operator=cst.Not()):
            yield from narrowings(evaluate, test.expression, scope, holds=not holds)
        case cst.BooleanOperation(operator=cst.And()) if holds:
            yield from narrowings(evaluate, test.left, scope, holds=True)
            yield from narrowings(evaluate, test.right, scope, holds=True)
        case cst.BooleanOperation(operator=cst.Or()) if not holds:
            yield from narrowings(evaluate, test.left, scope, holds=False)
            yield from narrowings(evaluate, test.right, scope, holds=False)
        case cst.Call(func=cst.Name(value="isinstance"), args=[subject, classes]) if holds:
            yield from _isinstance(evaluate, subject.value, classes.value, scope)
        case cst.Comparison(comparisons=[part]):
            yield from _none_test(evaluate, test.left, part, scope, holds=holds)
        case cst.Name() | cst.Attribute() if holds:
            yield from _without_none(evaluate, test, scope)


def _isinstance(
    evaluate: Evaluate, subject: cst.BaseExpression, classes: cst.BaseExpression, scope: Scope
) -> Iterator[tuple[str, Value]]:
    path = dotted(subject)
    value = _objects_of(evaluate(classes, scope))
    if path and value is not None:
        yield path, _narrowed(evaluate(subject, scope), value)


def _narrowed(known: Value, asked: Value) -> Value:
    """Return what is known of a value and holds in a condition; else what the condition says."""
    wanted = [option.cls for option in options_of(asked) if isinstance(option, Instance)]
    kept = [
        option
        for option in options_of(known)
        if isinstance(option, Instance) and any(_is_below(option.cls, cls) for cls in wanted)
    ]
    return join(*kept) if kept else asked


def _is_below(cls: str | ProjectClass, base: str | ProjectClass) -> bool:
    name = nnx_name(base)
    # Modules were Objects once.
    return ("Pytree" if name in _OLD_BASES else name or base) in ancestry(cls)[0]


def _objects_of(classes: Value) -> Value | None:
    if isinstance(classes, Collection) and classes.items is not None:
        found = [_objects_of(item) for item in classes.items]
        return join(*(value for value in found if value is not None)) if None not in found else None
    if isinstance(classes, ProjectClass):
        return Instance(classes)
    if isinstance(classes, External) and nnx_name(classes):
        return Instance(classes.public)
    return UNKNOWN if isinstance(classes, External) else None


def _none_test(
    evaluate: Evaluate,
    left: cst.BaseExpression,
    part: cst.ComparisonTarget,
    scope: Scope,
    *,
    holds: bool,
) -> Iterator[tuple[str, Value]]:
    if evaluate(part.comparator, scope) != NONE:
        return
    is_none = isinstance(part.operator, (cst.Is, cst.Equal)) == holds
    if not isinstance(part.operator, (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)):
        return
    if is_none:
        path = dotted(left)
        if path:
            yield path, NONE
    else:
        yield from _without_none(evaluate, left, scope)


def _without_none(
    evaluate: Evaluate, node: cst.BaseExpression, scope: Scope
) -> Iterator[tuple[str, Value]]:
    path = dotted(node)
    if not path:
        return
    value = evaluate(node, scope)
    known = without_none(value)
    if known is not value:
        yield path, known
