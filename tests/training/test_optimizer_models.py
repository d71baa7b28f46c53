"""`Optimizer` where filter and model do not go together: nothing to train, layers replaced later."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

import typed_nnx as nnx
from tests.training.models import both
from typed_nnx import errors


# -- a filter that chooses nothing -------------------------------------------------------------------
class Weight(nnx.Variable[Any]):
    """A parameter of one's own."""


def rngs() -> Any:
    return nnx.Rngs(0)


@pytest.mark.parametrize(
    ("make", "wrt", "text"),
    [
        (lambda: nnx.Linear(2, 2, rngs=rngs()), nnx.LoRAParam, "wrt=nnx.LoRAParam chooses nothing of the Linear"),
        (lambda: nnx.Dict(w=Weight(jnp.ones(2))), nnx.Param, "which has 1 Weight;"),
        (lambda: nnx.Dict(w=jnp.ones(2)), nnx.Param, "which has 1 bare array;"),
        (lambda: nnx.state(nnx.Linear(2, 2, rngs=rngs())), nnx.BatchStat, "of the State"),
    ],
    ids=["another type", "own type", "bare arrays", "state"],
)  # fmt: skip
def test_an_optimizer_that_trains_nothing_says_so(make: Any, wrt: Any, text: str) -> None:
    with pytest.warns(UserWarning, match="`update` will change nothing") as caught:
        nnx.Optimizer(make(), optax.adam(0.1), wrt=wrt)
    (warning,) = caught
    assert text in str(warning.message)
    assert "\n  Fix: " in str(warning.message)
    assert warning.filename == __file__


@pytest.mark.parametrize(
    "wrap", [lambda f: f(), lambda f: nnx.jit(f)(), nnx.eval_shape], ids=["plain", "jit", "shape"]
)
def test_it_says_so_in_transforms_too_and_names_a_filter_that_trains(wrap: Any) -> None:
    def make() -> Any:
        model = nnx.Linear(2, 2, rngs=rngs())
        return nnx.ModelAndOptimizer(model, optax.sgd(0.1), wrt=nnx.LoRAParam)

    with pytest.warns(UserWarning, match=r"Fix: nnx.ModelAndOptimizer\(model, tx, wrt=nnx.Param\)"):
        wrap(make)
    model = nnx.Linear(2, 2, rngs=rngs())
    before = model.kernel[...]
    nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param).update(model, nnx.state(model))
    assert not jnp.allclose(model.kernel[...], before)


@both
@pytest.mark.parametrize(
    "make",
    [
        lambda lib: lib.Dict(),
        lambda lib: lib.Sequential(jax.nn.relu, lib.Dropout(0.5, rngs=lib.Rngs(0))),
        lambda lib: lib.BatchNorm(2, use_scale=False, use_bias=False, rngs=lib.Rngs(0)),
        lambda lib: lib.Dict(count=jnp.array(3), name="a"),
        lambda lib: lib.Dict(steps=lib.Variable(jnp.array(3))),
        lambda lib: lib.state(lib.Linear(2, 2, rngs=lib.Rngs(0)), lib.BatchStat),
    ],
    ids=["empty", "dropout", "statistics", "integers", "counter", "empty state"],
)
def test_a_model_with_nothing_to_train_gives_no_warning(lib: Any, make: Any) -> None:
    """Warnings are errors here."""
    model = make(lib)
    optimizer = lib.Optimizer(model, optax.adam(0.1), wrt=lib.Param)
    optimizer.update(model, lib.state(model, lib.Param))
    assert optimizer.step[...] == 1


# -- a model that changed after its optimizer was made -----------------------------------------------
def replace_layer(model: Any) -> None:
    model.b = nnx.Linear(3, 5, rngs=rngs())


def remove_bias(model: Any) -> None:
    model.b.bias = None


def narrow(model: Any) -> None:
    """Make the shapes of the new layer ones that broadcast against those of the old one."""
    model.b = nnx.Linear(3, 1, rngs=rngs())


def add_layer(model: Any) -> None:
    model.c = nnx.Linear(1, 1, rngs=rngs())


TRANSFORMATIONS = {
    "adam": lambda: optax.adam(0.1),
    "momentum": lambda: optax.sgd(0.1, momentum=0.9),
    "adafactor": lambda: optax.adafactor(0.1),
    "chain": lambda: optax.chain(optax.clip(1.0), optax.adam(0.1)),
    "accumulated": lambda: optax.MultiSteps(optax.adam(0.1), 2),
}


@pytest.mark.parametrize("wrap", [lambda f: f, nnx.jit], ids=["plain", "jit"])
@pytest.mark.parametrize("change", [replace_layer, remove_bias, narrow, add_layer])
@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_a_model_that_changed_is_named_and_nothing_is_updated(name, change, wrap):
    model = nnx.Dict(a=nnx.Linear(2, 3, rngs=rngs()), b=nnx.Linear(3, 2, rngs=rngs()))
    optimizer = nnx.Optimizer(model, TRANSFORMATIONS[name](), wrt=nnx.Param)
    change(model)
    before = jax.tree.leaves(nnx.state((model, optimizer)))

    @wrap
    def step(model: Any, optimizer: Any) -> None:
        optimizer.update(model, nnx.clone(nnx.state(model, nnx.Param)))

    with pytest.raises(errors.ChangedModelError) as caught:
        step(model, optimizer)
    assert ("'c'" if change is add_layer else "'b'") in str(caught.value)
    after = jax.tree.leaves(nnx.state((model, optimizer)))
    assert all(map(jnp.array_equal, before, after))


def test_a_transformation_that_keeps_nothing_of_parameters_goes_on_with_new_layers() -> None:
    model = nnx.Dict(b=nnx.Linear(3, 2, rngs=rngs()))
    optimizer = nnx.Optimizer(model, optax.sgd(0.5), wrt=nnx.Param)
    replace_layer(model)
    before = model.b.kernel[...]
    optimizer.update(model, nnx.clone(nnx.state(model)))
    assert jnp.allclose(model.b.kernel[...], before / 2)


@pytest.mark.thorough
def test_gradients_of_another_shape_are_no_change_of_the_model() -> None:
    model = nnx.Dict(w=nnx.Param(jnp.ones((128, 128))))
    for tx in (optax.adafactor(0.1), optax.adam(0.1)):
        optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
        with pytest.raises((ValueError, TypeError)) as caught:
            optimizer.update(model, nnx.State({"w": nnx.Param(jnp.ones((2, 64, 128)))}))
        assert not isinstance(caught.value, errors.ChangedModelError)
