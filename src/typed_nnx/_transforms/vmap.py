"""`vmap`: functions of Modules over a batch axis."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, overload

import jax

from typed_nnx._core.cells import Bounded
from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.settings import MISSING, Missing
from typed_nnx._transforms.axis_metadata import (
    NO_METADATA,
    PARTITION_NAME,
    AxisMetadata,
    named_axis,
)
from typed_nnx._transforms.engine.argnums import resolve
from typed_nnx._transforms.engine.call import Call
from typed_nnx._transforms.engine.explain import shown
from typed_nnx._transforms.engine.lift import P, R
from typed_nnx._transforms.engine.prefixes import AxisPrefix, CarryPrefix, Function, Tree
from typed_nnx._transforms.engine.signature import TraceResult
from typed_nnx._transforms.jit import Device
from typed_nnx._transforms.mapped import Axes, Mapped, check_broadcast


class Vmapped(Mapped[P, R]):
    """A vectorised function; what `vmap` returns."""

    transform = "vmap"
    _has_one_size = True
    _shows_inputs = False

    def _run(self, call: Call) -> TraceResult:
        ins, outs = self._prefixes(call)
        options = self._options
        check = functools.partial(check_broadcast, self._lift.title, call, options.outs)
        flat = self._flat(call.signature, check)
        mapped = jax.vmap(flat, in_axes=ins, out_axes=outs, **options.rest)
        return mapped(call.args, call.kwargs, call.captured)


@overload
def vmap(
    f: Callable[P, R],
    *,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, R]: ...
@overload
def vmap(
    *,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@hides_frames
def vmap(
    f: Function | Missing = MISSING,
    *,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
    transform_metadata: Mapping[str, Any] = NO_METADATA,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Vectorise a function of Modules and arrays over a new axis, as `jax.vmap` does for arrays.

    The Variables of a Module are mapped over the axis that ``in_axes`` gives for it, for all of them
    or, with `StateAxes`, by filter; what they hold afterwards is stacked along the same axis. What
    the function closes over is broadcast.

    >>> import jax.numpy as jnp
    >>> class Scale(Module):
    ...     def __init__(self, factor):
    ...         self.factor = Param(factor)
    >>> scales = vmap(Scale)(jnp.arange(3.0))
    >>> scales.factor.shape
    (3,)
    >>> vmap(lambda scale, x: scale.factor * x, in_axes=(0, None))(scales, jnp.ones(2)).shape
    (3, 2)

    Args:
        f: The function. Without it a decorator is returned.
        in_axes: An axis for all positional arguments, or one for each: an int, None for
            broadcasting, a tree of them, or `StateAxes` for a Module.
        out_axes: The same for the result.
        axis_name: The name of the axis for collectives.
        axis_size: The size of the axis, where no argument says it.
        spmd_axis_name: The mesh axes over which the axis is sharded.
        transform_metadata: With the key ``nnx.PARTITION_NAME`` the name of the axis in the sharding
            metadata of Variables.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        BroadcastChangedError: A Variable that is broadcast got a value that differs along the axis.
        PrefixConflictError: A Variable is reached on two paths with different axes.
        NoFilterMatchedError: No filter of a `StateAxes` matches a Variable.
    """
    rest = {"axis_name": axis_name, "axis_size": axis_size, "spmd_axis_name": spmd_axis_name}
    metadata = named_axis("vmap", transform_metadata)
    options = Axes(in_axes, out_axes, metadata=metadata, rest=rest)
    return Vmapped.of(f, graph, graph_updates, options)


# What is captured and what is given by name come first.
_BEFORE = 2

_STATICS, _DONATED = "static_broadcasted_argnums", "donate_argnums"


class Pmapped(Mapped[P, R]):
    """A function over devices; what `pmap` returns."""

    transform = "pmap"
    _has_one_size = True
    _is_placed = True

    def _check_options(self) -> None:
        super()._check_options()
        function, rest = self._lift.function, dict(self._options.rest)
        statics, donated = rest[_STATICS], rest[_DONATED]
        self._statics, _ = resolve("static_broadcasted", function, statics, None)
        self._donated, _ = resolve("donate", function, donated, None)
        rest[_STATICS] = [number + _BEFORE for number in self._statics]
        rest[_DONATED] = [number + _BEFORE for number in self._donated]
        self._rest = rest

    def _prepare(self) -> None:
        # jax compiles once for each function that it gets.
        self._compiled: Bounded[Any, Callable[..., TraceResult]] = Bounded(64)

    def _run(self, call: Call) -> TraceResult:
        key = call.signature.key
        known = self._compiled[key]
        if known is None:
            known = self._compiled.add(key, self._compile(call))
        return known(call.captured, call.kwargs, *call.args)

    def _compile(self, call: Call) -> Callable[..., TraceResult]:
        (ins, keywords, captured), outs = self._prefixes(call)
        # A tuple for what is captured: with single axes only jax 0.10 takes a shortcut that is wrong
        # where some argument has no leaf and another has two.
        captured = (captured,) * len(call.captured)
        flat = self._flat(call.signature)
        mapped: Callable[..., TraceResult] = jax.pmap(
            shown(
                lambda captured, kwargs, *args: flat(args, kwargs, captured), self._lift.function
            ),
            in_axes=(captured, keywords, *ins),
            out_axes=outs,
            **self._rest,
        )
        return mapped


