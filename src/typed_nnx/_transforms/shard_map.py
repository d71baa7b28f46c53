"""`shard_map`: functions of the blocks that lie on each device of a mesh."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from collections.abc import Set as AbstractSet
from typing import overload

import jax
from jax.sharding import AbstractMesh, Mesh

from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.settings import MISSING, Missing
from typed_nnx._transforms.engine.call import Call
from typed_nnx._transforms.engine.lift import P, R
from typed_nnx._transforms.engine.prefixes import Function, SpecPrefix, Tree
from typed_nnx._transforms.engine.signature import TraceResult
from typed_nnx._transforms.mapped import Axes, Mapped, check_replicated
from typed_nnx._transforms.partition_specs import REPLICATED


class ShardMapped(Mapped[P, R]):
    """A function of blocks; what `shard_map` returns."""

    transform = "shard_map"
    _ins_name = "in_specs"
    _outs_name = "out_specs"
    _always_by_position = True
    _is_placed = True

    def _run(self, call: Call) -> TraceResult:
        ins, outs = self._prefixes(call)
        check = None
        options = self._options
        if options.rest["check_vma"]:
            check = functools.partial(check_replicated, self._lift.title, call, options.outs)
        mapped = jax.shard_map(
            self._flat(call.signature, check),
            in_specs=ins,
            out_specs=_without_none(outs),
            **options.rest,
        )
        return mapped(call.args, call.kwargs, call.captured)


def _without_none(specs: Tree) -> Tree:
    return jax.tree.map(
        lambda spec: REPLICATED if spec is None else spec, specs, is_leaf=lambda spec: spec is None
    )


@overload
def shard_map(
    f: Callable[P, R],
    *,
    mesh: Mesh | AbstractMesh,
    in_specs: SpecPrefix,
    out_specs: SpecPrefix,
    axis_names: AbstractSet[Hashable] = ...,
    check_vma: bool = True,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, R]: ...
@overload
def shard_map(
    *,
    mesh: Mesh | AbstractMesh,
    in_specs: SpecPrefix,
    out_specs: SpecPrefix,
    axis_names: AbstractSet[Hashable] = ...,
    check_vma: bool = True,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@hides_frames
def shard_map(
    f: Function | Missing = MISSING,
    *,
    mesh: Mesh | AbstractMesh,
    in_specs: SpecPrefix,
    out_specs: SpecPrefix,
    axis_names: AbstractSet[Hashable] = frozenset(),
    check_vma: bool = True,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Run a function on each device's block of Modules and arrays, as `jax.shard_map` for arrays.

    The function sees blocks; the blocks that it writes to a Variable are assembled by the same spec.
    Captured objects are whole on every device. Afterwards all Variables of the arguments are on the
    mesh (with ``graph_updates=False`` those that changed).

    >>> import jax
    >>> import jax.numpy as jnp
    >>> from jax.sharding import PartitionSpec
    >>> auto = jax.sharding.AxisType.Auto
    >>> mesh = jax.make_mesh((1,), ("data",), axis_types=(auto,))
    >>> spec = PartitionSpec("data")
    >>> total = BatchStat(jnp.zeros(4))
    >>> @shard_map(mesh=mesh, in_specs=(spec, spec), out_specs=PartitionSpec())
    ... def add(total, x):
    ...     total[...] += x
    ...     return jax.lax.psum(x.sum(), "data")
    >>> float(add(total, jnp.ones(4)))
    4.0
    >>> total[...].tolist()
    [1.0, 1.0, 1.0, 1.0]

    Args:
        f: The function. Without it a decorator is returned.
        mesh: The devices.
        in_specs: A spec for all positional arguments, or one for each: a ``PartitionSpec``, a tree
            of them, or `StateSharding` for a Module; None is ``PartitionSpec()``. Arguments given by
            name count in their position; those that have none are whole on every device.
        out_specs: The same for the result.
        axis_names: The mesh axes that are mapped, by default all; the others are left to XLA.
        check_vma: Check that values whose specs do not name an axis are equal along it.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        BroadcastChangedError: A Variable got a value that differs along an axis which its spec does
            not name.
        PrefixError: There is not one spec for each argument.
        PrefixConflictError: A Variable is reached on two paths with different specs.
        NoFilterMatchedError: No filter of a `StateSharding` matches a Variable.
    """
    rest = {"mesh": mesh, "axis_names": axis_names, "check_vma": check_vma}
    options = Axes(in_specs, out_specs, REPLICATED, REPLICATED, rest=rest)
    return ShardMapped.of(f, graph, graph_updates, options)
