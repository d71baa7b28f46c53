"""Models that several of the documents have."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx as nnx

from .printed import assert_printed


class Count(nnx.Variable):
    pass


class CounterLinear(nnx.Module):
    def __init__(self, din: int, dout: int, *, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(din, dout, rngs=rngs)
        self.count = Count(jnp.zeros((), jnp.int32))

    def __call__(self, x: jax.Array) -> jax.Array:
        self.count[...] += 1  # inplace stateful updates
        return self.linear(x)


def assert_ensemble(ensemble: tp.Any) -> None:
    """Call an ensemble of eight `CounterLinear` from 4 to 4, and check what it holds and gives."""
    x = jnp.ones((4,))
    y = ensemble(x)
    models: CounterLinear = ensemble.models
    shapes = jax.tree.map(jnp.shape, nnx.as_pure(nnx.state(ensemble)))
    assert_printed(
        f"{y.shape = }\n{models.count = }\nstate = {shapes}",
        """
        y.shape = (8, 4)
        models.count = Count( # 1 (4 B)
          value=Array(1, dtype=int32)
        )
        state = State({
          'models': {
            'count': (),
            'linear': {
              'bias': (8, 4),
              'kernel': (8, 4, 4)
            }
          }
        })
        """,
    )
    kernels = models.linear.kernel[...]
    assert len({kernel.tobytes() for kernel in np.asarray(kernels)}) == 8
    np.testing.assert_allclose(y, [x @ kernel for kernel in kernels], rtol=1e-5)
