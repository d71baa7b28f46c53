"""Linen variables as Variables and back, one by one and as trees, also generated ones."""

from __future__ import annotations

import pickle
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import linen as nn
from flax import struct
from flax.core import meta
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.bridge.sides import FLAX, OURS, Side, assert_as_in_flax, plain
from tests.support.examples import few_or
from typed_nnx import bridge
from typed_nnx.bridge import variables
from typed_nnx.errors import BridgeError, VariableError

A = jnp.arange(6.0).reshape(2, 3)


AUTO = jax.sharding.AxisType.Auto


class Colored(struct.PyTreeNode, meta.AxisMetadata[Any]):
    """A box of a user, with one static field."""

    value: jax.Array
    color: str = struct.field(pytree_node=False, default="red")

    def unbox(self) -> jax.Array:
        return self.value

    def replace_boxed(self, val: Any) -> Any:
        return self.replace(value=val)

    def add_axis(self, index: int, params: Any) -> Any:
        return self

    def remove_axis(self, index: int, params: Any) -> Any:
        return self


class Opaque(meta.AxisMetadata[Any]):
    """A box that shows nothing of what it holds."""

    def __init__(self, value: jax.Array) -> None:
        self.inside = value

    def unbox(self) -> jax.Array:
        return self.inside

    def replace_boxed(self, val: Any) -> Any:
        return Opaque(val)

    def add_axis(self, index: int, params: Any) -> Any:
        return self

    def remove_axis(self, index: int, params: Any) -> Any:
        return self


def mesh() -> jax.sharding.Mesh:
    return jax.make_mesh((1, 1), ("a", "b"), axis_types=(AUTO, AUTO))


BOXES: dict[str, Any] = {
    "partitioned": lambda s: nn.Partitioned(A, ("a", None), mesh=mesh()),
    "logical": lambda s: nn.LogicallyPartitioned(A, ("x", "y"), mesh(), (("x", "a"), ("y", None))),
    "of a user": lambda s: Colored(A, color="blue"),
    "meta": lambda s: s.bridge.NNXMeta(s.nnx.Param, A, {"mine": 3}),
}


@pytest.mark.parametrize("which", sorted(BOXES))
def test_the_fields_of_a_box_become_metadata(which: str) -> None:
    assert_as_in_flax(lambda s: s.bridge.variables.to_nnx_var("params", BOXES[which](s)))


@pytest.mark.parametrize("which", ["partitioned", "logical", "meta"])
def test_a_variable_of_a_box_becomes_that_box_again(which: str) -> None:
    def scenario(side: Side) -> Any:
        made = side.bridge.variables
        return made.to_linen_var(made.to_nnx_var("params", BOXES[which](side)))

    assert_as_in_flax(scenario)


def test_a_box_of_a_user_comes_back_too() -> None:
    there = variables.to_nnx_var("params", Colored(A, color="blue"))
    back = variables.to_linen_var(there)
    assert type(back) is Colored
    assert back.color == "blue"
    assert (back.value == A).all()


def test_a_box_is_placed_on_the_mesh_that_it_names() -> None:
    def scenario(side: Side) -> Any:
        found = side.bridge.variables.to_nnx_var("params", BOXES["logical"](side))
        return str(found.get_value().sharding)

    assert_as_in_flax(scenario)


VARIABLES: dict[str, Any] = {
    "plain": lambda n: n.Param(A),
    "with metadata": lambda n: n.Param(A, mine=3),
    "of another type": lambda n: n.BatchStat(A, mine=3),
    "to be placed later": lambda n: n.Param(A, out_sharding=("a", "b"), eager_sharding=False),
    "kept in a reference": lambda n: n.Param(A, ref=True),
    "not placed": lambda n: n.Param(A, eager_sharding=False),
    "a tree": lambda n: n.Param({"q": A}),
}


@pytest.mark.parametrize("which", sorted(VARIABLES))
def test_a_variable_becomes_what_flax_makes_of_it(which: str) -> None:
    def scenario(side: Side) -> Any:
        variable = VARIABLES[which](side.nnx)
        made = side.bridge.variables
        return made.is_vanilla_variable(variable), made.to_linen_var(variable)

    assert_as_in_flax(scenario)


