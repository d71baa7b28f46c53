"""Constructs that real packages hardly have are left to a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from typed_nnx_codegen.migrate.linen.migration import migrate_linen
from typed_nnx_codegen.migrate.options import Options

_HEAD = """\
from typing import Any, Protocol

import flax.linen as nn
import jax
import jax.numpy as jnp


"""
_CASES = {
    "a protocol": (
        "class Encoder(Protocol):\n"
        "    def __call__(self, x): ...\n\n\n"
        "class M(nn.Module, Encoder):\n"
        "    @nn.compact\n"
        "    def __call__(self, x):\n"
        "        return nn.Dense(3)(x)\n",
        "it inherits from `Encoder`, a protocol",
    ),
    "a layer with another default": (
        "class Plain(nn.Dense):\n    use_bias: bool = False\n",
        "it inherits from flax.linen.Dense",
    ),
}


@pytest.mark.parametrize(("code", "part"), _CASES.values(), ids=_CASES.keys())
def test_it_gets_a_marker(tmp_path: Path, code: str, part: str) -> None:
    file = tmp_path / "m.py"
    file.write_text(_HEAD + code)

    (result,) = migrate_linen([file], [file], Options())

    found = [mark.message for plan in result.plans for mark in plan.marks]
    found += [plan.stays for plan in result.plans if plan.stays]
    assert any(part in text for text in found), found