@overload
def pmap(
    f: Callable[P, R],
    *,
    axis_name: Hashable | None = None,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, R]: ...
@overload
def pmap(
    *,
    axis_name: Hashable | None = None,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@hides_frames
def pmap(
    f: Function | Missing = MISSING,
    *,
    axis_name: Hashable | None = None,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
    transform_metadata: Mapping[str, Any] = NO_METADATA,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Run a function of Modules and arrays on several devices, as `jax.pmap` does for arrays.

    Each device has one index of the mapped axis of each value. The axes are given as in `vmap`.
    Values without an axis are on every device; if the function gives them values that differ from
    device to device, the first counts, as in jax. Afterwards all Variables of the arguments are on
    the devices (with ``graph_updates=False`` those that changed).

    >>> import jax.numpy as jnp
    >>> total = BatchStat(jnp.zeros((1, 2)))
    >>> @pmap
    ... def add(total, x):
    ...     total[...] += x
    >>> add(total, jnp.ones((1, 2)))
    >>> total[...].tolist()
    [[1.0, 1.0]]

    Args:
        f: The function. Without it a decorator is returned.
        axis_name: The name of the axis for collectives.
        in_axes: An axis for all positional arguments, or one for each: an int, None, a tree of
            them, or `StateAxes` for a Module.
        out_axes: The same for the result.
        static_broadcasted_argnums: Positions of arguments that are static: hashable, and compared
            by value.
        devices: The devices; by default the first of the local ones.
        backend: The backend to run on.
        axis_size: The size of the axis.
        donate_argnums: Positions of arguments whose buffers XLA may reuse.
        transform_metadata: With the key ``nnx.PARTITION_NAME`` the name of the axis in the sharding
            metadata of Variables.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        UnhashableError: A static argument has no hash.
        ArgumentError: There is no such argument.
        PrefixError: There is not one axis for each argument.
        PrefixConflictError: A Variable is reached on two paths with different axes.
        NoFilterMatchedError: No filter of a `StateAxes` matches a Variable.
    """
    rest = {
        "axis_name": axis_name, "axis_size": axis_size, "backend": backend, "devices": devices,
        _STATICS: static_broadcasted_argnums, _DONATED: donate_argnums,
    }  # fmt: skip
    metadata = named_axis("pmap", transform_metadata)
    options = Axes(in_axes, out_axes, metadata=metadata, rest=rest)
    return Pmapped.of(f, graph, graph_updates, options)


class WithAxisMetadata(Mapped[P, R]):
    """A function that sees metadata without the mapped axis; what `transform_metadata` returns."""

    transform = "transform_metadata"
    _always_by_position = True

    def _run(self, call: Call) -> TraceResult:
        return self._flat(call.signature)(call.args, call.kwargs, call.captured)


@overload
def transform_metadata(
    f: Callable[P, R],
    *,
    in_axes: CarryPrefix = 0,
    out_axes: CarryPrefix = 0,
    partition: str | None,
    graph: bool | None = None,
) -> Callable[P, R]: ...
@overload
def transform_metadata(
    *,
    in_axes: CarryPrefix = 0,
    out_axes: CarryPrefix = 0,
    partition: str | None,
    graph: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def transform_metadata(
    f: Function | Missing = MISSING,
    *,
    in_axes: CarryPrefix = 0,
    out_axes: CarryPrefix = 0,
    partition: str | None,
    graph: bool | None = None,
) -> Tree:
    """Change the sharding metadata of Variables as a mapped axis does, without mapping values.

    For a function that is called inside a transform of jax which adds an axis: it sees the
    ``out_sharding`` of its Variables without the name of the axis; outside the name is there.

    >>> import jax.numpy as jnp
    >>> def create(x):
    ...     return Param(x, out_sharding=("features",), eager_sharding=False)
    >>> weight = vmap(transform_metadata(create, partition="layers"))(jnp.ones((4, 2)))
    >>> weight.get_metadata("out_sharding")
    ('layers', 'features')

    Args:
        f: The function. Without it a decorator is returned.
        in_axes: The axes of the arguments, as in `vmap`. Arguments given by name count in their
            position. Variables under None or `Carry` are left as they are.
        out_axes: The axes of the result.
        partition: The name of the axis, None for an axis that is not sharded.
        graph: False asserts that the arguments are trees, without shared references.

    Raises:
        ShardingError: An argument has another name, or none, at its axis.
        PrefixError: There is not one axis for each argument.
        PrefixConflictError: A Variable is reached on two paths with different axes.
        NoFilterMatchedError: No filter of a `StateAxes` matches a Variable.
    """
    metadata = AxisMetadata("transform_metadata", {PARTITION_NAME: partition})
    options = Axes(in_axes, out_axes, metadata=metadata)
    return WithAxisMetadata.of(f, graph, None, options)
