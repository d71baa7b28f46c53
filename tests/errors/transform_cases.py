"""What goes wrong with transforms: structures, static arguments, stages, axes and sharding."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx as flax_nnx
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.errors.case import Bag, Cases, assign
from typed_nnx import errors, spmd

WRONG: Any = "many"


def bag() -> Bag:
    """Return a model with a weight, deeper."""
    return Bag(layer=Bag(w=nnx.Param(jnp.ones(3))))


def grow(m: Any) -> None:
    m.layer.new = nnx.Param(jnp.zeros(1))


class Guest(flax_nnx.Module):
    """A Module of the other library."""


def grow_guest(guest: Any) -> None:
    guest.new = flax_nnx.Param(jnp.zeros(1))


def scaled(m: Any, x: Any) -> Any:
    return m.layer.w * x


def layer_of(m: Any) -> Any:
    return {"kept": m.layer}


def donated_twice() -> object:
    model = bag()
    return nnx.jit(scaled, donate_argnums=0)(model, model.layer.w[...])


def donated_before() -> object:
    """Donate a Param of which another Module holds the array."""
    one, other = bag(), bag()
    other.layer.w.set_value(one.layer.w[...])
    nnx.jit(scaled, donate_argnums=0)(other, 1.0)
    return nnx.jit(scaled)(one, 1.0)


def scaled_bag(bag: Bag, x: object) -> object:
    return bag.weight * x


def sized_bag(size: int = 3) -> Bag:
    return Bag(weight=nnx.Param(jnp.ones(size)), mode="train")


def in_another_mode() -> object:
    compiled: Any = nnx.jit(scaled_bag).lower(sized_bag(), 2.0).compile()
    other = sized_bag()
    assign(other, "mode", "eval")
    return compiled(other, 2.0)


def grow_what_is_cached() -> object:
    step = nnx.jit(lambda bag: assign(bag, "mode", "eval"))
    return nnx.cached_partial(step, sized_bag())()


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


def _state() -> Any:
    rules = (("rows", "data"),)
    w = nnx.Param(jnp.zeros(2), out_sharding=("rows",), sharding_rules=rules, eager_sharding=False)
    return nnx.State({"layer": {"w": w}})


def _inconsistent() -> object:
    with spmd.logical_axis_rules((("rows", "model"),)):
        return spmd.get_partition_spec(_state())


def _unknown() -> object:
    mesh = jax.make_mesh((1,), ("model",), axis_types=(AxisType.Auto,))
    return spmd.get_named_sharding(_state(), mesh)


CASES: Cases = {
    errors.StructureChangedError: {
        "a new attribute without graph_updates": (
            lambda: nnx.jit(grow, graph_updates=False)(bag()),
            ("jit of grow at ", "transform_cases.py:", "m.layer.new was added (a Param)"),
            "allow it with graph_updates=True",
        ),
        "another static value without graph_updates": (
            lambda: nnx.jit(lambda m: assign(m.layer, "mode", "eval"), graph_updates=False)(bag()),
            ("jit of ", "m.layer.mode was added (the static value 'eval')"),
            "change the structure outside",
        ),
        "a cached argument whose structure the function changes": (
            grow_what_is_cached,
            (
                "cached_partial of ",
                "bag.mode was the static value 'train', is the static value 'eval'",
            ),
            "change the structure outside, or pass the object to the function that nnx.jit returned",
        ),
        "a new attribute where structures stay": (
            _grown,
            ("vmap", ".new was added", "Param"),
            "graph_updates=True",
        ),
    },
    errors.ForeignModuleError: {
        "a change of a Module of flax.nnx": (
            lambda: nnx.jit(grow_guest)(Guest()),
            (
                "jit of grow_guest at ",
                "transform_cases.py:",
                "guest has a Guest of flax.nnx",
                "changed",
            ),
            "build Guest with `import typed_nnx as nnx`",
        )
    },
    errors.SharedReferenceError: {
        "an argument returned without graph_updates": (
            lambda: nnx.jit(layer_of, graph_updates=False)(bag()),
            (
                "jit of layer_of at ",
                "Duplicate Param found at paths:",
                "m.layer.w",
                "result.kept.w",
            ),
            "return nnx.clone(...) of it, or nothing, since changes are seen outside",
        ),
        "a captured object returned from a tree transform": (
            lambda: (lambda m: nnx.vmap(lambda x: m.layer, graph=False)(jnp.ones(2)))(bag()),
            ("vmap of ", "Duplicate Param found at paths:", "captured Bag.layer.w", "result.w"),
            "transform with graph=True and graph_updates=True",
        ),
    },
    errors.ExportError: {
        "an exported program that would lose a change": (
            lambda: nnx.export(lambda m: assign(m.layer, "w", m.layer.w + 1), bag())(),
            ("export of ", "the function changes what the program would not return: layer.w."),
            "nnx.export(f, model, mutable=nnx.Cache) returns them",
        )
    },
    errors.DonationError: {
        "a donated array that is used twice": (
            donated_twice,
            ("jit of scaled at ", "m.layer.w", "    x"),
            "copy it with jnp.copy(...)",
        ),
        "an array that was donated before": (
            donated_before,
            ("jit of scaled at ", "the array at m.layer.w has been deleted or donated"),
            "use what that call returned",
        ),
    },
    errors.UnhashableError: {
        "a static argument with no hash, by name": (
            lambda: nnx.jit(scaled, static_argnames="x")(bag(), x=[1]),
            ("jit of scaled at ", "the static argument 'x' has no hash", "list [1]"),
            "a tuple for a list",
        ),
        "a static argument without hash": (
            lambda: nnx.pmap(lambda x, sizes: x, static_broadcasted_argnums=1)(
                jnp.ones((1, 2)), [1]
            ),
            ("pmap", "argument 1", "list", "[1]"),
            "a tuple for a list",
        ),
    },
    errors.ArgumentError: {
        "a static argument that is a Module": (
            lambda: nnx.jit(scaled, static_argnums=0)(bag(), 1.0),
            (
                "jit of scaled at ",
                "the static argument 0 (",
                "is or holds a Module or Variable (Bag)",
            ),
            "leave it out of static_argnums and static_argnames",
        ),
        "a static argument that is a Module, by name": (
            lambda: nnx.jit(scaled, static_argnames="x")(bag(), x=(bag(),)),
            ("jit of scaled at ", "the static argument 'x'", "(tuple)"),
            "leave it out of static_argnums and static_argnames",
        ),
        "a static argument that there is not": (
            lambda: nnx.jit(scaled, static_argnums=2),
            ("static_argnums: scaled at ", "has no argument 2; it takes 2 positional arguments"),
            "positions count from 0",
        ),
        "a donated argument by a wrong name": (
            lambda: nnx.jit(grow, donate_argnames="model"),
            (
                "donate_argnames: grow at ",
                "has no argument 'model'; it takes 1 positional argument.",
            ),
            "name an argument that the function has",
        ),
        "an axis of several splits to squeeze": (
            lambda: nnx.split_rngs(nnx.Rngs(0), splits=2, squeeze=True),
            ("split_rngs: ", "squeeze=True", "splits=2"),
            "split_rngs(..., splits=1, squeeze=True)",
        ),
        "a cached_partial of a function that is not jitted": (
            lambda: nnx.cached_partial(scaled_bag, sized_bag()),  # type: ignore[call-overload]  # as tested
            ("cached_partial: expected a function made by nnx.jit, got scaled_bag at ",),
            "nnx.cached_partial(nnx.jit(function), ...)",
        ),
    },
    errors.ArgumentTypeError: {
        "a text as the number of splits": (
            lambda: nnx.split_rngs(nnx.Rngs(0), splits=WRONG),
            ("split_rngs: ", "`splits` is 'many' (str)", "an int of 0 or more"),
            "split_rngs(..., splits=4)",
        ),
        "fewer than no splits": (
            lambda: nnx.fork_rngs(nnx.Rngs(0), split=-1),
            ("fork_rngs: ", "`split` is -1 (int)", "an int of 0 or more"),
            "fork_rngs(..., split=4)",
        ),
        "a wrong number of splits of one stream": (
            lambda: nnx.fork_rngs(nnx.Rngs(0), split={"default": WRONG}),
            ("fork_rngs: ", "`split['default']` is 'many' (str)"),
            "fork_rngs(..., split={'default': 4})",
        ),
    },
    errors.CompiledCallError: {
        "a static value that a function was not compiled for": (
            in_another_mode,
            ("scaled_bag at ", "bag.mode was the static value 'train', is the static value 'eval'"),
            "call it with arguments of the same structure",
        ),
        "a shape that a function was not compiled for": (
            lambda: nnx.jit(scaled_bag).lower(sized_bag(), 2.0).compile()(sized_bag(4), 2.0),
            ("scaled_bag at ", "bag.weight", "float32[3] before, float32[4] now"),
            "or call the function that nnx.jit returned",
        ),
        "fewer arguments than a function was compiled for": (
            lambda: nnx.jit(scaled_bag).lower(sized_bag(), 2.0).compile()(sized_bag()),
            ("scaled_bag at ", "2 positional arguments before, 1 now"),
            "call it with arguments of the same structure",
        ),
        "a keyword argument that a function was not compiled for": (
            lambda: nnx.jit(scaled_bag).lower(sized_bag(), 2.0).compile()(sized_bag(), 2.0, y=1.0),
            ("scaled_bag at ", "keyword arguments: [] before, ['y'] now"),
            "call it with arguments of the same structure",
        ),
        "a Module where a function was compiled for an array": (
            lambda: nnx.jit(scaled_bag).lower(sized_bag(), 2.0).compile()(2.0, sized_bag()),
            ("bag: a Bag before, plain values now", "x: plain values before, a Bag now"),
            "call it with arguments of the same structure",
        ),
        "a dict with other keys than a function was compiled for": (
            lambda: nnx.jit(lambda d: d["x"]).lower({"x": 1.0}).compile()({"y": 1.0}),
            ("d: ", "'x'", "before", "'y'", "now"),
            "call it with arguments of the same structure",
        ),
    },
    errors.AxisSizeError: {
        "axes of different sizes": (
            lambda: nnx.vmap(lambda bag, x: 0.0)(
                Bag(w=nnx.Param(jnp.ones((3, 2))), b=nnx.Param(jnp.ones(3))), {"a": jnp.ones(2)}
            ),
            (
                "vmap of ",
                "transform_cases.py:",
                "inconsistent sizes for array axes to be mapped",
                "size 3: axis 0 of bag.b, float32[3]; axis 0 of bag.w, float32[3,2]",
                "size 2: axis 0 of x['a'], float32[2]",
            ),
            "map over axes of one size",
        ),
        "slices along an axis that a Param does not have": (
            lambda: nnx.scan(lambda bag, x: x, in_axes=(1, 0), out_axes=0)(
                Bag(b=nnx.Param(jnp.ones(3))), jnp.ones(3)
            ),
            ("scan of ", "no such axis, the rank is too low: axis 1 of bag.b, float32[3]"),
            "map over axes of one size",
        ),
    },
    errors.BroadcastChangedError: {
        "a value for each lane in a Variable without axis": (
            _shared,
            ("vmap", "axis None", "bag.total"),
            "StateAxes",
        ),
        "a value for each device in a Variable that is replicated": (
            _replicated,
            ("shard_map", "bag.total", "spec P()", "'data'"),
            "jax.lax.pmean(value, <axis>)",
        ),
    },
    errors.ShardingError: {
        "another name of the mapped axis in the sharding": (
            _other_name,
            ("vmap", "'layers'", "index 0", "('rows', 'in')", "out_sharding of Param"),
            "transform_metadata",
        ),
        "rules for axes that are no pairs": (
            lambda: spmd.logical_axis_rules("rows"),  # type: ignore[arg-type]  # the error
            ("logical_axis_rules", "'rows' (str)", "expected pairs"),
            "(('batch', 'data'), ('embed', None))",
        ),
        "two rules for one axis": (
            _inconsistent,
            ("sharding_rules", "'rows'", "'data'", "'model'", "current `logical_axis_rules`"),
            "leave 'rows' out of one of them",
        ),
        "a new axis without a name": (
            lambda: spmd.add_axis(_state(), 0, {"name": "layers"}),
            ("add_axis", '"partition_name" is not specified', "['name']", "expected the name"),
            "add_axis(tree, index, {nnx.PARTITION_NAME: 'layers'})",
        ),
    },
    errors.PrefixError: {
        "too few axes": (
            lambda: nnx.vmap(lambda x, y: x, in_axes=(0,))(jnp.ones(2), jnp.ones(2)),
            ("vmap of ", ": in_axes", "1 entry", "2 positional arguments"),
            "one entry for each positional argument",
        ),
        "a tree of axes for a Module": (
            lambda: nnx.vmap(lambda bag: 0.0, in_axes=({"total": 0},))(_total()),
            ("vmap of ", ": in_axes", "at bag, ", "a dict with the keys ['total']", "Bag"),
            "StateAxes",
        ),
        "an object as axes where structures may change": (
            lambda: nnx.vmap(lambda bag: 0.0, in_axes=nnx.prefix(_total(), {...: 0})),
            ("vmap: ", "Graph nodes are not allowed as prefixes", "Bag in `in_axes`", "total=0"),
            "give a filter for each group of Variables, such as nnx.StateAxes({nnx.Param: 0, ...: None})",
        ),
    },
    errors.UnknownMeshAxisError: {
        "an axis that the mesh does not have": (
            _unknown,
            ("Param ['layer']['w']", "'data'", "is not found in mesh", "('model',)"),
            "nnx.logical_axis_rules((('data', 'model'),))",
        )
    },
}
