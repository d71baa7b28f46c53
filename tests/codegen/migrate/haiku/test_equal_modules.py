"""Modules of Haiku compute the same when they are migrated, with the same weights."""

from __future__ import annotations

import shutil
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.codegen.migrate.haiku.comparing import (
    Call,
    assert_equal,
    compare,
    module_of,
    moved,
    written,
)
from tests.codegen.migrate.linen.corpus_cases import as_users_run
from typed_nnx.migrated import variables_of
from typed_nnx.migrated._variables import by_haiku_module
from typed_nnx_codegen.migrate import weights
from typed_nnx_codegen.migrate.linen.migration import map_path
from typed_nnx_codegen.migrate.weights.problems import WeightsError

pytest.importorskip("haiku", reason="dm-haiku is not installed")

PROGRAMS = Path(__file__).parent / "programs"
_X = jax.random.normal(jax.random.key(1), (2, 8))
_IMAGES = jax.random.normal(jax.random.key(1), (2, 15, 15, 3))
_TEXT = jax.random.normal(jax.random.key(1), (2, 5, 8))
_TOKENS = jnp.arange(10).reshape(2, 5)

CALLS = {
    "get_parameter": Call("Linear(4)", (_X,), {}),
    "get_state": Call("Counting(4)", (_X,), {}),
    "several methods": Call("Autoencoder(2)", (_X[:, :3],), {}),
    "one of several methods": Call("Autoencoder(2)", (_X[:, :3],), {}, "encode"),
    "shared layers": Call("Shared(4)", (_X[:, :4],), {}),
    "a list of layers": Call("Stack((3, 4))", (_X,), {}),
    "layers on a condition": Call("Stack((3, 4), False)", (_X,), {}),
    "a dataclass": Call("Block(2, 3)", (_TEXT,), {}),
    "a language model": Call("Language(11, 8)", (_TOKENS,), {}),
    "recurrent cores": Call("Recurrent(4)", (_X,), {}),
    "cores that run over time": Call("Unrolled(4)", (_TEXT,), {}),
    "blocks that a loop makes": Call("Mobile()", (_IMAGES,), {"is_training": True}),
    "convolutions in training": Call("ConvNet(4)", (_IMAGES,), {"is_training": True}),
    "convolutions": Call("ConvNet(4)", (_IMAGES,), {"is_training": False}),
}


QUICK = ("get_state", "shared layers")


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(one, id=name, marks=[] if name in QUICK else [pytest.mark.thorough])
        for name, one in CALLS.items()
    ],
)
def test_a_module_computes_the_same(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "modules.py"
    shutil.copy(PROGRAMS / "modules.py", file)
    with as_users_run():
        result = compare(file, call)
    assert not [one for one in result.findings if one.kind != "changed"]


@pytest.mark.thorough
def test_a_program_with_transforms_keeps_its_form(tmp_path: Path) -> None:
    with as_users_run():
        _compare_program(tmp_path)


def _compare_program(tmp_path: Path) -> None:
    file = tmp_path / "transformed.py"
    shutil.copy(PROGRAMS / "transformed.py", file)
    old, new = module_of(file), module_of(written(file))
    x = jax.random.normal(jax.random.key(2), (2, 8, 8, 3))
    params, state = old.forward.init(jax.random.key(0), x, True)
    params, state = moved(params), moved(state)
    model = new.Forward(in_shape=x.shape, rngs=nnx.Rngs(0))
    weights.load(
        weights.haiku_variables(params, state), model, map_path(tmp_path / "transformed_new.py")
    )
    expected, _ = old.forward.apply(params, state, None, x, is_training=False)
    assert_equal(expected, model(x, is_training=False))
    # The parameters that `init` gives have the names of Haiku.
    made, _ = new.forward.init(jax.random.key(0), x, True)
    assert {name: {*own} for name, own in made.items()} == {
        name: {*own} for name, own in params.items()
    }
    loaded = variables_of(model)
    of_model = (by_haiku_module(loaded.pop("params")), loaded)
    found, _ = new.forward.apply(*of_model, None, x, is_training=False)
    assert_equal(expected, found)
    _, after = new.forward.apply(*of_model, jax.random.key(1), x, is_training=True)
    assert after.keys() == loaded.keys()
    loss_after_some_steps = float(new.main()[2])
    assert loss_after_some_steps < 0.1


def test_a_module_that_is_not_in_the_parameters_is_an_error() -> None:
    with pytest.raises(WeightsError, match="nothing in the parameters is of the module 'mpl'"):
        weights.haiku_variables({"mlp/~/linear_0": {"w": jnp.ones(2)}}, module="mpl")
