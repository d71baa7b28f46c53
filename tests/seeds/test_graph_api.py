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


def loss_fn(model: tp.Any, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((y - model(x)) ** 2)


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
