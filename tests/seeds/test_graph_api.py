"""The examples of the seed document ``graph_api_reference.txt`` from `split` to `graphdef`.

The others are in `test_graph_api_walks.py`; `call` and the update contexts are in
`test_graph_api_calls.py`, refs in `test_graph_api_refs.py`. ``cached_partial`` and
``nnx.grad`` are in `test_transform_examples.py`.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from typed_nnx import BatchNorm, Linear

from .printed import assert_printed


class Foo(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.batch_norm = BatchNorm(2, rngs=rngs)
        self.linear = Linear(2, 3, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.linear(self.batch_norm(x))


PARAM_SHAPES = """
    State({
      'batch_norm': {
        'bias': Param(
          value=(2,)
        ),
        'scale': Param(
          value=(2,)
        )
      },
      'linear': {
        'bias': Param(
          value=(3,)
        ),
        'kernel': Param(
          value=(2, 3)
        )
      }
    })
"""

BATCH_STAT_SHAPES = """
    State({
      'batch_norm': {
        'mean': BatchStat(
          value=(2,)
        ),
        'var': BatchStat(
          value=(2,)
        )
      }
    })
"""


def test_split_separates_parameters_from_statistics() -> None:
    node = Foo(nnx.Rngs(0))
    _, params, batch_stats = nnx.split(node, nnx.Param, nnx.BatchStat)
    assert_printed(repr(jax.tree.map(jnp.shape, params)), PARAM_SHAPES)
    assert_printed(repr(jax.tree.map(jnp.shape, batch_stats)), BATCH_STAT_SHAPES)


def test_merge_builds_a_new_node_of_the_same_structure() -> None:
    node = Foo(nnx.Rngs(0))
    graphdef, params, batch_stats = nnx.split(node, nnx.Param, nnx.BatchStat)
    new_node = nnx.merge(graphdef, params, batch_stats)
    assert isinstance(new_node, Foo)
    assert isinstance(new_node.batch_norm, BatchNorm)
    assert isinstance(new_node.linear, Linear)
    assert new_node is not node
    x = jnp.array([[1.0, 2.0], [3.0, 5.0]])
    assert jnp.array_equal(new_node(x), node(x))


def loss_fn(model: tp.Any, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((y - model(x)) ** 2)


def test_update_writes_a_new_state_into_the_node() -> None:
    x, y = jnp.ones((1, 2)), jnp.ones((1, 3))
    model = Linear(2, 3, rngs=nnx.Rngs(0))
    kernel = model.kernel
    prev_loss = loss_fn(model, x, y)

    graphdef, state = nnx.split(model)
    grads = jax.grad(lambda state: loss_fn(nnx.merge(graphdef, state), x, y))(state)
    new_state = jax.tree.map(lambda p, g: p - 0.1 * g, nnx.state(model), grads)
    nnx.update(model, new_state)

    assert loss_fn(model, x, y) < prev_loss
    assert model.kernel is kernel
    assert_printed(
        repr(nnx.state(model)),
        """
        State({
          'bias': Param( # 3 (12 B)
            value=Array([0.07460205, 0.15637623, 0.07463219], dtype=float32)
          ),
          'kernel': Param( # 6 (24 B)
            value=Array([[ 0.83133197, -0.5293243 , -0.4942015 ],
                   [-0.8011584 , -0.5035665 ,  0.52398306]], dtype=float32)
          )
        })
        """,
    )


def test_update_takes_the_state_of_a_gradient_that_is_a_module() -> None:
    x, y = jnp.ones((1, 2)), jnp.ones((1, 3))
    model = Linear(2, 3, rngs=nnx.Rngs(0))
    prev_loss = loss_fn(model, x, y)
    grads = jax.grad(loss_fn)(model, x, y)  # Modules are pytrees
    assert isinstance(grads, Linear)
    new_state = jax.tree.map(lambda p, g: p - 0.1 * g, nnx.state(model), nnx.state(grads))
    nnx.update(model, new_state)
    assert loss_fn(model, x, y) < prev_loss


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # sow and `.value`
def test_pop_takes_the_intermediates_out_of_the_node() -> None:
    class Model(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.linear1 = Linear(2, 3, rngs=rngs)
            self.linear2 = Linear(3, 4, rngs=rngs)

        def __call__(self, x: jax.Array) -> jax.Array:
            x = self.linear1(x)
            self.sow(nnx.Intermediate, "i", x)
            return self.linear2(x)

    model = Model(rngs=nnx.Rngs(0))
    assert not hasattr(model, "i")
    model(jnp.ones((1, 2)))
    assert hasattr(model, "i")
    intermediates = nnx.pop(model, nnx.Intermediate)
    assert intermediates["i"].value[0].shape == (1, 3)
    assert intermediates["i"][0].shape == (1, 3)
    assert not hasattr(model, "i")


@pytest.mark.parametrize("state", [nnx.state, nnx.variables])
def test_state_gives_only_what_the_filters_say(state: tp.Any) -> None:
    model = Foo(rngs=nnx.Rngs(0))
    params = state(model, nnx.Param)
    batch_stats = state(model, nnx.BatchStat)
    assert_printed(repr(jax.tree.map(jnp.shape, params)), PARAM_SHAPES)
    assert_printed(repr(jax.tree.map(jnp.shape, batch_stats)), BATCH_STAT_SHAPES)
    both = state(model, nnx.Param, nnx.BatchStat)
    assert isinstance(both, tuple)
    assert both == (params, batch_stats)
    assert_printed(
        repr(state(model)),
        """
        State({
          'batch_norm': {
            'bias': Param( # 2 (8 B)
              value=Array([0., 0.], dtype=float32)
            ),
            'mean': BatchStat( # 2 (8 B)
              value=Array([0., 0.], dtype=float32)
            ),
            'scale': Param( # 2 (8 B)
              value=Array([1., 1.], dtype=float32)
            ),
            'var': BatchStat( # 2 (8 B)
              value=Array([1., 1.], dtype=float32)
            )
          },
          'linear': {
            'bias': Param( # 3 (12 B)
              value=Array([0., 0., 0.], dtype=float32)
            ),
            'kernel': Param( # 6 (24 B)
              value=Array([[ 0.9613746 ,  1.0012555 , -0.3134847 ],
                     [-0.58647984,  0.29165065,  0.01449346]], dtype=float32)
            )
          }
        })
        """,
    )


def test_graphdef_equals_the_one_that_split_gives() -> None:
    model = Linear(2, 3, rngs=nnx.Rngs(0))
    graphdef, _ = nnx.split(model)
    assert graphdef == nnx.graphdef(model)
    assert hash(graphdef) == hash(nnx.graphdef(model))
