"""`GraphDef`: when two are equal, their hash, pickles, and use as a static argument."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import pickle
import typing as tp

import flax.nnx
import jax
import jax.numpy as jnp
import pytest
from flax.nnx.graphlib import GenericPytree
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.support.peer import Scenario, assert_as_in_flax, scenarios


class Holder(nnx.Module):
    def __init__(self, **attributes: tp.Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    if tp.TYPE_CHECKING:

        def __getattr__(self, name: str) -> tp.Any: ...


class Other(Holder):
    pass


def graphdef_of(value: tp.Any) -> nnx.GraphDef[tp.Any]:
    return nnx.graphdef(Holder(x=value))


NAN = float("nan")
CLASSES: list[tuple[tp.Any, ...]] = [
    (1,), (True,), (1.0,), (-1.0,), (0,), (False,), (0.0,), (-0.0,), (NAN, float("nan"), -math.nan * -1),
    (complex(0.0, 1.0),), (complex(-0.0, 1.0),), ("1",), (b"1",), (None,), (..., Ellipsis), (int,),
    ((1,),), ((True,),), ((1.0,),), ((0.0, (1,)),), ((-0.0, (1,)),), ((0.0, (True,)),), ((NAN,),),
    (frozenset({1, 2}), frozenset({2, 1})), (frozenset({True, 2}),), (len,), (math.sin,),
    (10**400, 10**400), (range(3), range(3)), (("a", None),), ((),),
]  # fmt: skip
"""Static values; those in one tuple are the same, all others differ."""

EVERY = [(group, value) for group, values in enumerate(CLASSES) for value in values]


def test_graphdefs_are_equal_exactly_when_static_values_and_their_types_are() -> None:
    made = [(group, graphdef_of(value)) for group, value in EVERY if value is not None]
    for (a, left), (b, right) in itertools.product(made, made):
        assert (left == right) is (a == b), (left, right)
        assert (hash(left) == hash(right)) or a != b
    assert len({graphdef for _, graphdef in made}) == len({group for group, _ in made})


def test_the_order_of_assignments_does_not_count() -> None:
    w = nnx.Param(1.0)
    assert nnx.graphdef(Holder(a=w, b=2, c=3)) == nnx.graphdef(Holder(c=3, b=2, a=w))
    assert nnx.graphdef({"a": w, "b": 2}) == nnx.graphdef({"b": 2, "a": w})


def test_equal_structures_share_their_parts() -> None:
    first, second = graphdef_of("x"), graphdef_of("x")
    assert first.token is second.token
    assert first.token is not None


def test_a_graphdef_is_unequal_to_anything_else() -> None:
    assert graphdef_of(1) not in (1, None, "x", (graphdef_of(1),))


UNHASHABLE: dict[str, tp.Any] = {
    "list": [1, 2],
    "dict": {"a": 1},
    "set": {1},
    "list in a tuple": (1, [2]),
    "bytearray": bytearray(b"ab"),
}


@pytest.mark.parametrize("value", UNHASHABLE.values(), ids=UNHASHABLE.keys())
def test_values_without_a_hash_are_compared_by_content(value: tp.Any) -> None:
    first, second = graphdef_of(value), graphdef_of(copy.deepcopy(value))
    assert first == second
    assert first != graphdef_of("other")
    assert first != graphdef_of((*value, 3) if isinstance(value, tuple) else [3])


@pytest.mark.parametrize(
    ("left", "right"), [([1], [True]), ([0.0], [-0.0]), ({"a": 1}, {"a": 1.0})], ids=repr
)
def test_types_count_in_values_without_a_hash_too(left: tp.Any, right: tp.Any) -> None:
    assert graphdef_of(left) != graphdef_of(right)
    assert graphdef_of([NAN]) == graphdef_of([float("nan")])


HASHED = {name: value for name, value in UNHASHABLE.items() if name != "bytearray"}


@pytest.mark.parametrize("value", HASHED.values(), ids=HASHED.keys())
def test_lists_dicts_and_sets_are_hashed_by_content(value: tp.Any) -> None:
    assert hash(graphdef_of(value)) == hash(graphdef_of(copy.deepcopy(value)))


def test_pickles_and_copies_are_equal_and_merge() -> None:
    model: tp.Any = Holder(
        a=nnx.Param(jnp.ones(2), note="n"), s=(1, True, -0.0, NAN), inner=Other(x=None)
    )
    model.me = model
    graphdef, state = nnx.split(model)
    for twin in (
        pickle.loads(pickle.dumps(graphdef)),
        copy.copy(graphdef),
        copy.deepcopy(graphdef),
    ):
        assert twin == graphdef
        assert hash(twin) == hash(graphdef)
        merged = nnx.merge(twin, state)
        assert merged.me is merged
        assert nnx.graphdef(merged) == graphdef


def test_a_graphdef_is_a_static_argument_of_jit() -> None:
    traces: list[int] = []

    @functools.partial(jax.jit, static_argnums=0)
    def scale(graphdef: tp.Any, state: tp.Any) -> tp.Any:
        traces.append(1)
        return nnx.merge(graphdef, state).w[...] * nnx.merge(graphdef, state).factor

    for factor, expected in ((2, 2.0), (2, 2.0), (3, 3.0), (2, 2.0), (2.0, 2.0)):
        model = Holder(w=nnx.Param(jnp.ones(())), factor=factor)
        assert float(scale(*nnx.split(model))) == expected
    assert len(traces) == 3, "2, 3 and 2.0 are three structures"


def test_a_graphdef_is_an_empty_pytree_that_jit_returns() -> None:
    graphdef, state = nnx.split(Holder(w=nnx.Param(jnp.ones(())), name="n"))
    assert jax.tree.leaves(graphdef) == []
    returned, _ = jax.jit(lambda g, s: (g, s))(graphdef, state)
    assert returned == graphdef


def test_the_repr_shows_root_counts_and_statics() -> None:
    text = repr(nnx.graphdef(Holder(w=nnx.Param(1.0), name="n")))
    assert text.startswith("GraphDef(Holder, 2 nodes, 1 leaves)")
    assert "name='n'" in text


def equality_classes(nnx: tp.Any) -> tp.Any:
    class Node(nnx.Module):
        def __init__(self, **attributes: tp.Any) -> None:
            for name, value in attributes.items():
                setattr(self, name, value)

    w, v = nnx.Param(1), nnx.Param(2)
    roots = [
        Node(a=w), Node(a=v), Node(b=w), Node(a=w, b=w), Node(a=w, b=v), Node(a=v, b=w), Node(s="x"),
        Node(s="y"), Node(a=Node()), nnx.List([w]), nnx.Dict(a=w), [w], (w,), {"a": w}, Node(s=(1, 2)),
        Node(a=nnx.BatchStat(1)), Node(a=nnx.Param(1, note=1)), Node(a=jnp.ones(2)), Node(a=jnp.ones(3)),
    ]  # fmt: skip
    made = [nnx.graphdef(root) for root in roots]
    return [left == right for left, right in itertools.product(made, made)]


@scenarios(equality_classes)
def test_structures_are_equal_when_they_are_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


statics = st.recursive(
    st.integers(-1, 1)
    | st.booleans()
    | st.sampled_from([0.0, -0.0, 1.0, -1.0, NAN, None, "", b""]),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


def described(value: tp.Any) -> tp.Any:
    """An independent name of a static value: equal names mean the same value of the same type."""
    if isinstance(value, tuple):
        return ("tuple", *map(described, value))
    return (type(value).__name__, repr(value))


@settings(max_examples=150, deadline=None)
@given(statics, statics)
def test_equality_of_nested_tuples_is_equality_of_types_and_values(
    left: tp.Any, right: tp.Any
) -> None:
    first, second = nnx.graphdef(Holder(x=(left,))), nnx.graphdef(Holder(x=(right,)))
    assert (first == second) is (described(left) == described(right))
    assert first != second or hash(first) == hash(second)


def listed(nnx: tp.Any, graph: bool) -> tp.Any:
    """Return what `GraphDef.nodes` says of two objects in a list."""

    class Node(nnx.Module):
        def __init__(self) -> None:
            self.name = "node"
            self.w = nnx.Param(jnp.ones(2))

    node = Node()
    nodes = nnx.split([node, node] if graph else [node, Node()], graph=graph)[0].nodes
    names = {"NodeDef", "NodeRef", "TreeNodeDef", "VariableDef"}
    for found in nodes:
        assert isinstance(found, tuple(getattr(nnx.graphlib, name) for name in names))
    # flax keeps one more node in each object.
    nodes = [node for node in nodes if getattr(node, "type", None) is not GenericPytree]
    found = [type(node).__name__ for node in nodes]
    if not graph:
        return found, nodes[0].type, [path for path, _ in nodes[0].path_index]
    return found, nodes[0].type, nodes[0].num_attributes, nodes[1].type.__name__


@pytest.mark.parametrize("graph", [True, False])
def test_nodes_are_of_the_classes_of_flax(graph: bool) -> None:
    assert listed(nnx, graph) == listed(flax.nnx, graph)


def test_a_structure_lists_its_nodes_as_it_was_split() -> None:
    model = Holder(w=nnx.Param(jnp.ones(2)))
    tree, state = nnx.split(model, graph=False)
    graph, _ = nnx.split(model)
    assert tree == graph
    assert hash(tree) == hash(graph)
    for same in (tree, pickle.loads(pickle.dumps(tree)), nnx.graphdef(model, graph=False)):
        assert isinstance(same.nodes[0], nnx.graphlib.TreeNodeDef)
    merged = nnx.merge(tree, state)
    for same in (graph, nnx.graphdef(merged), nnx.split(merged)[0]):
        assert same.nodes[0] == nnx.graphlib.NodeDef(Holder, 0, None, 1)
