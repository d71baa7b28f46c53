"""Functions of Linen take arguments that those of NNX with the same name do not."""

from __future__ import annotations

import inspect
from pathlib import Path

import flax.linen as nn
import pytest

import typed_nnx as nnx
from tests.codegen.migrate.linen.command.running import messages, migrated

_TEXT = """\
import flax.linen as nn


class Attention(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.dot_product_attention(x, x, x, {argument})
"""


def _messages(folder: Path, argument: str) -> list[str]:
    return messages(migrated(folder / "attention.py", _TEXT.format(argument=argument)))


@pytest.mark.parametrize(
    "name",
    sorted(
        set(inspect.signature(nn.dot_product_attention).parameters)
        - set(inspect.signature(nnx.dot_product_attention).parameters)
    ),
)
def test_an_argument_that_nnx_has_not_is_marked(name: str, tmp_path: Path) -> None:
    expected = f"`nn.dot_product_attention` of NNX has no argument `{name}`"

    assert _messages(tmp_path, f"{name}=None") == [expected]


def test_an_argument_that_both_have_is_not_marked(tmp_path: Path) -> None:
    assert _messages(tmp_path, "dropout_rate=0.0") == []
