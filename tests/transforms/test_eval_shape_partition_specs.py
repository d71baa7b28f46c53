"""`get_partition_spec`, `get_named_sharding`, `with_partitioning`, `add_axis`; compared with flax."""

from __future__ import annotations

import typing as tp
from pathlib import Path

import flax.nnx
import flax.nnx.spmd
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.core.libraries import both
from tests.support.eight_devices import passed_on_eight_devices
from typed_nnx import spmd
from typed_nnx.errors import (
    ShardingError,
    UnknownMeshAxisError,
)

HERE = Path(__file__).parent
MESH = AbstractMesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
hooks_are_deprecated_in_flax = pytest.mark.filterwarnings("ignore:Variable hooks:UserWarning")
RULES = (("a", "data"), ("b", "model"), ("c", None), ("d", ("data", "model")))


@pytest.mark.thorough
def test_sharding_on_eight_devices() -> None:
    assert passed_on_eight_devices(HERE / "sharding_on_devices.py") >= 30


def unplaced(lib: tp.Any, value: tp.Any, **metadata: tp.Any) -> tp.Any:
    return lib.Param(value, eager_sharding=False, **metadata)


def tree_of(lib: tp.Any) -> tp.Any:
    x = jnp.zeros((8, 4))
    return {
        "two": unplaced(lib, x, out_sharding=("data", "model")),
        "one": unplaced(lib, x, out_sharding=("data",)),
        "none": unplaced(lib, x, out_sharding=(None, "model")),
        "several": unplaced(lib, x, out_sharding=(("data", "model"), None)),
        "no names": unplaced(lib, x, out_sharding=()),
        "partition": unplaced(lib, x, out_sharding=P("model")),
        "rules": unplaced(lib, x, out_sharding=("a", "b"), sharding_rules=RULES),
        "rules and a partition": unplaced(lib, x, out_sharding=P("b"), sharding_rules=RULES),
        "not cut": unplaced(lib, x, out_sharding=("c", "a"), sharding_rules=RULES),
        "of two": unplaced(lib, x, out_sharding=("d",), sharding_rules=RULES),
        "no metadata": lib.BatchStat(x),
        "scalar": lib.Param(jnp.float32(1)),
        "number": lib.Param(3),
        "nothing": lib.Param(None),
        "tree": lib.Param({"a": x}),
        "placed tree": unplaced(lib, {"a": x}, out_sharding=("data",)),
        "shape": unplaced(lib, jax.ShapeDtypeStruct((8,), jnp.int32), out_sharding=("data",)),
        "rngs": lib.state(lib.Rngs(0)),
        "array": x,
        "numpy": np.zeros(3),
        "bare shape": jax.ShapeDtypeStruct((8,), jnp.int32),
        "static": 3,
        "text": "text",
        "empty": None,
    }


def flat(tree: tp.Any, lib: tp.Any) -> dict[str, tp.Any]:
    found = {}
    leaves = jax.tree_util.tree_leaves_with_path(
        tree, is_leaf=lambda x: isinstance(x, lib.Variable) or x is None
    )
    for path, leaf in leaves:
        key = jax.tree_util.keystr(path)
        if isinstance(leaf, lib.Variable):
            found[key] = type(leaf).__name__, leaf.get_raw_value(), leaf.get_metadata()
        else:
            found[key] = leaf
    return found


def test_partitions_are_those_of_flax() -> None:
    ours = flat(spmd.get_partition_spec(tree_of(nnx)), nnx)
    assert ours == flat(flax.nnx.get_partition_spec(tree_of(flax.nnx)), flax.nnx)
    assert ours["['of two']"][1] == P(("data", "model"))


def test_named_shardings_are_those_of_flax() -> None:
    ours = flat(spmd.get_named_sharding(tree_of(nnx), MESH), nnx)
    assert ours == flat(flax.nnx.get_named_sharding(tree_of(flax.nnx), MESH), flax.nnx)
    assert ours["['rules']"][1] == NamedSharding(MESH, P("data", "model"))


