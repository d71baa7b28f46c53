"""Models with modules in fields, where what they return to gives their sizes: functions of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import libcst as cst

from typed_nnx_codegen.migrate.linen.callers.constructions import Construction
from typed_nnx_codegen.migrate.linen.callers.held_modules import size_in_field
from typed_nnx_codegen.migrate.linen.callers.rendering import Rendering, joined
from typed_nnx_codegen.migrate.linen.callers.sizes import Sizes, is_pure
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Lifted

_RNGS = "rngs"


def later_model(one: Construction, code: Rendering) -> str | None:
    """Return a function of sizes that constructs a returned model and the modules in its fields.

    The return statement is the last to see the names around: they are the same whenever the
    function is called. None where a size of a module in a field is none of those of the model, or
    where what it is constructed with can be computed once only.

    Args:
        one: Where the model is constructed.
        code: Writes the file.
    """
    inner = _by_owner(code)
    plan = code.plan_of(one.cls)
    statement = code.places.parent(one.node)
    if one not in inner or not isinstance(statement, cst.Return) or not _is_repeatable(one, code):
        return None
    names = [lifted for lifted in plan.lifted if not lifted.default or lifted.argument]
    if any(not lifted.argument for lifted in names):
        return None
    sizes = {lifted: lifted.name for lifted in names}
    held = _held(one, sizes, inner, code.plan_of)
    if held is None:
        return None
    code.held |= held
    given = Sizes(tuple((lifted.name, lifted.name) for lifted in names))
    parameters = [f"{one.name}=None" if one.is_optional else one.name for one in names]
    built = code.constructed(one.node, given, _RNGS)
    return f"lambda *, {joined([*parameters, _RNGS])}: {built}"


def _is_repeatable(one: Construction, code: Rendering) -> bool:
    """Whether a model can be constructed several times with equal arguments."""
    made = code.constructions.every
    waiting = [arg.value for arg in one.node.args]
    for value in waiting:
        if value in made and isinstance(value, cst.Call):
            waiting += [arg.value for arg in value.args]
        elif not is_pure(value, one.analysis):
            return False
    return True


def _by_owner(code: Rendering) -> dict[Construction, list[Construction]]:
    """Return the modules that callers construct for fields, by the module that has the field."""
    found: dict[Construction, list[Construction]] = {}
    for one in code.constructions.every.values():
        if one.owner is not None:
            found.setdefault(one.owner, []).append(one)
    return found


def _held(
    outer: Construction,
    sizes: Mapping[Lifted, str],
    inner: Mapping[Construction, list[Construction]],
    plan_of: Callable[[LinenClass], ClassPlan],
) -> dict[cst.CSTNode, Sizes] | None:
    """Return the sizes of the modules in the fields of a module over its own, theirs below, too."""
    found: dict[cst.CSTNode, Sizes] = {}
    for one in inner.get(outer, ()):
        given = dict(_given(one, plan_of(outer.cls), plan_of(one.cls), sizes))
        if len(given) < len(plan_of(one.cls).lifted):
            return None
        found[one.node] = Sizes(
            tuple((lifted.name, text) for lifted, text in given.items() if text)
        )
        below = _held(one, given, inner, plan_of)
        if below is None:
            return None
        found |= below
    return found


def _given(
    one: Construction, outer: ClassPlan, inner: ClassPlan, sizes: Mapping[Lifted, str]
) -> Iterator[tuple[Lifted, str]]:
    """Yield the sizes of a module in a field that follow from those of the module around."""
    for lifted in inner.lifted:
        if lifted.default and not lifted.argument:
            yield lifted, ""
            continue
        size = size_in_field(one, lifted, outer, inner)
        if isinstance(size, int):
            yield lifted, str(size)
        for known, text in sizes.items():
            same = isinstance(size, Lifted) and (size.argument, size.axis) == (
                known.argument,
                known.axis,
            )
            if same and text and not known.is_optional:
                yield lifted, text
                break
