"""The examples of the seed document ``graph_api_reference.txt``.

flax 0.12.8 has no `to_refs`, `to_arrays`, `array_ref` or `ArrayRef`: the document alone says what
they do.
"""

from __future__ import annotations

import re
import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from typed_nnx import Linear

from .printed import assert_printed


class PlainLinear(nnx.Module):
    def __init__(self, din: int, dout: int, *, rngs: nnx.Rngs) -> None:
        self.din, self.dout = din, dout
        self.w = nnx.Param(jax.random.uniform(rngs.next(), (din, dout)))
        self.b = nnx.Param(jnp.zeros((dout,)))


def test_iter_graph_prints_the_bookkeeping_rows_of_the_document() -> None:
    module = PlainLinear(3, 4, rngs=nnx.Rngs(0))
    rows = [f"{path} {type(value).__name__}" for path, value in nnx.iter_graph([module, module])]
    assert_printed(
        "\n".join(rows),
        """
        (0, '_pytree__nodes') HashableMapping
        (0, '_pytree__state') PytreeState
        (0, 'b') Param
        (0, 'din') int
        (0, 'dout') int
        (0, 'w') Param
        (0,) PlainLinear
        () list
        """,
    )


def test_flatten_pairs_paths_with_leaves_or_gives_the_inner_values_alone() -> None:
    model = Linear(2, 3, rngs=nnx.Rngs(0))
    graphdef, flat_state = nnx.flatten(model)
    assert graphdef == nnx.graphdef(model)
    assert [path for path, _ in flat_state] == [("bias",), ("kernel",)]
    leaves = dict(flat_state)
    assert leaves["bias",] is model.bias
    assert leaves["kernel",] is model.kernel
    _, values = nnx.flatten(model, with_paths=False)
    assert isinstance(values, list)
    assert [value.shape for value in values] == [(3,), (2, 3)]


def test_unflatten_reuses_the_variables_unless_told_to_copy_them() -> None:
    model = Linear(2, 3, rngs=nnx.Rngs(0))
    graphdef, flat_state = nnx.flatten(model)
    assert nnx.unflatten(graphdef, flat_state).kernel is model.kernel
    copied = nnx.unflatten(graphdef, flat_state, copy_variables=True)
    assert copied.kernel is not model.kernel
    assert jnp.array_equal(copied.kernel[...], model.kernel[...])


def test_two_nodes_flattened_with_one_index_keep_the_reference_that_they_share() -> None:
    shared = nnx.Param(jnp.ones(2))
    ref_index = nnx.graph.RefMap()
    graphdef1, state1 = nnx.flatten([shared], ref_index=ref_index)
    graphdef2, state2 = nnx.flatten({"x": shared}, ref_index=ref_index)
    assert [len(list(state1)), len(list(state2)), len(ref_index)] == [1, 0, 1]

    index_ref = nnx.graph.IndexMap()
    list_ = nnx.unflatten(graphdef1, state1, index_ref=index_ref)
    dict_ = nnx.unflatten(graphdef2, state2, index_ref=index_ref)
    assert list_[0] is dict_["x"]


# -- call and update contexts ----------------------------------------------------------------------


class StatefulLinear(nnx.Module):
    def __init__(self, din: int, dout: int, rngs: nnx.Rngs) -> None:
        self.w = nnx.Param(jax.random.uniform(rngs(), (din, dout)))
        self.b = nnx.Param(jnp.zeros((dout,)))
        self.count = nnx.Variable(jnp.array(0, dtype=jnp.uint32))

    def increment(self) -> None:
        self.count[...] += 1

    def __call__(self, x: jax.Array) -> jax.Array:
        self.increment()
        return x @ self.w + self.b


class OlderStatefulLinear(StatefulLinear):
    def increment(self) -> None:
        self.count += 1  # as the document spells it; flax 0.12.8 refuses


