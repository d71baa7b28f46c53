"""Source that uses ``flax.nnx`` is read in the same way; flax is looked at by mypy only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.model_stubs.reading_project import attributes, library_cache
from tests.support.once import once
from typed_nnx_codegen.model_stubs.reading import read

_SOURCE = """
import jax
import jax.numpy as jnp
from flax import nnx
import typed_nnx

class Own(nnx.Variable): pass
class Block(nnx.Module):
    sizes: nnx.Data[list[int]]
    def __init__(self, *, rngs: nnx.Rngs, use_bias: bool):
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.weight = nnx.Param(jnp.zeros(3))
        self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs) for _ in range(3)])
        self.named = nnx.Dict(a=nnx.Conv(2, 2, (3,), rngs=rngs))
        self.held = nnx.data([nnx.Linear(2, 2, rngs=rngs)])
        self.own = Own(jnp.zeros(3))
        self.bias = nnx.Param(jnp.zeros(3)) if use_bias else None
        self.size = 3
        self.vague = whatever()
@nnx.dataclass
class Fields(nnx.Pytree):
    block: Block
    name: nnx.Static[str]
class Ours(typed_nnx.Module):
    pass
"""


@pytest.fixture(scope="module")
def found(
    shared_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, str]]:
    folder = tmp_path_factory.mktemp("flax")

    def read_all(source: Path = folder / "source.py") -> dict[str, dict[str, str]]:
        source.write_text(_SOURCE, encoding="utf-8")
        models = read(
            [str(source)], runtime="flax.nnx", cache=library_cache(shared_folder, "flax.nnx")
        )
        assert not models.problems
        return {name: attributes(info) for name, info in models.classes.items()}

    models: dict[str, dict[str, str]] = once("models of flax", shared_folder, read_all)
    return models


@pytest.mark.thorough
def test_attributes_of_flax_models_are_found(found: dict[str, dict[str, str]]) -> None:
    assert found["source:Block"] == {
        "sizes": "list[int]",
        "linear": "Linear",
        "weight": "Param[Array]",
        "layers": "List[Linear]",
        "named": "Dict[Conv]",
        "held": "list[Linear]",
        "own": "Own",
        "bias": "Param[Array] | None",
        "size": "static",
        "vague": "?",
    }
    assert found["source:Fields"] == {"block": "Block", "name": "static"}


def test_layers_of_flax_are_named_as_people_import_them(found: dict[str, dict[str, str]]) -> None:
    assert found["flax.nnx:Linear"]["bias"] == "Param[Array] | None"
    assert found["flax.nnx:Linear"]["in_features"] == "static"


def test_models_of_another_runtime_are_none(found: dict[str, dict[str, str]]) -> None:
    assert "source:Ours" not in found