NAMES = st.sampled_from([None, "a", "b", "c", "data", "model", ("data", "model"), ("a", "b")])
TARGETS = st.sampled_from(["data", "model", None, ("data", "model")])
RULE_SETS = st.lists(st.tuples(st.sampled_from(["a", "b", "data"]), TARGETS), max_size=3)


def partition(lib: tp.Any, names: tp.Any, own: tp.Any, in_force: tp.Any) -> tp.Any:
    rules = spmd.logical_axis_rules if lib is nnx else flax.nnx.logical_axis_rules
    variable = unplaced(lib, jnp.zeros(2), out_sharding=names, sharding_rules=own)
    with rules(in_force):
        try:
            return lib.spmd.get_var_pspec(variable)
        except ValueError:
            return ValueError


def _unambiguous(rules: list[tuple[str, tp.Any]]) -> tuple[tuple[str, tp.Any], ...]:
    return tuple(dict(rules).items())


@settings(max_examples=60, deadline=None)
@given(st.lists(NAMES, max_size=3).map(tuple), RULE_SETS.map(_unambiguous), RULE_SETS)
def test_rules_in_force_and_of_the_variable_combine_as_in_flax(
    names: tp.Any, own: tp.Any, in_force: tp.Any
) -> None:
    expected = partition(flax.nnx, names, own, tuple(in_force))
    assert partition(nnx, names, own, tuple(in_force)) == expected


def test_the_tree_stays_as_it_was_and_a_shared_variable_stays_one() -> None:
    shared = unplaced(nnx, jnp.zeros(2), out_sharding=("data",))
    tree = {"a": shared, "b": shared}
    found = spmd.get_partition_spec(tree)
    assert found["a"] is found["b"]
    assert found["a"] is not shared
    assert isinstance(shared.get_value(), jax.Array)


def test_a_partition_keeps_what_it_says_about_reductions() -> None:
    spec: tp.Any = P
    variable = unplaced(nnx, jnp.zeros(2), out_sharding=spec("a", unreduced={"model"}))
    with spmd.logical_axis_rules(RULES):
        assert spmd.get_var_pspec(variable) == spec("data", unreduced={"model"})


def test_a_sharding_in_the_metadata_gives_its_partition() -> None:
    variable = unplaced(nnx, jnp.zeros(2), out_sharding=NamedSharding(MESH, P("data")))
    assert spmd.get_var_pspec(variable) == P("data")


def test_a_variable_that_lives_in_a_reference_has_a_partition() -> None:
    variable = nnx.Param(jnp.zeros(2), ref=True, eager_sharding=False, out_sharding=("data",))
    assert spmd.get_partition_spec(variable).get_value() == P("data")


def test_a_module_has_partitions_in_the_place_of_values() -> None:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.w = unplaced(nnx, jnp.zeros((2, 3)), out_sharding=("data", None))
            self.b = nnx.data(jnp.zeros(3))
            self.n = 3

    found: tp.Any = spmd.get_partition_spec(Model())
    assert (found.w.get_value(), found.b, found.n) == (P("data", None), P(), 3)


def test_a_new_variable_that_names_an_unknown_axis_is_an_error() -> None:
    mesh = jax.make_mesh((1,), ("data",), axis_types=(AxisType.Auto,))
    with pytest.raises(UnknownMeshAxisError, match="'embed'"):
        nnx.Param(jnp.zeros(2), out_sharding=("embed",), mesh=mesh)


@both
@pytest.mark.parametrize("names", [(), [], P()], ids=["tuple", "list", "partition"])
def test_a_sharding_without_names_places_nothing_and_needs_no_mesh(
    lib: tp.Any, names: tp.Any
) -> None:
    variable = lib.Param(jnp.zeros(()), out_sharding=names)
    assert len(variable.get_value().devices()) == 1
    assert lib.spmd.get_var_pspec(variable) == P()


