"""What goes wrong with transforms: structures, static arguments, stages, axes and sharding."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx as flax_nnx
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.errors.case import Bag, Case, assign
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


CASES = [
    # -- transforms ------------------------------------------------------------------------------
    Case(
        "a new attribute without graph_updates",
        errors.StructureChangedError,
        lambda: nnx.jit(grow, graph_updates=False)(bag()),
        ("jit of grow at ", "transform_cases.py:", "m.layer.new was added (a Param)"),
        "allow it with graph_updates=True",
    ),
    Case(
        "a change of a Module of flax.nnx",
        errors.ForeignModuleError,
        lambda: nnx.jit(grow_guest)(Guest()),
        (
            "jit of grow_guest at ",
            "transform_cases.py:",
            "guest has a Guest of flax.nnx",
            "changed",
        ),
        "build Guest with `import typed_nnx as nnx`",
    ),
    Case(
        "another static value without graph_updates",
        errors.StructureChangedError,
        lambda: nnx.jit(lambda m: assign(m.layer, "mode", "eval"), graph_updates=False)(bag()),
        ("jit of ", "m.layer.mode was added (the static value 'eval')"),
        "change the structure outside",
    ),
    Case(
        "an argument returned without graph_updates",
        errors.SharedReferenceError,
        lambda: nnx.jit(layer_of, graph_updates=False)(bag()),
        (
            "jit of layer_of at ",
            "Duplicate Param found at paths:",
            "m.layer.w",
            "result.kept.w",
        ),
        "return nnx.clone(...) of it, or nothing, since changes are seen outside",
    ),
    Case(
        "a captured object returned from a tree transform",
        errors.SharedReferenceError,
        lambda: (lambda m: nnx.vmap(lambda x: m.layer, graph=False)(jnp.ones(2)))(bag()),
        ("vmap of ", "Duplicate Param found at paths:", "captured Bag.layer.w", "result.w"),
        "transform with graph=True and graph_updates=True",
    ),
    Case(
        "an exported program that would lose a change",
        errors.ExportError,
        lambda: nnx.export(lambda m: assign(m.layer, "w", m.layer.w + 1), bag())(),
        ("export of ", "the function changes what the program would not return: layer.w."),
        "nnx.export(f, model, mutable=nnx.Cache) returns them",
    ),
    Case(
        "a donated array that is used twice",
        errors.DonationError,
        donated_twice,
        ("jit of scaled at ", "m.layer.w", "    x"),
        "copy it with jnp.copy(...)",
    ),
    Case(
        "an array that was donated before",
        errors.DonationError,
        donated_before,
        ("jit of scaled at ", "the array at m.layer.w has been deleted or donated"),
        "use what that call returned",
        RuntimeError,
    ),
    Case(
        "a static argument with no hash, by name",
        errors.UnhashableError,
        lambda: nnx.jit(scaled, static_argnames="x")(bag(), x=[1]),
        ("jit of scaled at ", "the static argument 'x' has no hash", "list [1]"),
        "a tuple for a list",
        TypeError,
    ),
    Case(
        "a static argument that is a Module",
        errors.ArgumentError,
        lambda: nnx.jit(scaled, static_argnums=0)(bag(), 1.0),
        ("jit of scaled at ", "the static argument 0 (", "is or holds a Module or Variable (Bag)"),
        "leave it out of static_argnums and static_argnames",
    ),
    Case(
        "a static argument that is a Module, by name",
        errors.ArgumentError,
        lambda: nnx.jit(scaled, static_argnames="x")(bag(), x=(bag(),)),
        ("jit of scaled at ", "the static argument 'x'", "(tuple)"),
        "leave it out of static_argnums and static_argnames",
    ),
    Case(
        "a static argument that there is not",
        errors.ArgumentError,
        lambda: nnx.jit(scaled, static_argnums=2),
        ("static_argnums: scaled at ", "has no argument 2; it takes 2 positional arguments"),
        "positions count from 0",
    ),
    Case(
        "a donated argument by a wrong name",
        errors.ArgumentError,
        lambda: nnx.jit(grow, donate_argnames="model"),
        ("donate_argnames: grow at ", "has no argument 'model'; it takes 1 positional argument."),
        "name an argument that the function has",
    ),
    Case(
        "a text as the number of splits",
        errors.ArgumentTypeError,
        lambda: nnx.split_rngs(nnx.Rngs(0), splits=WRONG),
        ("split_rngs: ", "`splits` is 'many' (str)", "an int of 0 or more"),
        "split_rngs(..., splits=4)",
        TypeError,
    ),
    Case(
        "fewer than no splits",
        errors.ArgumentTypeError,
        lambda: nnx.fork_rngs(nnx.Rngs(0), split=-1),
        ("fork_rngs: ", "`split` is -1 (int)", "an int of 0 or more"),
        "fork_rngs(..., split=4)",
        TypeError,
    ),
    Case(
        "a wrong number of splits of one stream",
        errors.ArgumentTypeError,
        lambda: nnx.fork_rngs(nnx.Rngs(0), split={"default": WRONG}),
        ("fork_rngs: ", "`split['default']` is 'many' (str)"),
        "fork_rngs(..., split={'default': 4})",
        TypeError,
    ),
    Case(
        "an axis of several splits to squeeze",
        errors.ArgumentError,
        lambda: nnx.split_rngs(nnx.Rngs(0), splits=2, squeeze=True),
        ("split_rngs: ", "squeeze=True", "splits=2"),
        "split_rngs(..., splits=1, squeeze=True)",
    ),
    # -- stages ----------------------------------------------------------------------------------
    Case(
        "a static value that a function was not compiled for",
        errors.CompiledCallError,
        in_another_mode,
        ("scaled_bag at ", "bag.mode was the static value 'train', is the static value 'eval'"),
        "call it with arguments of the same structure",
        TypeError,
    ),
    Case(
        "a shape that a function was not compiled for",
        errors.CompiledCallError,
        lambda: nnx.jit(scaled_bag).lower(sized_bag(), 2.0).compile()(sized_bag(4), 2.0),
        ("scaled_bag at ", "bag.weight", "float32[3] before, float32[4] now"),
        "or call the function that nnx.jit returned",
        TypeError,
    ),
    Case(
        "fewer arguments than a function was compiled for",
        errors.CompiledCallError,
        lambda: nnx.jit(scaled_bag).lower(sized_bag(), 2.0).compile()(sized_bag()),
        ("scaled_bag at ", "2 positional arguments before, 1 now"),
        "call it with arguments of the same structure",
        TypeError,
    ),
    Case(
        "a keyword argument that a function was not compiled for",
        errors.CompiledCallError,
        lambda: nnx.jit(scaled_bag).lower(sized_bag(), 2.0).compile()(sized_bag(), 2.0, y=1.0),
        ("scaled_bag at ", "keyword arguments: [] before, ['y'] now"),
        "call it with arguments of the same structure",
        TypeError,
    ),
    Case(
        "a Module where a function was compiled for an array",
        errors.CompiledCallError,
        lambda: nnx.jit(scaled_bag).lower(sized_bag(), 2.0).compile()(2.0, sized_bag()),
        ("bag: a Bag before, plain values now", "x: plain values before, a Bag now"),
        "call it with arguments of the same structure",
        TypeError,
    ),
    Case(
        "a dict with other keys than a function was compiled for",
        errors.CompiledCallError,
        lambda: nnx.jit(lambda d: d["x"]).lower({"x": 1.0}).compile()({"y": 1.0}),
        ("d: ", "'x'", "before", "'y'", "now"),
        "call it with arguments of the same structure",
        TypeError,
    ),
    Case(
        "a cached_partial of a function that is not jitted",
        errors.ArgumentError,
        lambda: nnx.cached_partial(scaled_bag, sized_bag()),  # type: ignore[call-overload]  # as tested
        ("cached_partial: expected a function made by nnx.jit, got scaled_bag at ",),
        "nnx.cached_partial(nnx.jit(function), ...)",
    ),
    Case(
        "a cached argument whose structure the function changes",
        errors.StructureChangedError,
        grow_what_is_cached,
        (
            "cached_partial of ",
            "bag.mode was the static value 'train', is the static value 'eval'",
        ),
        "change the structure outside, or pass the object to the function that nnx.jit returned",
    ),
    # -- mapped axes -----------------------------------------------------------------------------
    Case(
        "axes of different sizes",
        errors.AxisSizeError,
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
        errors.BroadcastChangedError,
        _replicated,
        ("shard_map", "bag.total", "spec P()", "'data'"),
        "jax.lax.pmean(value, <axis>)",
    ),
    Case(
        "another name of the mapped axis in the sharding",
        errors.ShardingError,
        _other_name,
        ("vmap", "'layers'", "index 0", "('rows', 'in')", "out_sharding of Param"),
        "transform_metadata",
    ),
    Case(
        "too few axes",
        errors.PrefixError,
        lambda: nnx.vmap(lambda x, y: x, in_axes=(0,))(jnp.ones(2), jnp.ones(2)),
        ("vmap of ", ": in_axes", "1 entry", "2 positional arguments"),
        "one entry for each positional argument",
    ),
    Case(
        "a tree of axes for a Module",
        errors.PrefixError,
        lambda: nnx.vmap(lambda bag: 0.0, in_axes=({"total": 0},))(_total()),
        ("vmap of ", ": in_axes", "at bag, ", "a dict with the keys ['total']", "Bag"),
        "StateAxes",
    ),
    Case(
        "an object as axes where structures may change",
        errors.PrefixError,
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
        errors.UnhashableError,
        lambda: nnx.pmap(lambda x, sizes: x, static_broadcasted_argnums=1)(jnp.ones((1, 2)), [1]),
        ("pmap", "argument 1", "list", "[1]"),
        "a tuple for a list",
    ),
    # -- sharding --------------------------------------------------------------------------------
    Case(
        "rules for axes that are no pairs",
        errors.ShardingError,
        lambda: spmd.logical_axis_rules("rows"),  # type: ignore[arg-type]  # the error
        ("logical_axis_rules", "'rows' (str)", "expected pairs"),
        "(('batch', 'data'), ('embed', None))",
    ),
    Case(
        "two rules for one axis",
        errors.ShardingError,
        _inconsistent,
        ("sharding_rules", "'rows'", "'data'", "'model'", "current `logical_axis_rules`"),
        "leave 'rows' out of one of them",
    ),
    Case(
        "an axis that the mesh does not have",
        errors.UnknownMeshAxisError,
        _unknown,
        ("Param ['layer']['w']", "'data'", "is not found in mesh", "('model',)"),
        "nnx.logical_axis_rules((('data', 'model'),))",
    ),
    Case(
        "a new axis without a name",
        errors.ShardingError,
        lambda: spmd.add_axis(_state(), 0, {"name": "layers"}),
        ("add_axis", '"partition_name" is not specified', "['name']", "expected the name"),
        "add_axis(tree, index, {nnx.PARTITION_NAME: 'layers'})",
    ),
]
