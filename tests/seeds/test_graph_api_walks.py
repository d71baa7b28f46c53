"""The examples of the seed document ``graph_api_reference.txt`` that walk over a graph."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import typed_nnx as nnx
from typed_nnx import Linear

from .printed import assert_printed

"""For examples that NNX has since given a newer name, with a warning at the old one."""


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
