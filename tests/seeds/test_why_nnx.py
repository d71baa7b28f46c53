"""The examples of the seed document ``why_nnx.txt``, the oldest, in today's spelling.

``model.split()`` and ``static.merge(...)`` are `nnx.split` and `nnx.merge` now, ``nnx.Sequence`` is
`nnx.Sequential`, the keys of a State nest, and a Variable prints with its type. The printed results
are those of flax 0.12.8 where the document's are older.
"""

from __future__ import annotations

import typing as tp
from functools import partial

import jax
import jax.numpy as jnp

import typed_nnx as nnx
from typed_nnx import Conv, Linear, max_pool

from .models import Count, CounterLinear, assert_ensemble
from .printed import assert_printed


class LinearEnsemble(nnx.Module):
    """Vectorise over `num_models` CounterLinear models, with jax.vmap inside the methods."""

    def __init__(self, din: int, dout: int, *, num_models: int, rngs: nnx.Rngs) -> None:
        def vmap_init(rngs: nnx.Rngs) -> tp.Any:
            return nnx.split(CounterLinear(din, dout, rngs=rngs), nnx.Param, Count)

        graphdef, params, counts = jax.vmap(vmap_init, in_axes=(0,), out_axes=(None, 0, None))(
            rngs.split(num_models)
        )
        self.models = nnx.merge(graphdef, params, counts)

    def __call__(self, x: jax.Array) -> jax.Array:
        graphdef, params, counts = nnx.split(self.models, nnx.Param, Count)

        def vmap_apply(x: jax.Array, params: tp.Any, counts: tp.Any) -> tp.Any:
            model = nnx.merge(graphdef, params, counts)
            y = model(x)
            return y, *nnx.state(model, nnx.Param, Count)

        y, params, counts = jax.vmap(vmap_apply, in_axes=(None, 0, None), out_axes=(0, 0, None))(
            x, params, counts
        )
        nnx.update(self.models, params, counts)
        return y


def test_a_module_prints_its_fields_with_element_counts_and_bytes() -> None:
    model = CounterLinear(4, 4, rngs=nnx.Rngs(0))  # no special `init` method
    model(jnp.ones((2, 4)))  # call methods directly
    assert_printed(
        f"{model = }",
        """
        model = CounterLinear( # Count: 1 (4 B), Param: 20 (80 B), Total: 21 (84 B)
          linear=Linear( # Param: 20 (80 B)
            kernel=Param( # 16 (64 B)
              value=Array(shape=(4, 4), dtype=dtype('float32'))
            ),
            bias=Param( # 4 (16 B)
              value=Array(shape=(4,), dtype=dtype('float32'))
            ),
            in_features=4,
            out_features=4,
            use_bias=True,
            dtype=None,
            param_dtype=float32,
            precision=None,
            dot_general=<function dot_general at 0x7f5ddf79d4c0>,
            promote_dtype=<function promote_dtype at 0x7f59874a9ee0>,
            preferred_element_type=None
          ),
          count=Count( # 1 (4 B)
            value=Array(1, dtype=int32)
          )
        )
        """,
    )


def convolutional(rngs: nnx.Rngs) -> nnx.Sequential:
    return nnx.Sequential(
        Conv(1, 16, [3, 3], padding="SAME", rngs=rngs),
        partial(max_pool, window_shape=(2, 2), strides=(2, 2)),
        Conv(16, 32, [3, 3], padding="SAME", rngs=rngs),
        partial(max_pool, window_shape=(2, 2), strides=(2, 2)),
        lambda x: x.reshape((x.shape[0], -1)),  # flatten
        Linear(32 * 7 * 7, 10, rngs=rngs),
    )


KINDS_AFTER_SURGERY = [Linear, partial, Linear, partial, type(convolutional), Linear]


def test_a_sequential_itself_is_a_sequence_as_in_the_document() -> None:
    rngs = nnx.Rngs(0)
    model = convolutional(rngs)
    for i, layer in enumerate(model):  # flax 0.12.8 has `model.layers` only
        if isinstance(layer, Conv):
            model[i] = Linear(layer.in_features, layer.out_features, rngs=rngs)
    assert model(jnp.ones((2, 28, 28, 1))).shape == (2, 10)
    assert [type(layer) for layer in model] == KINDS_AFTER_SURGERY


def test_a_lifted_module_is_vmap_over_split_and_merge() -> None:
    assert_ensemble(LinearEnsemble(4, 4, num_models=8, rngs=nnx.Rngs(0)))