TREES: dict[str, Any] = {
    "two levels": {"params": {"a": {"k": A}, "b": A}, "cache": {"a": {"c": A}}},
    "tuples are values": {"intermediates": {"seen": (A, A)}},
    "lists and None are values": {"odd": {"a": [A], "b": {"c": (A, None, 3)}, "d": None}},
    "empty levels": {"params": {}, "cache": {"a": {}}},
    "nothing": {},
}


@pytest.mark.parametrize("which", sorted(TREES))
def test_trees_become_attributes_and_come_back_as_in_flax(which: str) -> None:
    def scenario(side: Side) -> Any:
        attrs = side.bridge.variables.linen_vars_to_nnx_attrs(TREES[which])
        return attrs, list(attrs), side.bridge.variables.nnx_attrs_to_linen_vars(attrs)

    _, _, back = assert_as_in_flax(scenario)
    if which in ("two levels", "tuples are values"):
        assert back == plain(TREES[which])


def test_subclasses_are_sorted_before_their_bases() -> None:
    def scenario(side: Side) -> Any:
        n = side.nnx
        types = [n.Variable, n.Intermediate, n.Perturbation, n.RngState, n.RngKey, n.Param]
        return list(side.bridge.variables.sort_variable_types(types))

    assert_as_in_flax(scenario)


def test_the_collection_of_a_path_is_its_first_key() -> None:
    [(path, _)] = jax.tree_util.tree_leaves_with_path({"params": {"a": 1}})
    assert variables.get_col_name(path) == "params"


# -- NNXMeta -----------------------------------------------------------------------------------------

META: dict[str, Any] = {
    "unbox": lambda m: m.unbox(),
    "replace_boxed": lambda m: m.replace_boxed(1),
    "replace": lambda m: m.replace(value=2),
    "add_axis": lambda m: m.add_axis(0, {nn.PARTITION_NAME: "z"}),
    "remove_axis": lambda m: m.remove_axis(0, {nn.PARTITION_NAME: "a"}),
    "a leaf for jax": lambda m: jax.tree.leaves(m),
    "doubled by jax": lambda m: jax.tree.map(lambda a: 2 * a, m),
    "unboxed by Linen": lambda m: nn.unbox({"k": m}),
    "equal": lambda m: m == m.replace(),
}


@pytest.mark.parametrize("what", sorted(META))
def test_nnx_meta_does_what_it_does_in_flax(what: str) -> None:
    metadata = {"mine": 1, "out_sharding": ("a", "b")}
    assert_as_in_flax(lambda s: META[what](s.bridge.NNXMeta(s.nnx.Param, A, dict(metadata))))


def test_nnx_meta_gives_the_variable_back() -> None:
    assert_as_in_flax(lambda s: s.bridge.NNXMeta(s.nnx.Param, A, {"mine": 1}).to_nnx_variable())


SPECS: dict[str, Any] = {
    "none": {},
    "names": {"out_sharding": ("a", "b"), "mesh": mesh()},
    "rules": {"out_sharding": ("x", "b"), "sharding_rules": (("x", "a"),), "mesh": mesh()},
}


@pytest.mark.parametrize("which", sorted(SPECS))
def test_linen_finds_the_partition_spec_of_nnx_meta(which: str) -> None:
    def scenario(side: Side) -> Any:
        box = side.bridge.NNXMeta(side.nnx.Param, A, SPECS[which])
        return str(box.get_partition_spec()), str(nn.get_partition_spec({"k": box}))

    assert_as_in_flax(scenario)


def test_nnx_meta_survives_pickle_and_is_frozen() -> None:
    box = bridge.NNXMeta(nnx.Param, A, {"mine": 1})
    loaded = pickle.loads(pickle.dumps(box))
    assert plain(loaded) == plain(box)
    with pytest.raises(AttributeError, match="value"):
        box.value = A + 1


def test_bridge_initializers_with_partitioning_become_partitioned_in_linen() -> None:
    def scenario(side: Side) -> Any:
        make = side.bridge.with_partitioning(nn.initializers.ones, ("a", None), mesh())
        variable = side.nnx.Param(make(jax.random.key(0), (2, 3)))
        return variable, side.bridge.variables.to_linen_var(variable)

    assert_as_in_flax(scenario)


