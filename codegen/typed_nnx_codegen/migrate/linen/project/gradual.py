"""Modules that stay in Linen: which others stay with them, and the bridges that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, ProjectClass, options_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOTHING
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    FIRST_VALUE,
    SIZE,
    STAYS,
    Call,
    ClassPlan,
    Mark,
    Site,
    given_of,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, LinenClasses, public_linen
from typed_nnx_codegen.migrate.linen.domain.expr import Slots
from typed_nnx_codegen.migrate.linen.domain.values import Array, Const, Seq, Value
from typed_nnx_codegen.migrate.linen.layers import find_layer

_BRIDGE: Final = "nnx.bridge.ToNNX"


def bridge_arguments(analysis: Analysis) -> Iterator[cst.BaseExpression]:
    """Yield the Linen modules that a file gives to a bridge, as they are written."""
    for call in analysis.nodes.of(cst.Call):
        value = analysis.values.get(call.func, UNKNOWN)
        if isinstance(value, External) and value.public == _BRIDGE and call.args:
            yield call.args[0].value


def code_in_bridges(analysis: Analysis) -> set[cst.CSTNode]:
    """Return the code of a file that is given to a bridge."""
    return {below for node in bridge_arguments(analysis) for below in descendants(node)}


def bridged_classes(analyses: Iterable[Analysis], classes: LinenClasses) -> Iterator[LinenClass]:
    """Yield the Linen modules of a project that bridges hold."""
    for analysis in analyses:
        for node in code_in_bridges(analysis):
            for option in options_of(analysis.values.get(node, UNKNOWN)):
                found = classes.of(option) if isinstance(option, ProjectClass) else None
                if found is not None:
                    yield found


@dataclass(frozen=True)
class Kept:
    """A module that stays in Linen.

    Attributes:
        why: The reason.
        problem: What went wrong: a bug of ours; empty where it is for another reason.
        updates: Whether calls may change variables other than parameters.
        needs_values: Whether its variables depend on the values that it is called with first.
    """

    why: str
    problem: str = ""
    updates: bool = True
    needs_values: bool = False


@dataclass
class Gradual:
    """The modules that stay.

    Attributes:
        kept: Each with the reason.
        wraps_layers: Whether layers that NNX does not have are held in a bridge, too.
    """

    kept: dict[LinenClass, Kept] = field(default_factory=dict)
    wraps_layers: bool = True

    def keep_bridged(self, found: Iterable[LinenClass], classes: LinenClasses) -> None:
        """Keep the modules that code holds in bridges already, and those that go with them."""
        waiting = list(found)
        while waiting:
            cls = waiting.pop()
            if cls not in self.kept:
                self.kept[cls] = Kept("`ToNNX` holds it, or a module that uses it")
                waiting += [*cls.ancestry(), *_named_in([cls.node], cls, classes)]

    def keep_read(self, read: Iterable[LinenClass]) -> None:
        """Keep the modules of files that are not migrated."""
        for cls in read:
            self.kept.setdefault(cls, Kept(f"{cls.analysis.path.name} is not migrated"))

    def keep(
        self,
        plans: Mapping[LinenClass, ClassPlan],
        classes: LinenClasses,
        used: Callable[[], Mapping[LinenClass, str]],
    ) -> bool:
        """Keep the modules whose plans need a person, and those that go with them.

        Args:
            plans: The plans of all modules.
            classes: The modules of the project.
            used: Gives the modules whose uses elsewhere need a person, and why.

        Returns:
            Whether there are new ones.
        """
        needing = {
            cls: plan
            for cls, plan in plans.items()
            if cls not in self.kept and (plan.stays or plan.marks)
        }
        # What builds one of them may need no person once that is in a bridge.
        inner = {
            cls: plan
            for cls, plan in needing.items()
            if not any(one.target in needing and one.target is not cls for one in plan.sites)
        }
        found = {cls: plan.stays or _reason(plan) for cls, plan in (inner or needing).items()}
        new = plans.keys() - self.kept.keys()
        found = found or {one: why for one, why in used().items() if one in new}
        waiting = list(found)
        while waiting:
            cls = waiting.pop()
            for other, why in _tied(cls, plans, classes):
                if other not in found and other not in self.kept:
                    found[other] = why
                    waiting.append(other)
        for cls, why in found.items():
            plan = plans[cls]
            needs_values = any(mark.message == FIRST_VALUE for mark in plan.marks)
            self.kept[cls] = Kept(why, plan.problem, _updates(plan), needs_values)
        return bool(found)


def _reason(plan: ClassPlan) -> str:
    first = plan.marks[0].message
    rest = len(plan.marks) - 1
    return f"{first} (and {rest} more)" if rest else first


def _updates(plan: ClassPlan) -> bool:
    """Whether calls of a module may change variables, as far as its plan tells."""
    return not plan.entries or any(not one.linen.startswith("params/") for one in plan.entries)


def _tied(
    cls: LinenClass, plans: Mapping[LinenClass, ClassPlan], classes: LinenClasses
) -> Iterator[tuple[LinenClass, str]]:
    """Yield the modules that stay with one: its relatives, and what it constructs."""
    for other in plans:
        if other in cls.ancestry() or cls in other.ancestry():
            yield other, f"`{cls.name}` stays, to which it is related"
    for other in _named_in([cls.node], cls, classes):
        yield other, f"`{cls.name}` stays, which uses it"
    for owner, plan in plans.items():
        nodes = [site.node for site in plan.sites if site.target is cls]
        for other in _named_in(nodes, owner, classes):
            if other is not cls:
                yield other, f"`{cls.name}` stays, which is given it"


def _named_in(
    nodes: Iterable[cst.CSTNode], owner: LinenClass, classes: LinenClasses
) -> Iterator[LinenClass]:
    for node in nodes:
        for below in descendants(node):
            for option in options_of(owner.analysis.values.get(below, UNKNOWN)):
                found = classes.of(option) if isinstance(option, ProjectClass) else None
                if found is not None:
                    yield found


class Staying:
    """Decides which modules of a project stay in Linen.

    Args:
        plans: The plans of all modules.
        kept: The files that are only read.
    """

    def __init__(
        self, plans: Mapping[LinenClass, ClassPlan], kept: frozenset[Path] = frozenset()
    ) -> None:
        self._plans = plans
        self._kept = kept

    def spread(self) -> None:
        """Let modules stay whose base stays."""
        for cls, plan in self._plans.items():
            if plan.stays:
                continue
            for base in cls.ancestry()[1:]:
                if base in self._plans and self._plans[base].stays:
                    plan.stays = f"its base `{base.name}` stays a module of Linen"

    def mark(self) -> None:
        """Mark the modules that stay or are not finished, and where others construct them."""
        for cls, plan in self._plans.items():
            if plan.stays:
                said = "could not be migrated" if plan.problem else "it stays in Linen"
                plan.log.drop(*plan.marks)
                plan.log.append(Mark(cls.node, f"{said}: {plan.stays}", STAYS))
                continue
            for site in plan.sites:
                if site.is_bridged:
                    continue
                if isinstance(site.target, LinenClass) and self._stays(site.target):
                    plan.log.append(Mark(site.node, self._said(site.target), STAYS))
        while any(self._mark_owner(plan) for plan in self._plans.values()):
            pass

    def _mark_owner(self, plan: ClassPlan) -> bool:
        """Mark a module that constructs one which is left to a person; return whether it does.

        For sizes that are not known this module gives a parameter, or has a marker of its own.
        """
        if plan.marks or plan.stays:
            return False
        for site in plan.sites:
            child = self._plans.get(site.target) if isinstance(site.target, LinenClass) else None
            marks = [] if child is None else child.marks
            codes = [one.code for one in marks if one.code != SIZE]
            if child is not None and codes and not site.is_bridged:
                message = f"`{child.cls.name}` is left to a person in part: see its markers"
                plan.log.append(Mark(site.node, message, codes[0]))
                return True
        return False

    def _said(self, cls: LinenClass) -> str:
        message = f"`{cls.name}` is still a module of Linen"
        path = cls.analysis.path
        is_kept = path in self._kept
        return f"{message}: migrate {path.name} together with this file" if is_kept else message

    def _stays(self, cls: LinenClass) -> bool:
        return cls in self._plans and bool(self._plans[cls].stays)


# What NNX keeps of a call, and Linen only where its caller asks for it.
_UPDATED = '{name}(("params", "intermediates"))'
_DTYPES = frozenset({"float32", "float16", "bfloat16", "int32", "int8", "uint8", "uint32", "bool_"})


def class_code(site: Site, owner: LinenClass) -> str | None:
    """Return how the Linen class of a submodule is written; None where that is not sure."""
    if isinstance(site.target, LinenClass):
        return site.code or code_of(site.node.func)
    value = owner.analysis.values.get(site.node.func, NOTHING)
    if isinstance(value, External) and public_linen(value.name) == site.target:
        return code_of(site.node.func)
    return site.code or None


def bridged(
    name: str, site: Site, inputs: str | None, rngs: str, refer: Callable[[str], str]
) -> str:
    """Return the code that constructs a Linen submodule of an NNX module.

    Args:
        name: The Linen class.
        site: The submodule.
        inputs: The arguments of a first call; None where they are not known.
        rngs: The random streams.
        refer: Spells public names.
    """
    arguments = [
        f"{key}={one.code}" if one.keyword else str(one.code)
        for key, one in site.given.items()
        if not one.hidden and key != "name" and one.code is not None
    ]
    code = f"{refer('nnx.bridge')}.ToNNX({name}({', '.join(arguments)}), rngs={rngs})"
    return code if inputs is None else f"{code}.lazy_init({inputs})"


def changes_variables(site: Site, updates: Mapping[LinenClass, bool]) -> bool:
    """Whether calls of a submodule may change variables other than parameters."""
    if isinstance(site.target, LinenClass):
        return updates.get(site.target, True)
    layer = find_layer(site.target)
    if layer is None:
        return True
    return any(not one.linen.startswith("params/") for one in layer.variables(given_of(site)))


def mutable(refer: Callable[[str], str]) -> str:
    """Return the argument with which a call keeps what it changes, as NNX does."""
    return f"mutable={_UPDATED.format(name=refer('flax.core.DenyList'))}"


def first_inputs(
    site: Site,
    calls: Iterable[Call],
    visible: Callable[[Value], Value],
    slots: Slots,
    refer: Callable[[str], str],
) -> str | None:
    """Return the arguments of a first call of a submodule; None where they are not known.

    Args:
        site: The submodule.
        calls: The calls of it.
        visible: Takes from a value what cannot be said in the constructor.
        slots: What stands in code for sizes.
        refer: Spells public names.
    """
    optional = _optional(site)
    for call in calls:
        if call.method != "__call__":
            continue
        codes: list[str] = []
        for name, value in call.values.items():
            code = _zeros(visible(value), slots, refer)
            if code is not None:
                codes.append(code if name.startswith("*") else f"{name}={code}")
            elif name not in optional:
                break
        else:
            return ", ".join(codes)
    return None


def _optional(site: Site) -> set[str]:
    """Return the parameters of a call that have a default, which says more than that there is none."""
    if not isinstance(site.target, LinenClass):
        return set()
    method = site.target.method("__call__")
    every = method.parameters() if method is not None else ()
    defaults = ((one.name.value, one.default) for one in every if one.default is not None)
    return {name for name, default in defaults if code_of(default) != "None"}


def _zeros(value: Value, slots: Slots, refer: Callable[[str], str]) -> str | None:
    match value:
        case Array(shape=found, dtype=dtype):
            shape = found.collapsed()
            if any(dim is None for dim in shape.dims):
                return None
            parts = [slots.name(dim) for dim in shape.dims if dim is not None]
            if shape.lead is not None:
                if not shape.lead.argument:
                    return None
                parts.insert(0, f"*{slots.name(shape.lead.sizes)}")
            kind = f", {refer(f'jax.numpy.{dtype}')}" if dtype in _DTYPES else ""
            return f"{refer('jax.numpy.zeros')}(({', '.join(parts)},){kind})"
        case Const(value=bool() | int() | float() | str() | None as literal):
            return repr(literal)
        case Seq(items=items):
            codes = [_zeros(item, slots, refer) for item in items]
            if None in codes:
                return None
            return f"({', '.join(str(code) for code in codes)},)" if codes else "()"
    return None
