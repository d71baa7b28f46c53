"""Which variables a module has, and how NNX is told which of them a transform maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Site, given_of
from typed_nnx_codegen.migrate.linen.transforms.lifts import Axis, Lift

Refer = Callable[[str], str]

_TYPES: Final = {
    "params": "nnx.Param",
    "batch_stats": "nnx.BatchStat",
    "cache": "nnx.Cache",
    "intermediates": "nnx.Intermediate",
    "perturbations": "nnx.Perturbation",
}
_RANDOM: Final = ("Dropout", "MultiHeadDotProductAttention", "MultiHeadAttention", "SelfAttention")


def collections_of(site: Site, plan_of: Callable[[LinenClass], ClassPlan]) -> frozenset[str]:
    """Return the collections in which a submodule has variables."""
    if isinstance(site.target, LinenClass):
        return collections_in(plan_of(site.target))
    layer = find_layer(site.target)
    variables = layer.variables(given_of(site)) if layer is not None else ()
    return frozenset(one.linen.partition("/")[0] for one in variables)


def collections_in(plan: ClassPlan) -> frozenset[str]:
    """Return the collections in which a module of the project has variables."""
    return frozenset(one.linen.partition("/")[0] for one in plan.entries)


def draws(site: Site, plan_of: Callable[[LinenClass], ClassPlan]) -> bool:
    """Whether a submodule draws random keys when it is called."""
    if isinstance(site.target, LinenClass):
        return plan_draws(plan_of(site.target), plan_of)
    return site.class_name in _RANDOM


def plan_draws(plan: ClassPlan, plan_of: Callable[[LinenClass], ClassPlan]) -> bool:
    """Whether a module of the project draws random keys when it is called."""
    own = (site for site in plan.sites if site.target is not plan.cls)
    return plan.stores_rngs or any(draws(site, plan_of) for site in own)


def state_axes(
    lift: Lift,
    collections: frozenset[str],
    refer: Refer,
    *,
    random: Axis | str = "",
    carries: bool = True,
) -> str:
    """Return the axes of the variables of a module, as NNX takes them.

    Args:
        lift: The transform.
        collections: The collections of the module.
        refer: Spells public names of NNX.
        random: The axis of its random state; empty where it has that of most.
        carries: Whether variables may be carried; else they are shared.
    """
    base = 0 if _is_stacked(lift, collections) else None
    entries: dict[str, str] = {}
    if random != "" and random != base:
        entries[refer("nnx.RngState")] = _axis(random, refer)
    for name in sorted(collections):
        axis = lift.axis(name)
        axis = None if axis == "carry" and not carries else axis
        if axis != base:
            entries[_filter_code(name, refer)] = _axis(axis, refer)
    if not entries:
        return str(base)
    inner = ", ".join(f"{key}: {axis}" for key, axis in entries.items())
    return f"{refer('nnx.StateAxes')}({{{inner}, ...: {base}}})"


def _is_stacked(lift: Lift, collections: frozenset[str]) -> bool:
    if "params" in collections or not collections:
        return isinstance(lift.axis("params"), int)
    return lift.stacks(collections)


def _axis(axis: object, refer: Refer) -> str:
    return refer("nnx.Carry") if axis == "carry" else str(axis)


def _filter_code(collection: str, refer: Refer) -> str:
    kind = _TYPES.get(collection)
    if kind is not None:
        return refer(kind)
    return f"{refer('nnx.variable_type_from_name')}({collection!r}, allow_register=True)"
