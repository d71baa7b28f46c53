"""Errors of `vmap`, `pmap`, `shard_map` and their prefixes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.errors.case import Bag, Case, assign
from typed_nnx import errors


def _total() -> Any:
    return Bag(total=nnx.BatchStat(jnp.zeros(())))


def _add(bag: Any, x: Any) -> None:
    bag.total[...] += x.sum()


def _shared() -> object:
    return nnx.vmap(_add, in_axes=(None, 0))(_total(), jnp.ones((2, 3)))


def _replicated() -> object:
    mesh = jax.make_mesh((1,), ("data",), axis_types=(AxisType.Auto,))
    specs: Any = (P(), P("data"))
    add = nnx.shard_map(_add, mesh=mesh, in_specs=specs, out_specs=None)
    return add(_total(), jnp.ones((2, 3)))


def _other_name() -> object:
    weight = nnx.Param(jnp.ones((2, 3)), out_sharding=("rows", "in"), eager_sharding=False)
    options = {nnx.PARTITION_NAME: "layers"}
    return nnx.vmap(lambda weight: 0.0, transform_metadata=options)(weight)


def _grown() -> object:
    bag = _total()
    return nnx.vmap(lambda x: assign(bag, "new", nnx.Param(x)), graph_updates=False)(
        jnp.ones((2, 3))
    )


CASES = [
    Case(
        "axes of different sizes",
        errors.AxisSizeError,
        lambda: nnx.vmap(lambda bag, x: 0.0)(
            Bag(w=nnx.Param(jnp.ones((3, 2))), b=nnx.Param(jnp.ones(3))), {"a": jnp.ones(2)}
        ),
        (
            "vmap of ",
            "mapping_cases.py:",
            "inconsistent sizes for array axes to be mapped",
            "size 3: axis 0 of bag.b, float32[3]; axis 0 of bag.w, float32[3,2]",
            "size 2: axis 0 of x['a'], float32[2]",
        ),
        "map over axes of one size",
    ),
    Case(
        "slices along an axis that a Param does not have",
        errors.AxisSizeError,
        lambda: nnx.scan(lambda bag, x: x, in_axes=(1, 0), out_axes=0)(
            Bag(b=nnx.Param(jnp.ones(3))), jnp.ones(3)
        ),
        ("scan of ", "no such axis, the rank is too low: axis 1 of bag.b, float32[3]"),
        "map over axes of one size",
    ),
    Case(
        "a value for each lane in a Variable without axis",
        errors.BroadcastChangedError,
        _shared,
        ("vmap", "axis None", "bag.total"),
        "StateAxes",
    ),
    Case(
        "a value for each device in a Variable that is replicated",
        errors.ReplicatedChangedError,
        _replicated,
        ("shard_map", "bag.total", "spec P()", "'data'"),
        "jax.lax.pmean(value, <axis>)",
    ),
    Case(
        "another name of the mapped axis in the sharding",
        errors.PartitionNameError,
        _other_name,
        ("vmap", "'layers'", "index 0", "('rows', 'in')", "out_sharding of Param"),
        "transform_metadata",
    ),
    Case(
        "too few axes",
        errors.PrefixLengthError,
        lambda: nnx.vmap(lambda x, y: x, in_axes=(0,))(jnp.ones(2), jnp.ones(2)),
        ("vmap of ", ": in_axes", "1 entry", "2 positional arguments"),
        "one entry for each positional argument",
    ),
    Case(
        "a tree of axes for a Module",
        errors.PrefixStructureError,
        lambda: nnx.vmap(lambda bag: 0.0, in_axes=({"total": 0},))(_total()),
        ("vmap of ", ": in_axes", "at bag, ", "a dict with the keys ['total']", "Bag"),
        "StateAxes",
    ),
    Case(
        "an object as axes where structures may change",
        errors.PrefixKindError,
        lambda: nnx.vmap(lambda bag: 0.0, in_axes=nnx.prefix(_total(), {...: 0})),
        ("vmap: ", "Graph nodes are not allowed as prefixes", "Bag in `in_axes`", "total=0"),
        "give a filter for each group of Variables, such as nnx.StateAxes({nnx.Param: 0, ...: None})",
    ),
    Case(
        "a new attribute where structures stay",
        errors.StructureChangedError,
        _grown,
        ("vmap", ".new was added", "Param"),
        "graph_updates=True",
    ),
    Case(
        "a static argument without hash",
        errors.UnhashableArgumentError,
        lambda: nnx.pmap(lambda x, sizes: x, static_broadcasted_argnums=1)(jnp.ones((1, 2)), [1]),
        ("pmap", "argument 1", "list", "[1]"),
        "a tuple for a list",
    ),
]
