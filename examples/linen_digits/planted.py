"""A file that somebody writes after the migration, with two mistakes in it."""

from __future__ import annotations

from typing import NamedTuple

NAME = "statistics.py"

TEXT = '''\
"""What the layers of a reader hold."""

import jax
import jax.numpy as jnp
import typed_nnx as nnx

from .models import DigitReader


def first_kernel_norm(model: DigitReader) -> jax.Array:
    """Return the norm of the first convolution."""
    state = nnx.state(model)
    return jnp.linalg.norm(state.conv_blocks[0].conv_0.kernel[...])


def first_running_mean(model: DigitReader) -> jax.Array:
    """Return the mean that the first BatchNorm keeps."""
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    return rest.conv_blocks[0].batch_norm_0.mean[...]
'''


class Mistake(NamedTuple):
    """What is written in place of something, and the error code that the plugin gives it."""

    right: str
    wrong: str
    code: str


MISTAKES = (
    Mistake("conv_0.kernel", "conv_0.kernal", "nnx-state-key"),
    Mistake("return rest.", "return params.", "nnx-state-excluded"),
)


def planted_text() -> str:
    """Return the file with its mistakes."""
    text = TEXT
    for mistake in MISTAKES:
        text = text.replace(mistake.right, mistake.wrong)
    return text
