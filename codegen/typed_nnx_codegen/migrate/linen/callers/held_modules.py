"""Modules that callers construct for the fields of others: their sizes follow from the outer call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.linen.callers.constructions import Construction
from typed_nnx_codegen.migrate.linen.callers.sizes import NoSizes, Sizes, parameters_for, sizes_for
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Lifted
from typed_nnx_codegen.migrate.linen.running.values import Array, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import ArgumentSize


def held_sizes(
    one: Construction,
    outer: ClassPlan,
    inner: ClassPlan,
    method: str,
    args: Sequence[cst.Arg],
    analysis: Analysis,
    render: Callable[[cst.CSTNode], str],
) -> Sizes:
    """Return the sizes of a module that is constructed for a field.

    Args:
        one: Where it is constructed.
        outer: The plan of the module that has the field.
        inner: Its own plan.
        method: The method of the outer module that is called.
        args: The arguments of that call.
        analysis: The file.
        render: Gives the new code of an expression.
    """
    items: list[tuple[str, str]] = []
    used: list[cst.BaseExpression] = []
    for lifted in inner.lifted:
        if lifted.default and not lifted.argument:
            continue
        size = size_in_field(one, lifted, outer, inner)
        if isinstance(size, int):
            items.append((lifted.name, str(size)))
            continue
        if size is None:
            return Sizes((), missing=(f"nothing tells `{lifted.name}` of `{inner.cls.name}`",))
        asked = replace(outer, lifted=[replace(size, method=method)])
        try:
            found = sizes_for(asked, method, args, analysis, render)
        except NoSizes as reason:
            return Sizes((), missing=(str(reason),))
        if found.missing:
            return found
        items += found.items
        used += found.used
    return Sizes(tuple(items), tuple(used))


def _field_of(one: Construction) -> str:
    """Return the field that a module is given for; empty where that is not sure."""
    if one.owner is None:
        return ""
    names = [each.name for each in one.owner.cls.fields()]
    for position, arg in enumerate(one.owner.node.args):
        if arg.star:
            return ""
        if arg.value is one.node:
            if arg.keyword is not None:
                return arg.keyword.value
            return names[position] if position < len(names) else ""
    return ""


def size_in_field(
    one: Construction, lifted: Lifted, outer: ClassPlan, inner: ClassPlan
) -> Lifted | int | None:
    """Return a size of a module in a field over the arguments of the module that has the field.

    Args:
        one: Where the module is constructed.
        lifted: The size.
        outer: The plan of the module that has the field.
        inner: The plan of the module in it.

    Returns:
        The size: a number, or what to ask the arguments for; None where it is not known.
    """
    field = _field_of(one)
    names = [one.name.value for one in parameters_for(inner.cls, lifted.method)]
    place = str(names.index(lifted.argument)) if lifted.argument in names else ""
    for name, called, values in outer.held_calls:
        value: Value | None = values.get(lifted.argument, values.get(place))
        if name != field or called != lifted.method or not isinstance(value, Array):
            continue
        if lifted.axis is None or lifted.is_of_items:
            return replace(lifted, argument=value.origin) if value.origin else None
        dim = value.shape.axis(lifted.axis)
        if dim is None:
            return None
        if dim.constant is not None:
            return dim.constant
        if isinstance(dim.atom, ArgumentSize):
            return replace(lifted, argument=dim.atom.argument, axis=dim.atom.axis)
        return None
    return None
