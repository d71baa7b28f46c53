"""The examples of the seed document ``graph_api_reference.txt`` for `call` and update contexts."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx


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