# -- wrong use ---------------------------------------------------------------------------------------


def test_two_collections_with_one_path_are_refused() -> None:
    with pytest.raises(BridgeError, match="'cache' and 'params'"):
        variables.linen_vars_to_nnx_attrs({"params": {"a": A}, "cache": {"a": A}})


@pytest.mark.parametrize("first", ["cache", "stats"])
def test_a_variable_with_the_path_of_a_level_is_refused(first: str) -> None:
    with pytest.raises(BridgeError, match="path \\('a',\\)"):
        variables.linen_vars_to_nnx_attrs({"params": {"a": A}, first: {"a": {"b": A}}})


@pytest.mark.parametrize("value", [A, None, [nnx.Param(A)]], ids=["array", "none", "list"])
def test_what_is_no_variable_has_no_collection(value: Any) -> None:
    with pytest.raises(BridgeError, match="at a/b"):
        variables.nnx_attrs_to_linen_vars({"a": {"b": value}})


def test_a_variable_type_without_a_name_has_no_collection() -> None:
    class Unnamed(nnx.Variable[Any]):
        pass

    with pytest.raises(VariableError, match="Unnamed"):
        variables.nnx_attrs_to_linen_vars({"a": Unnamed(A)})


@pytest.mark.parametrize("path", [(), (jax.tree_util.SequenceKey(0),), ("params",)])
def test_a_path_that_begins_otherwise_has_no_collection(path: Any) -> None:
    with pytest.raises(BridgeError, match="the beginning of a path"):
        variables.get_col_name(path)


def test_a_meta_of_another_type_than_its_collection_is_refused() -> None:
    with pytest.raises(BridgeError, match="holds a BatchStat"):
        variables.to_nnx_var("params", bridge.NNXMeta(nnx.BatchStat, A, {}))


def test_a_box_that_shows_nothing_is_refused() -> None:
    with pytest.raises(BridgeError, match="Opaque: it is not a dataclass with a field `value`"):
        variables.to_nnx_var("params", Opaque(A))


def test_a_variable_that_lost_the_metadata_of_its_box_is_refused() -> None:
    variable = nnx.Param(A, linen_meta_type=nn.Partitioned)
    with pytest.raises(BridgeError, match=r"needs \['names'\]"):
        variables.to_linen_var(variable)


# -- laws of the conversion of trees of Linen variables, over generated trees -----------------------


NAMES = st.sampled_from(["a", "b", "Dense_0", "kernel", "é"])


VALUES = st.one_of(
    st.integers(0, 3).map(lambda n: jnp.arange(n)),
    st.floats(-1, 1).map(jnp.float32),
    st.tuples(st.just(jnp.ones(2)), st.integers(0, 9)),
)


LEVELS: Any = st.recursive(
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=3),
    lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=3),
    max_leaves=6,
)


def trees() -> Any:
    """Return trees of one collection per top-level name, so that no two share a path."""
    cols = st.sampled_from(["params", "batch_stats", "made_up"])
    return st.dictionaries(cols, LEVELS, max_size=3).map(
        lambda tree: {col: {f"{col}_part": level} for col, level in tree.items()}
    )


@given(tree=trees())
@settings(max_examples=few_or(20, 300), deadline=None)
def test_attributes_are_those_of_flax_and_come_back(tree: Any) -> None:
    ours, theirs = OURS.bridge.variables, FLAX.bridge.variables
    attrs = ours.linen_vars_to_nnx_attrs(tree)
    assert plain(attrs) == plain(theirs.linen_vars_to_nnx_attrs(tree))
    assert plain(ours.nnx_attrs_to_linen_vars(attrs)) == plain(tree)


def test_a_variable_for_a_bare_array_becomes_its_value_and_an_array_for_it_replaces_it() -> None:
    node: Any = nnx.Dict(bare=jnp.zeros(2))
    new = nnx.Param(jnp.ones(2))
    assert variables.fill(node, {"bare": new, "other": new}) == [("other",)]
    assert node["bare"] is new.get_value()
    assert node["other"] is new
    array = jnp.arange(2.0)
    assert variables.fill(node, {"bare": array}) == [("bare",)]
    assert node["bare"] is array
