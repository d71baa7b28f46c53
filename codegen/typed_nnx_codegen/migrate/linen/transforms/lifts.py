"""`Lift`: one transform of Linen with its settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import libcst as cst

from typed_nnx_codegen.migrate.linen.plan import Bound
from typed_nnx_codegen.migrate.linen.running.references import ClassTransform, Ref
from typed_nnx_codegen.migrate.linen.running.values import Const, Seq, Table, Value

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
