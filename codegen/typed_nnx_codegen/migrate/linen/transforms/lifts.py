"""`Lift`: one transform of Linen with its settings, as code for the constructor and for methods."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import Bound, ClassPlan, Site, given_of
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.references import ClassTransform, Ref
from typed_nnx_codegen.migrate.linen.domain.values import NONE, Code, Const, Seq, Table, Value
from typed_nnx_codegen.migrate.linen.layers import find_layer

Axis = int | Literal["carry"] | None

_PARAMETERS: Final = {
    "remat": (
        "variables",
        "rngs",
        "concrete",
        "prevent_cse",
        "static_argnums",
        "policy",
        "methods",
    ),
    "jit": (
        *("variables", "rngs", "static_argnums", "static_argnames", "donate_argnums", "device"),
        *("backend", "methods"),
    ),
    "vmap": (
        *("variable_axes", "split_rngs", "in_axes", "out_axes", "axis_size", "axis_name"),
        *("spmd_axis_name", "metadata_params", "methods"),
    ),
    "scan": (
        *("variable_axes", "variable_broadcast", "variable_carry", "split_rngs", "in_axes"),
        *("out_axes", "length", "reverse", "unroll", "data_transform", "metadata_params"),
        *("methods", "_split_transpose", "check_constancy_invariants"),
    ),
    "remat_scan": (
        *("lengths", "policy", "variable_broadcast", "variable_carry", "variable_axes"),
        "split_rngs",
    ),
}
# Settings that NNX does not have, with the value that changes nothing.
_LACKING: Final[Mapping[str, tuple[object, ...]]] = {
    "variables": (True,),
    "rngs": (True,),
    "concrete": (False,),
    "data_transform": (None,),
}
_SAME: Final = {
    "remat": ("prevent_cse", "static_argnums", "policy"),
    "jit": ("static_argnums", "static_argnames", "donate_argnums", "device", "backend"),
    "vmap": ("axis_name", "spmd_axis_name"),
    "scan": ("reverse", "unroll", "_split_transpose"),
    "remat_scan": ("policy",),
}


class Unsupported(Exception):
    """A transform with settings that NNX does not have, or that are not known."""


@dataclass(frozen=True)
class Lift:
    """A transform of Linen.

    Attributes:
        kind: Its name: ``scan``, ``vmap``, ``remat``, ``jit``, ``remat_scan``.
        given: Its settings.
        axes: The axis of each collection that is lifted: None where all share it, ``carry``
            where each step hands it to the next; under True that of all others.
        is_split: Whether each step or member has random keys of its own.
        methods: The methods that are transformed.
        condition: Where it applies only to some objects, the condition.
    """

    kind: str
    given: Mapping[str, Bound]
    axes: Mapping[object, Axis]
    is_split: Mapping[object, bool]
    methods: tuple[str, ...]
    condition: str = ""

    __hash__ = object.__hash__

    @property
    def maps(self) -> bool:
        """Whether it runs what it transforms more than once."""
        return self.kind in ("scan", "vmap", "remat_scan")

    def axis(self, collection: str) -> Axis:
        """Return the axis along which the variables of a collection are stacked."""
        return self.axes.get(collection, self.axes.get(True))

    def splits(self, stream: str) -> bool:
        """Whether each step or member has keys of its own of a stream."""
        return self.is_split.get(stream, self.is_split.get(True, False))

    @property
    def splits_any(self) -> bool:
        """Whether any stream is split."""
        return any(self.is_split.values())

    def stacks(self, collections: frozenset[str]) -> bool:
        """Whether variables of a module with some collections get one more axis."""
        return self.maps and any(
            isinstance(self.axis(one), int) for one in (collections or {"params"})
        )

    @property
    def kept(self) -> tuple[str, ...]:
        """The settings that NNX takes as they are."""
        return tuple(name for name in _SAME[self.kind] if name in self.given)

    def value(self, name: str, default: Value) -> Value:
        """Return what is known of a setting."""
        return self.given[name].value if name in self.given else default


def lift_of(transform: ClassTransform) -> Lift:
    """Return a transform with its settings.

    Raises:
        Unsupported: NNX has no such transform, or its settings are not known.
    """
    kind = transform.name.rpartition(".")[2]
    kind = "remat" if kind == "checkpoint" else kind
    names = _PARAMETERS.get(kind)
    if names is None:
        raise Unsupported(f"`nn.{kind}` is not migrated")
    given = dict(zip(names, transform.args, strict=False)) | dict(transform.keywords)
    for name, bound in given.items():
        if name not in names:
            raise Unsupported(f"`nn.{kind}` has no parameter `{name}`")
        harmless = _LACKING.get(name)
        if harmless is not None and bound.value not in tuple(Const(one) for one in harmless):
            raise Unsupported(f"`{name}` of `nn.{kind}` has no counterpart in NNX")
    if transform.name.endswith("partitioning.remat") and "static_argnums" in given:
        given["static_argnums"] = _behind_the_module(given["static_argnums"])
    return Lift(
        kind,
        given,
        _axes(kind, given),
        _split(kind, given),
        _methods(kind, given),
        transform.condition,
    )


def _behind_the_module(bound: Bound) -> Bound:
    """Return positions of arguments that count the module, where they do not count it."""
    value = bound.value
    items = value.items if isinstance(value, Seq) else (value,)
    numbers = [one.value for one in items if isinstance(one, Const)]
    known = [one for one in numbers if isinstance(one, int) and one >= 0]
    if len(known) != len(items):
        raise Unsupported("`static_argnums` is not known")
    code = repr(tuple(one + 1 for one in known))
    shifted = Seq(tuple(Const(one + 1) for one in known))
    return replace(bound, value=shifted, code=code, node=cst.parse_expression(code))


def _axes(kind: str, given: Mapping[str, Bound]) -> dict[object, Axis]:
    axes: dict[object, Axis] = {}
    for name, value in _table(kind, "variable_axes", given):
        match value:
            case Const(value=None):
                axes[name] = None
            case Const(value=int() as number) if not isinstance(number, bool):
                axes[name] = number
            case _:
                raise Unsupported(f"an axis of `variable_axes` of `nn.{kind}` is not known")
    if kind == "remat_scan" and "variable_axes" not in given:
        axes[True] = 0
    shared: tuple[tuple[str, Axis], ...] = (
        ("variable_broadcast", None),
        ("variable_carry", "carry"),
    )
    for setting, axis in shared:
        if setting in given:
            axes.update(dict.fromkeys(_filter(kind, setting, given[setting].value), axis))
    return axes


def _split(kind: str, given: Mapping[str, Bound]) -> dict[object, bool]:
    found: dict[object, bool] = {}
    for name, value in _table(kind, "split_rngs", given):
        if not isinstance(value, Const):
            raise Unsupported(f"`split_rngs` of `nn.{kind}` is not known")
        found[name] = bool(value.value)
    if kind == "remat_scan" and "split_rngs" not in given:
        found[True] = True
    return found


def _table(kind: str, setting: str, given: Mapping[str, Bound]) -> Iterator[tuple[object, Value]]:
    if setting not in given:
        return
    value = given[setting].value
    if not isinstance(value, Table):
        raise Unsupported(f"`{setting}` of `nn.{kind}` is not known")
    for key, one in value.items.items():
        if not isinstance(key, str) and key is not True:
            raise Unsupported(f"a filter in `{setting}` of `nn.{kind}` is not known")
        yield key, one


def _filter(kind: str, setting: str, value: Value) -> Iterator[object]:
    match value:
        case Const(value=False):
            return
        case Const(value=True):
            yield True
        case Const(value=str() as name):
            yield name
        case Seq(items=items):
            for item in items:
                yield from _filter(kind, setting, item)
        case _:
            raise Unsupported(f"`{setting}` of `nn.{kind}` is not known")


def _methods(kind: str, given: Mapping[str, Bound]) -> tuple[str, ...]:
    if "methods" not in given or given["methods"].value == Const(None):
        return ("__call__",)
    value = given["methods"].value
    names = value.items if isinstance(value, Seq) else ()
    known = tuple(
        one.value for one in names if isinstance(one, Const) and isinstance(one.value, str)
    )
    if not known or len(known) != len(names):
        raise Unsupported(f"`methods` of `nn.{kind}` is not a list of names")
    return known


def is_broadcast(value: Value) -> bool:
    """Whether an axis says that all steps or members get the same."""
    return value == Const(None) or (
        isinstance(value, Ref) and value.name.rpartition(".")[2] == "broadcast"
    )


Spelled = Callable[[Bound], str]

_TOKEN: Final = re.compile(r"__(dim|lead|site)\d+__")


def in_method(bound: Bound, *, is_here: bool) -> str:
    """Return a setting as it is written in a method.

    Args:
        bound: The setting.
        is_here: Whether the transform is written in the method that is called, so that the names
            in it are those of the call.

    Raises:
        Unsupported: Nothing that the method can see says it.
    """
    code = bound.code
    if code is not None and not _TOKEN.search(code) and (not is_here or _is_global(code)):
        return code
    if is_here and bound.node is not None:
        return code_of(bound.node)
    raise Unsupported("a setting of this transform cannot be said where it is called")


def _is_global(code: str) -> bool:
    """Whether an expression names nothing but attributes of the object, modules and literals."""
    return bool(re.fullmatch(r"[\w.]+|[\w.]*\{.*\}", code)) and (
        "." in code or code in ("None", "True", "False") or code.isdigit() or code[:1] == "{"
    )


def axes_of(lift: Lift, count: int) -> list[Value]:
    """Return the axes of the arguments that a transform maps over, one by one."""
    value = lift.value("in_axes", Const(0))
    if isinstance(value, Seq):
        if len(value.items) < count:
            raise Unsupported(f"`in_axes` of `nn.{lift.kind}` are fewer than the arguments")
        return list(value.items[:count])
    return [value] * count


def axis_code(value: Value, lift: Lift, setting: str, spelled: Spelled) -> str:
    """Return the axes of an argument, or of the results, as code.

    Raises:
        Unsupported: They are not known.
    """
    if is_broadcast(value):
        return "None"
    match value:
        case Const(value=int() as axis):
            return str(axis)
        case Seq(items=items):
            inner = ", ".join(axis_code(one, lift, setting, spelled) for one in items)
            return f"({inner},)" if len(items) == 1 else f"({inner})"
        case Table(items=table):
            inner = ", ".join(
                f"{key!r}: {axis_code(one, lift, setting, spelled)}" for key, one in table.items()
            )
            return f"{{{inner}}}"
        case Code() if lift.given[setting].value == value:
            return spelled(lift.given[setting])
    raise Unsupported(f"`{setting}` of `nn.{lift.kind}` is not known")


def size_setting(lift: Lift) -> Bound | None:
    """Return the setting that says how many steps or members there are."""
    name = "axis_size" if lift.kind == "vmap" else "length"
    bound = lift.given.get(name)
    return None if bound is None or bound.value == NONE else bound


def static_code(lift: Lift, closed: Sequence[int], spelled: Spelled) -> str:
    """Return `static_argnums` where some arguments are no arguments any more.

    Args:
        lift: The transform.
        closed: The positions that are gone; the module is 0.
        spelled: Writes settings.
    """
    bound = lift.given["static_argnums"]
    if not closed:
        return spelled(bound)
    match bound.value:
        case Const(value=int() as number):
            numbers = [number]
        case Seq(items=items) if all(
            isinstance(one, Const) and isinstance(one.value, int) for one in items
        ):
            found = [one.value for one in items if isinstance(one, Const)]
            numbers = [number for number in found if isinstance(number, int)]
        case _:
            raise Unsupported("`static_argnums` is not known")
    left = [
        number - sum(one < number for one in closed) for number in numbers if number not in closed
    ]
    return repr(tuple(left))


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
