"""Sharding metadata: the partition that it says, and the placement of the value of a new Variable."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar, Token
from typing import Any, ParamSpec, TypeAlias, TypeVar

import jax
import jax.core
import numpy as np
from jax.experimental.layout import Format
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec

from typed_nnx._core.jax_runtime import under_construction
from typed_nnx._core.metadata import Hook, Metadata, VariableMetadata, hooks_of
from typed_nnx.errors import MeshRequiredError, ShardingError, UnknownMeshAxisError

MeshAxes: TypeAlias = str | tuple[str, ...] | None
"""What a logical axis stands for: a mesh axis, several, or none."""

LogicalRules: TypeAlias = Sequence[tuple[str, MeshAxes]]
"""Pairs of a logical axis and what it stands for; of two pairs for one name the last counts."""

Sharding: TypeAlias = tuple[MeshAxes, ...]
"""A name for each axis of an array."""

_EMPTY: Mapping[str, MeshAxes] = {}

_in_force: ContextVar[Mapping[str, MeshAxes]] = ContextVar("typed_nnx_axis_rules", default=_EMPTY)

# jax gives it no types.
_partition_spec: Any = PartitionSpec


class LogicalAxisRules(contextlib.ContextDecorator):
    """What `logical_axis_rules(...)` returns; a context manager, and a decorator of functions."""

    __slots__ = ("_rules", "_tokens")

    def __init__(self, rules: Mapping[str, MeshAxes]) -> None:
        self._rules = rules
        self._tokens: list[Token[Mapping[str, MeshAxes]]] = []

    def _recreate_cm(self) -> LogicalAxisRules:
        return LogicalAxisRules(self._rules)  # a decorated function may call itself

    def __enter__(self) -> None:
        self._tokens.append(_in_force.set(self._rules))

    def __exit__(self, *error: object) -> None:
        _in_force.reset(self._tokens.pop())


def logical_axis_rules(rules: LogicalRules | Mapping[str, MeshAxes] | None) -> LogicalAxisRules:
    """Map the logical axis names in ``out_sharding`` to mesh axes, for a block of code.

    The rules apply where Variables are placed, in `get_partition_spec` and `get_named_sharding`.
    Inner rules replace outer ones. A name without a rule is a mesh axis itself.

    >>> with logical_axis_rules([("embed", "model"), ("batch", ("replica", "data"))]):
    ...     partition_spec_of(("batch", "embed", None))
    P(('replica', 'data'), 'model', None)

    Args:
        rules: Pairs of a logical axis and a mesh axis, a tuple of mesh axes or None; None or ``()``
            for no rules.

    Raises:
        ShardingError: `rules` is something else.
    """
    return LogicalAxisRules(_as_mapping("logical_axis_rules", rules))


def get_logical_axis_rules() -> LogicalRules:
    """Return the current rules, as pairs."""
    return tuple(_in_force.get().items())


def partitions_of(spec: PartitionSpec) -> tuple[Any, ...]:
    """Return what a partition says of each axis, without what it says of reductions."""
    # jax has `partitions` from 0.10.2 on, and then no `tuple` of a spec with reductions.
    return tuple(spec.partitions if hasattr(spec, "partitions") else spec)


def partition_spec_of(names: Iterable[Any], rules: object = None) -> PartitionSpec:
    """Return the partition that names stand for.

    Args:
        names: A name for each axis of an array: a logical or a mesh axis, a tuple of mesh axes, or
            None; may be a partition itself.
        rules: The rules of the Variable; the current ones apply too.

    Raises:
        ShardingError: `rules` are no rules, or they contradict the current ones.
    """
    given: Any = names
    is_spec = isinstance(names, PartitionSpec)
    parts = partitions_of(given) if is_spec else tuple(given)
    options = {"unreduced": given.unreduced, "reduced": given.reduced} if is_spec else {}
    if parts:
        combined = _combined(_in_force.get(), rules)
        parts = tuple([combined.get(n, n) if isinstance(n, str) else n for n in parts])
    made: PartitionSpec = _partition_spec(*parts, **options)
    return made


def _combined(in_force: Mapping[str, MeshAxes], rules: object) -> Mapping[str, MeshAxes]:
    if not rules:
        return in_force
    own = _as_mapping("sharding_rules", rules)
    for name, axes in own.items():
        if in_force.get(name, axes) != axes:
            raise ShardingError(
                "sharding_rules",
                f"Inconsistent rules for the logical axis {name!r}: it is {axes!r} in the "
                f"`sharding_rules` of the Variable, {in_force[name]!r} in the "
                "current `logical_axis_rules`.",
                f"leave {name!r} out of one of them, or give it another name in one",
            )
    return {**in_force, **own}


def _as_mapping(function: str, rules: Any) -> Mapping[str, MeshAxes]:
    if rules is None:
        return _EMPTY
    try:
        pairs = list(rules.items()) if isinstance(rules, Mapping) else [tuple(r) for r in rules]
    except TypeError:
        raise _not_rules(function, rules) from None
    found: dict[str, MeshAxes] = {}
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], str) or not _are_axes(pair[1]):
            raise _not_rules(function, rules)
        found[pair[0]] = tuple(pair[1]) if isinstance(pair[1], list) else pair[1]
    return found


def _not_rules(function: str, got: object) -> ShardingError:
    return ShardingError(
        function,
        f"the rules are {got!r} ({type(got).__name__}); expected pairs of a logical axis and what "
        "it is on the mesh: a mesh axis, a tuple of mesh axes, or None.",
        "(('batch', 'data'), ('embed', None))",
    )


def _are_axes(value: object) -> bool:
    if isinstance(value, tuple | list):
        return all(isinstance(axis, str) for axis in value)
    return value is None or isinstance(value, str)


A = TypeVar("A")

# jax gives these no types.
_reshard: Any = jax.sharding.reshard
_constrain: Any = jax.lax.with_sharding_constraint


def place_value(value: A, meta: Metadata) -> A:
    """Return `value` with its arrays laid out over the mesh as ``out_sharding`` in `meta` says.

    Without names in ``out_sharding`` or with ``eager_sharding=False`` the value comes back as it is.

    Raises:
        MeshRequiredError: There is neither a mesh in the metadata nor a current one.
        UnknownMeshAxisError: The mesh has no axis of a name in ``out_sharding``.
        ShardingError: ``sharding_rules`` contradict the current rules.
    """
    if not meta.get("out_sharding") or not meta.get("eager_sharding"):
        return value
    arrays = [leaf for leaf in jax.tree.leaves(value) if isinstance(leaf, jax.Array | np.ndarray)]
    if not arrays:
        return value
    traced = any(isinstance(leaf, jax.core.Tracer) for leaf in arrays) or _in_a_trace()
    sharding = sharding_of("Variable", meta, abstract=traced)
    names = meta.get("out_sharding")
    target = names if isinstance(names, Format) else sharding
    if not traced:
        place = jax.device_put
    elif jax.sharding.AxisType.Explicit in sharding.mesh.axis_types and target is sharding:
        place = _reshard
    else:
        place = _constrain
    placed: A = jax.tree.map(
        lambda leaf: place(leaf, target) if isinstance(leaf, jax.Array | np.ndarray) else leaf,
        value,
    )
    return placed


def _in_a_trace() -> bool:
    """Whether jax traces now, so that values are placed by the program and not at once."""
    try:
        jax.sharding.get_mesh()
    except ValueError:
        return True
    return False


def _named_sharding_in(names: object) -> NamedSharding | None:
    """Return the sharding that ``out_sharding`` is, if it is more than names of axes."""
    sharding = names.sharding if isinstance(names, Format) else names
    return sharding if isinstance(sharding, NamedSharding) else None


def declared_partition(meta: Metadata) -> PartitionSpec | None:
    """Return the partition that ``out_sharding`` says under the current rules; None without it.

    Raises:
        ShardingError: ``sharding_rules`` contradict the current rules.
    """
    names: Any = meta.get("out_sharding")
    if names is None:
        return None
    given = _named_sharding_in(names)
    return partition_spec_of(names, meta.get("sharding_rules")) if given is None else given.spec


def sharding_of(where: str, meta: Metadata, *, abstract: bool) -> NamedSharding:
    """Return the sharding that the metadata with ``out_sharding`` of a Variable says.

    Without a mesh in the metadata it is over the current mesh: the `abstract` one, which is all that
    is known under a trace, or the concrete one.

    Raises:
        MeshRequiredError: There is neither a mesh in the metadata nor a current one.
        UnknownMeshAxisError: The mesh has no axis of a name in ``out_sharding``.
        ShardingError: ``sharding_rules`` contradict the current rules.
    """
    names: Any = meta.get("out_sharding")
    given = _named_sharding_in(names)
    if given is not None:
        return given
    spec = partition_spec_of(names, meta.get("sharding_rules"))
    mesh: Any = meta.get("mesh")
    if mesh is None:
        mesh = _mesh_in_force(abstract)
    if mesh.empty:
        raise MeshRequiredError(spec, under_construction() or where)
    return named_sharding(where, mesh, spec)


def _mesh_in_force(abstract: bool) -> Mesh | AbstractMesh:
    in_force = jax.sharding.get_abstract_mesh()
    if not abstract and not in_force.empty:
        with contextlib.suppress(ValueError):  # under a trace there is only the abstract one
            return jax.sharding.get_mesh()
    return in_force


def named_sharding(where: str, mesh: Mesh | AbstractMesh, spec: PartitionSpec) -> NamedSharding:
    """Return a partition over a mesh.

    Raises:
        UnknownMeshAxisError: The mesh has no axis of a name in the partition; it says `where`.
    """
    named = [
        name
        for part in partitions_of(spec)
        for name in (part if isinstance(part, tuple) else (part,))
    ]
    unknown = [name for name in named if isinstance(name, str) and name not in mesh.axis_names]
    if unknown:
        raise UnknownMeshAxisError(where, spec, tuple(unknown), mesh.axis_names)
    return NamedSharding(mesh, spec)


P = ParamSpec("P")


Hooks: TypeAlias = Hook | Sequence[Hook]
"""One function of a Variable and a value or axis, or several."""


def with_metadata(
    initializer: Callable[P, A],
    on_set_value: Hooks = (),
    on_get_value: Hooks = (),
    on_create_value: Hooks = (),
    on_add_axis: Hooks = (),
    on_remove_axis: Hooks = (),
    **metadata: Any,
) -> Callable[P, VariableMetadata[A]]:
    """Return an initializer whose result has metadata and hooks for its Variable.

    Args:
        initializer: The initializer.
        on_set_value: Applied to each new value; like all hooks a function, or several.
        on_get_value: Applied to the value when it is read.
        on_create_value: Applied to the first value.
        on_add_axis: Called when a transform adds an axis.
        on_remove_axis: Called when a transform removes an axis.
        **metadata: Metadata.
    """
    hooks = {
        "on_set_value": hooks_of(on_set_value),
        "on_get_value": hooks_of(on_get_value),
        "on_create_value": hooks_of(on_create_value),
        "on_add_axis": hooks_of(on_add_axis),
        "on_remove_axis": hooks_of(on_remove_axis),
    }

    @functools.wraps(initializer)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> VariableMetadata[A]:
        return VariableMetadata(initializer(*args, **kwargs), metadata=dict(metadata), **hooks)

    return wrapped


def with_partitioning(
    initializer: Callable[P, A], sharding: Sharding, mesh: Mesh | None = None, **metadata: Any
) -> Callable[P, VariableMetadata[A]]:
    """Return an initializer whose result has a sharding.

    >>> import jax
    >>> init = with_partitioning(jax.nn.initializers.ones, ("embed", None))
    >>> init(jax.random.key(0), (4, 8)).metadata["out_sharding"]
    ('embed', None)

    Args:
        initializer: The initializer.
        sharding: For each axis of the array the mesh axis (or logical axis, or tuple of mesh axes)
            that it is sharded over; None for an axis that is not sharded.
        mesh: The mesh; by default the current one when the Variable is created.
        **metadata: More metadata and hooks, as for `with_metadata`.
    """
    return with_metadata(initializer, out_sharding=sharding, mesh=mesh, **metadata)
