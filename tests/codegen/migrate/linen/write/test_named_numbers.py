"""What has a name keeps it, a number, flag, dtype or function: the migrated code follows when it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import migrated

_OF_FILE = """\
import flax.linen as nn
import jax
import jax.numpy as jnp

SIZE = 4
HAS_BIAS = True
DTYPE = jnp.float32
ACTIVATION = jax.nn.gelu


class Head(nn.Module):
    activation: object

    @nn.compact
    def __call__(self, x):
        return self.activation(nn.Dense(2)(x))


class Model(nn.Module):
    RATIO = 3

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(SIZE)(x)
        x = nn.Dense(SIZE + 1, use_bias=HAS_BIAS)(x)
        if HAS_BIAS:
            x = nn.Dense(SIZE)(x)
        x = nn.Dense(self.RATIO * SIZE, dtype=DTYPE)(x)
        return Head(ACTIVATION)(x)
"""
_OF_FUNCTION = """\
import flax.linen as nn


def made(size, is_deep=True):
    half = 7

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Dense(size)(x)
            if is_deep:
                x = nn.Dense(half)(x)
            return nn.Dense(size + half)(x)

    return Model


Model = made(4)
"""


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (_OF_FILE, "SIZE = 4", "SIZE = 6"),
        (_OF_FILE, "HAS_BIAS = True", "HAS_BIAS = False"),
        (_OF_FILE, "RATIO = 3", "RATIO = 5"),
        (_OF_FILE, "DTYPE = jnp.float32", "DTYPE = jnp.float16"),
        (_OF_FILE, "ACTIVATION = jax.nn.gelu", "ACTIVATION = jax.nn.tanh"),
        (_OF_FUNCTION, "made(4)", "made(9)"),
        (_OF_FUNCTION, "made(4)", "made(4, False)"),
        (_OF_FUNCTION, "half = 7", "half = 8"),
    ],
)
def test_it_is_the_same_to_change_a_number_before_and_after(
    text: str, before: str, after: str, tmp_path: Path
) -> None:
    result = migrated(tmp_path / "model.py", text)
    changed = migrated(tmp_path / "changed.py", text.replace(before, after))

    assert result.after != text
    assert result.after.replace(before, after) == changed.after