SPELLINGS = pytest.mark.parametrize("kind", [StatefulLinear, OlderStatefulLinear])


@SPELLINGS
def test_call_runs_the_node_and_returns_its_new_state(kind: type[StatefulLinear]) -> None:
    linear_state = nnx.split(kind(3, 2, nnx.Rngs(0)))

    @jax.jit
    def forward(x: jax.Array, linear_state: tp.Any) -> tp.Any:
        y, linear_state = nnx.call(linear_state)(x)
        return y, linear_state

    x = jnp.ones((1, 3))
    y, linear_state = forward(x, linear_state)
    y, linear_state = forward(x, linear_state)
    linear = nnx.merge(*linear_state)
    assert repr(linear.count.get_value()) == "Array(2, dtype=uint32)"
    assert y.shape == (1, 2)


@SPELLINGS
def test_call_reaches_methods_of_nested_nodes_by_key(kind: type[StatefulLinear]) -> None:
    rngs = nnx.Rngs(0)
    nodes = {"a": kind(3, 2, rngs), "b": kind(2, 1, rngs)}
    node_state = nnx.split(nodes)
    _, node_state = nnx.call(node_state)["b"].increment()
    nodes = nnx.merge(*node_state)
    assert repr(nodes["a"].count.get_value()) == "Array(0, dtype=uint32)"
    assert repr(nodes["b"].count.get_value()) == "Array(1, dtype=uint32)"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_document_reads_the_count_by_the_older_value_attribute() -> None:
    linear = StatefulLinear(3, 2, nnx.Rngs(0))
    linear.increment()
    assert repr(linear.count.value) == "Array(1, dtype=uint32)"


def test_the_current_update_context_is_the_one_of_its_tag() -> None:
    with nnx.update_context("example"):
        ctx = nnx.current_update_context("example")
        assert isinstance(ctx, nnx.graph.UpdateContext)
        assert ctx.tag == "example"
    with pytest.raises(ValueError, match="No update context found for tag 'example'"):
        nnx.current_update_context("example")


# -- arrays behind refs ----------------------------------------------------------------------------


DUPLICATE = re.escape("Found duplicate at paths:\n  ---\n  0\n  1\n  ---")
"""The document's message; ours says how to fix it below."""


def test_to_refs_turns_arrays_into_refs_and_keeps_refs() -> None:
    node = [jnp.array(1.0), nnx.array_ref(jnp.array(2.0))]
    mutable_node = nnx.to_refs(node)
    assert nnx.is_array_ref(mutable_node[0])
    assert nnx.is_array_ref(mutable_node[1])
    assert mutable_node[0][...] == 1.0
    assert mutable_node[1][...] == 2.0


def test_to_refs_refuses_an_array_that_occurs_twice() -> None:
    shared_array = jnp.array(1.0)
    node = [shared_array, shared_array]
    with pytest.raises(ValueError, match=DUPLICATE):
        nnx.to_refs(node)


def test_to_refs_converts_only_what_the_filter_matches() -> None:
    node = [jnp.array(1.0), jnp.array(2.0)]
    mutable_node = nnx.to_refs(node, only=lambda path, x: path[0] == 0)
    assert isinstance(mutable_node[0], nnx.ArrayRef)
    assert isinstance(mutable_node[1], jax.Array)


def test_to_arrays_refuses_a_ref_that_occurs_twice() -> None:
    shared_array = nnx.array_ref(jnp.array(1.0))
    node = [shared_array, shared_array]
    with pytest.raises(ValueError, match=DUPLICATE):
        nnx.to_arrays(node)


def test_to_arrays_accepts_a_ref_that_occurs_twice_when_told_to() -> None:
    shared_array = nnx.array_ref(jnp.array(1.0))
    frozen_node = nnx.to_arrays([shared_array, shared_array], allow_duplicates=True)
    assert [type(x) is type(jnp.array(1.0)) for x in frozen_node] == [True, True]