def test_the_shape_of_what_is_not_cut_lies_everywhere_if_there_is_a_mesh() -> None:
    shape = jax.ShapeDtypeStruct((), jnp.float32)
    variable = nnx.Param(shape, out_sharding=())
    assert spmd.as_abstract(variable).get_value() == shape
    mesh = jax.make_mesh((1,), ("data",), axis_types=(AxisType.Auto,))
    with jax.set_mesh(mesh):
        assert spmd.as_abstract(variable).get_value().sharding.spec == P()


# -- with_partitioning -------------------------------------------------------------------------


@hooks_are_deprecated_in_flax
@both
def test_an_initializer_with_partitioning_carries_sharding_and_metadata(lib: tp.Any) -> None:
    wrap = lib.spmd.with_partitioning

    def ones(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        return jnp.ones(shape)

    init = wrap(ones, ("data", None), note="x", on_get_value=lambda v, x: x * 2)
    assert init.__name__ == "ones"
    made = init(jax.random.key(0), (2, 3))
    assert made.metadata == {"out_sharding": ("data", None), "mesh": None, "note": "x"}
    variable = lib.Param(made, eager_sharding=False)
    assert (variable.note, variable.get_metadata("out_sharding")) == ("x", ("data", None))
    assert float(variable[...].sum()) == 12
    mesh = jax.make_mesh((1,), ("data",), axis_types=(AxisType.Auto,))
    placed = lib.Param(wrap(ones, ("data", None), mesh)(jax.random.key(0), (2, 3)))
    assert placed.get_value().sharding == NamedSharding(mesh, P("data", None))


# -- add_axis, remove_axis ---------------------------------------------------------------------


def named(lib: tp.Any, names: tp.Any = ("a", "b"), **metadata: tp.Any) -> tp.Any:
    return lib.State({"p": unplaced(lib, jnp.zeros((8, 4)), out_sharding=names, **metadata)})


@both
@pytest.mark.parametrize(
    ("index", "names"),
    [(0, ("l", "a", "b")), (1, ("a", "l", "b")), (2, ("a", "b", "l")), (3, ("a", "b", None, "l"))],
)
def test_a_new_axis_is_named_where_it_was_added(lib: tp.Any, index: int, names: tp.Any) -> None:
    state = named(lib)
    made = lib.spmd.add_axis(state, index, {lib.spmd.PARTITION_NAME: "l"})
    assert made["p"] is state["p"]
    assert made["p"].get_metadata("out_sharding") == names


@hooks_are_deprecated_in_flax
@both
def test_adding_and_removing_an_axis_undo_each_other_and_run_the_hooks(lib: tp.Any) -> None:
    calls: list[tp.Any] = []
    state = named(
        lib,
        on_add_axis=lambda v, *where: calls.append(("add", *where)),
        on_remove_axis=lambda v, *where: calls.append(("remove", *where)),
    )
    options = {lib.spmd.PARTITION_NAME: "l"}
    lib.spmd.add_axis(state, 1, options)
    lib.spmd.remove_axis(state, 1, options)
    assert state["p"].get_metadata("out_sharding") == ("a", "b")
    assert calls == [("add", 1, "l"), ("remove", 1, "l")]


@pytest.mark.thorough
def test_a_negative_index_counts_from_the_end_and_a_shared_variable_changes_once() -> None:
    variable = unplaced(nnx, jnp.zeros((8, 4)), out_sharding=("a", "b"))
    options = {spmd.PARTITION_NAME: "l"}
    spmd.add_axis({"x": variable, "y": variable}, -1, options)
    assert variable.get_metadata("out_sharding") == ("a", "b", "l")
    spmd.remove_axis(variable, -1, options)
    assert variable.get_metadata("out_sharding") == ("a", "b")
    with pytest.raises(ShardingError):
        spmd.remove_axis(variable, 2, options)
    with pytest.raises(ShardingError):
        spmd.add_axis(variable, 0, {})
