"""The names of variables apart from a model; the corpus compares those of its modules with Linen."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import util
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from typed_nnx import migrated

MODELS = """
import jax.numpy as jnp
import typed_nnx as nnx


class Block(nnx.Module):
    def __init__(self, rngs):
        self.dense = nnx.Linear(2, 2, rngs=rngs)
        self.seen = nnx.Intermediate(jnp.zeros(2))

    def __call__(self, x):
        return self.dense(x)


class WideBlock(Block):
    pass


class Net(nnx.Module):
    def __init__(self, kind=Block, *, rngs):
        self.blocks = nnx.List([kind(rngs), Block(rngs), kind(rngs)])
        self.cell = nnx.OptimizedLSTMCell(2, 3, rngs=rngs)
        self.tail = nnx.Sequential(nnx.Linear(2, 2, rngs=rngs), Block(rngs))
        self.named = nnx.Dict({"a.b": nnx.Linear(2, 2, rngs=rngs)})
        self.added = nnx.Param(rngs.params.normal((2,)))

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return self.tail(x) * self.added.sum() + self.named["a.b"](x)


class Pair(nnx.Module):
    def __init__(self, rngs):
        self.first = Block(rngs)
        self.zeroth = nnx.data({"again": self.first})
"""
MAP = {
    "Block": {"params/Dense_0": "dense"},
    "Net": {
        "params/Block_{i+1}": "blocks.{i}",
        "params/lstm": "cell",
        "params/Sequential_0": "tail",
        "params/{name}": "named.{name}",
        "params/gone": None,
        "params/of_{field}": "added",
    },
    "Pair": {"params/deep/again": "zeroth.again", "params/one": "first"},
}


@pytest.fixture
def models(tmp_path: Path) -> Any:
    file = tmp_path / "models.py"
    file.write_text(MODELS)
    classes = {name: {"variables": said} for name, said in MAP.items()}
    file.with_suffix(".migration.json").write_text(json.dumps({"version": 1, "classes": classes}))
    return _imported(file)


def _imported(file: Path) -> Any:
    spec = util.spec_from_file_location("linen_names_models", file)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules.pop("linen_names_models", None)
    spec.loader.exec_module(module)
    return module


def _paths(variables: Mapping[str, Any]) -> set[str]:
    leaves = jax.tree_util.tree_leaves_with_path(variables)
    return {"/".join(key.key for key in path) for path, _ in leaves}


def test_variables_have_the_names_in_the_map(models: Any) -> None:
    params = migrated.variables_of(models.Net(rngs=nnx.Rngs(0)))["params"]

    below = {name: {*one} if isinstance(one, dict) else None for name, one in params.items()}
    gates = {"ii", "if", "ig", "io", "hi", "hf", "hg", "ho"}
    assert below == {
        **{f"Block_{number}": {"Dense_0"} for number in (1, 2, 3)},
        "lstm": gates,
        "Sequential_0": {"layers_0", "layers_1"},
        "a.b": {"kernel", "bias"},
        "added": None,  # the map does not tell it alone
    }
    assert {*params["Sequential_0"]["layers_1"]} == {"Dense_0"}


def test_what_no_map_tells_is_named_in_its_part_of_the_model(models: Any) -> None:
    variables = migrated.variables_of(models.Net(rngs=nnx.Rngs(0)))

    assert _paths({"": variables["intermediates"]}) == {
        *(f"/Block_{number}/seen" for number in (1, 2, 3)),
        "/Sequential_0/layers_1/seen",
    }


def test_a_class_in_a_field_has_the_names_of_that_class(models: Any) -> None:
    params = migrated.variables_of(models.Net(models.WideBlock, rngs=nnx.Rngs(0)))["params"]

    assert {name for name in params if "Block" in name} == {"WideBlock_0", "Block_0", "WideBlock_1"}


def test_a_module_in_two_places_has_its_shortest_name(models: Any) -> None:
    variables = migrated.variables_of(models.Pair(nnx.Rngs(0)))

    assert _paths({"params": variables["params"]}) == {
        "params/one/Dense_0/kernel",
        "params/one/Dense_0/bias",
    }


def test_variables_with_such_names_are_what_a_model_computes_with(models: Any) -> None:
    net, other = (models.Net(rngs=nnx.Rngs(seed)) for seed in (0, 1))
    x = jnp.arange(4.0).reshape(2, 2)

    bound = migrated.bound_to(net, migrated.variables_of(other))

    jax.tree.map(np.testing.assert_array_equal, nnx.to_pure_dict(nnx.state(bound, nnx.Param)),
                 nnx.to_pure_dict(nnx.state(other, nnx.Param)))  # fmt: skip
    np.testing.assert_array_equal(bound(x), other(x))


def test_without_a_map_variables_have_the_names_of_attributes(models: Any, tmp_path: Path) -> None:
    copied = tmp_path / "other" / "models.py"
    copied.parent.mkdir()
    copied.write_text(Path(models.__file__).read_text())

    variables = migrated.variables_of(_imported(copied).Pair(nnx.Rngs(0)))

    assert {*variables["params"]["first"]} == {"dense"}


def test_names_that_would_be_one_are_those_of_attributes(models: Any) -> None:
    entries = {"params/all": "first", "params/all/Dense_0/kernel": "second.dense.kernel"}
    file = Path(models.__file__).with_name("twice.py")
    file.write_text(
        MODELS + "class Two(nnx.Module):\n"
        "    def __init__(self, rngs):\n"
        "        self.first, self.second = Block(rngs), Block(rngs)\n"
    )
    said = {name: {"variables": one} for name, one in {**MAP, "Two": entries}.items()}
    file.with_suffix(".migration.json").write_text(json.dumps({"classes": said}))

    variables = migrated.variables_of(_imported(file).Two(nnx.Rngs(0)))

    assert {*variables["params"]} == {"first", "second"}
