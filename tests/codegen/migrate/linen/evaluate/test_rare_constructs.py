"""Constructs that real packages hardly have are left to a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import messages, migrated

_HEAD = """\
from typing import Any, Protocol

import flax.linen as nn
import jax
import jax.numpy as jnp


"""
_CASES = {
    "a method of a protocol": (
        "class Encoder(Protocol):\n"
        "    def __call__(self, x): ...\n\n"
        "    def twice(self, x):\n"
        "        return self(self(x))\n\n\n"
        "class M(nn.Module, Encoder):\n"
        "    @nn.compact\n"
        "    def __call__(self, x):\n"
        "        return nn.Dense(3)(x)\n",
        "it inherits `twice` from `Encoder`, a protocol",
    ),
    "the module for a function in a field": (
        "class M(nn.Module):\n"
        "    declare: Any\n\n"
        "    @nn.compact\n"
        "    def __call__(self, x):\n"
        "        return x + self.declare(self, 'bias')\n",
        "what `self.declare` builds in this module is not known",
    ),
    "a function in a field that a caller may give": (
        "def dense(n):\n    return nn.Dense(n)\n\n\n"
        "class M(nn.Module):\n"
        "    make: Any = dense\n\n"
        "    @nn.compact\n"
        "    def __call__(self, x):\n"
        "        return self.make(3)(x)\n",
        "the function that is called here builds submodules or variables",
    ),
    "the module for a function that is chosen before the call": (
        "def scaled(module, x):\n"
        "    return x * module.param('scale', nn.initializers.ones, (x.shape[-1],))\n\n\n"
        "def same(module, x):\n    return x\n\n\n"
        "class M(nn.Module):\n"
        "    scales: bool = False\n\n"
        "    @nn.compact\n"
        "    def __call__(self, x):\n"
        "        if self.scales:\n"
        "            function = scaled\n"
        "        else:\n"
        "            function = same\n"
        "        return function(self, x)\n",
        "what `function` builds in this module is not known",
    ),
    "a layer for a function of a library": (
        "import layerlib\n\n\n"
        "class M(nn.Module):\n"
        "    @nn.compact\n"
        "    def __call__(self, x):\n"
        "        return layerlib.wrapped(nn.Dense)(3)(x)\n",
        "what `layerlib.wrapped` builds is not known",
    ),
    "layers of one list for two attributes": (
        "class M(nn.Module):\n"
        "    count: int\n\n"
        "    def setup(self):\n"
        "        self.first, self.second = [nn.Dense(3) for _ in range(self.count)]\n\n"
        "    def __call__(self, x):\n"
        "        return self.first(x) * self.second(x)\n",
        "`first` and `second` are of one list",
    ),
    "layers that map makes in setup": (
        "class M(nn.Module):\n"
        "    def setup(self):\n"
        "        self.first, self.second = map(lambda n: nn.Dense(n), (3, 3))\n\n"
        "    def __call__(self, x):\n"
        "        return self.first(x) * self.second(x)\n",
        "a function that `map` calls builds submodules",
    ),
    "two names for what parameters say": (
        "class M(nn.Module):\n"
        "    def setup(self):\n"
        "        self.weight = self.param('weight', nn.initializers.ones, (3,))\n"
        "        self.first = self.second = self.weight * 2\n\n"
        "    def __call__(self, x):\n"
        "        return x * self.first + self.second\n",
        "it is computed from variables once",
    ),
    "an attribute that parameters change": (
        "class M(nn.Module):\n"
        "    def setup(self):\n"
        "        self.weight = self.param('weight', nn.initializers.ones, (3,))\n"
        "        self.gain = jnp.ones(3)\n"
        "        self.gain += self.weight\n\n"
        "    def __call__(self, x):\n"
        "        return x * self.gain\n",
        "it is computed from variables once",
    ),
    "a layer with another default": (
        "class Plain(nn.Dense):\n    use_bias: bool = False\n",
        "it inherits from flax.linen.Dense",
    ),
    "as many layers as an argument says": (
        "class M(nn.Module):\n"
        "    @nn.compact\n"
        "    def __call__(self, x, n: int):\n"
        "        return self.more(x, n)\n\n"
        "    def more(self, x, n):\n"
        "        return self.more(nn.Dense(3)(x), n - 1) if n else x\n",
        "how often the method that constructs this calls itself is not known",
    ),
}


@pytest.mark.parametrize(("code", "part"), _CASES.values(), ids=_CASES.keys())
def test_it_gets_a_marker(tmp_path: Path, code: str, part: str) -> None:
    found = messages(migrated(tmp_path / "m.py", _HEAD + code))

    assert any(part in text for text in found), found


# Each level has two loops, each of which is evaluated several times.
_PARSER = """\
def parse(dims):
    found = []
    for one in dims:
        found.append(parse(one) if isinstance(one, tuple) else one)
    for one in dims:
        found.append(parse(one) if isinstance(one, list) else one)
    return tuple(found)


class M(nn.Module):
    axes: Any = ()

    @nn.compact
    def __call__(self, x):
        parse(self.axes)
        return nn.Dense(3)(x)
"""


def test_a_function_that_calls_itself_for_items_is_evaluated_once_within_itself(
    tmp_path: Path,
) -> None:
    result = migrated(tmp_path / "m.py", _HEAD + _PARSER)

    assert "self.dense_0 = nnx.Linear(in_features, 3, rngs=rngs)" in result.after
    assert messages(result) == []
