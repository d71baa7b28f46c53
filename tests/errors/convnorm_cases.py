"""What goes wrong with convolutions, pooling and normalizations."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Case
from typed_nnx import errors

WRONG: Any = (1, 2, 3)


def conv(**options: Any) -> Any:
    """Return a Conv over two spatial axes."""
    return nnx.Conv(2, 4, (3, 3), **options, rngs=nnx.Rngs(0))


def linear() -> nnx.Linear:
    """Return a Linear to wrap."""
    return nnx.Linear(2, 4, rngs=nnx.Rngs(0))


CASES = [
    Case(
        "strides for more axes than the kernel has",
        errors.LayerArgumentError,
        lambda: conv(strides=WRONG),
        ("Conv: argument `strides` is (1, 2, 3)", "expected an int, None", "kernel_size=(3, 3)"),
        "strides=(2, 2)",
    ),
    Case(
        "a padding that nobody knows",
        errors.LayerArgumentError,
        lambda: conv(padding="reflect"),
        ("Conv: argument `padding` is 'reflect'", "expected one of 'SAME'", "'CIRCULAR'"),
        "padding='REFLECT'",
    ),
    Case(
        "a causal padding over two axes",
        errors.LayerArgumentError,
        lambda: conv(padding="CAUSAL"),
        ("Conv: argument `padding` is 'CAUSAL'", "the 2 spatial axes of kernel_size=(3, 3)"),
        "jnp.pad",
    ),
    Case(
        "a named padding of dilated inputs",
        errors.LayerArgumentError,
        lambda: conv(input_dilation=2),
        ("Conv: argument `padding` is 'SAME'", "expected numbers where input_dilation=(2, 2)"),
        "padding=((1, 1), (1, 1)), or nnx.ConvTranspose",
    ),
    Case(
        "groups that do not divide the features",
        errors.LayerArgumentError,
        lambda: conv(feature_group_count=3),
        ("Conv: argument `feature_group_count` is 3", "divides both in_features=2"),
        "feature_group_count=2",
    ),
    Case(
        "a mask of another shape than the kernel",
        errors.LayerArgumentError,
        lambda: conv(mask=jnp.ones((3, 3))),
        ("Conv: argument `mask` is float32[3,3]", "the shape of the kernel, (3, 3, 2, 4)"),
        "mask=jnp.broadcast_to(mask, (3, 3, 2, 4))",
    ),
    Case(
        "images with another number of features",
        errors.LayerInputError,
        lambda: conv()(jnp.ones((1, 8, 8, 3))),
        ("Conv: `inputs` is float32[1,8,8,3]", "in_features=2", "kernel_size=(3, 3)"),
        "nnx.Conv(3, ...",
    ),
    Case(
        "a window of pooling as one number",
        errors.LayerArgumentError,
        lambda: nnx.max_pool(jnp.ones((4, 1)), WRONG[0]),
        ("max_pool: argument `window_shape` is 1", "expected a size for each spatial axis"),
        "window_shape=(1,)",
    ),
    Case(
        "a batch with another number of features",
        errors.LayerInputError,
        lambda: nnx.BatchNorm(2, rngs=nnx.Rngs(0))(jnp.ones((3, 5))),
        ("BatchNorm: `x` is float32[3,5]", "expected num_features=2 elements along axis 1"),
        "nnx.BatchNorm(5, ...)",
    ),
    Case(
        "a batch norm that was not told its mode",
        errors.UnsetModeError,
        lambda: nnx.BatchNorm(2, use_running_average=None, rngs=nnx.Rngs(0))(jnp.ones((3, 2))),
        ("BatchNorm: `use_running_average` is not set", "is not known"),
        "model.train() or model.eval()",
    ),
    Case(
        "a mask of numbers",
        errors.LayerInputError,
        lambda: nnx.LayerNorm(2, rngs=nnx.Rngs(0))(jnp.ones((3, 2)), mask=jnp.ones((3, 2))),
        ("LayerNorm: `mask` is float32[3,2]", "expected booleans", "(3, 2)"),
        "mask.astype(bool)",
    ),
    Case(
        "more groups than features",
        errors.LayerArgumentError,
        lambda: nnx.GroupNorm(6, rngs=nnx.Rngs(0)),
        ("GroupNorm: argument `num_groups` is 32", "divides num_features=6"),
        "nnx.GroupNorm(6, num_groups=6, ...)",
    ),
    Case(
        "the batch as a feature",
        errors.LayerInputError,
        lambda: nnx.InstanceNorm(2, rngs=nnx.Rngs(0))(jnp.ones((2,))),
        ("InstanceNorm: `x` is float32[2]", "a batch as its first axis"),
        "x[None]",
    ),
    Case(
        "lengths along an axis that the kernel lacks",
        errors.LayerArgumentError,
        lambda: nnx.WeightNorm(linear(), feature_axes=2, rngs=nnx.Rngs(0)),
        ("WeightNorm: argument `feature_axes` is 2", "float32[2,4] at ('kernel',)"),
        "feature_axes=-1",
    ),
]
