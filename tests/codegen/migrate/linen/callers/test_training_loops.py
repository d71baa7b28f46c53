"""Training loops become loops with a model and its optimizer, or stay functional."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.callers.programs_run import PROGRAMS, migrated

_PROGRAM = """\
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    features: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features)(x)


net = Net()


def create(x):
    params = net.init(jax.random.key(0), x)["params"]
    return TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))


@jax.jit
def step(state, x):
    grads = jax.grad(lambda params: state.apply_fn({"params": params}, x).sum())(state.params)
    return state.apply_gradients(grads=grads)


def main(x):
    state = create(x)
    for _ in range(2):
        state = step(state, x)
    return state
"""


@pytest.mark.parametrize("target", ["typed_nnx", "flax.nnx"])
@pytest.mark.parametrize(
    "name", ["train_state_loop", "batch_norm_loop", "train_state_whole", "train_state_updates"]
)
def test_a_known_training_loop_is_written_with_an_optimizer_and_no_helpers(
    name: str, target: str
) -> None:
    after = migrated(PROGRAMS / f"{name}.py", target).after

    assert "nnx.ModelAndOptimizer" in after
    assert "nnx.value_and_grad" in after
    for gone in ("TrainState.create", "flax.training", "variables_of", "apply_with", "jax.jit"):
        assert gone not in after


def _after(text: str, tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(text)
    return migrated(path, "typed_nnx").after


def test_the_plain_program_is_written_with_an_optimizer(tmp_path: Path) -> None:
    after = _after(_PROGRAM, tmp_path)

    assert "nnx.ModelAndOptimizer(model, optax.sgd(0.1), wrt=nnx.Param)" in after
    assert "nnx.grad(lambda model: model(x).sum())(state.model)" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The state before a step is read after it.
        ("        state = step(state, x)\n", "        print(step(state, x), state.step)\n"),
        ("        state = step(state, x)\n", "        step(state, x)\n"),
        (
            "    return state\n",
            "    other = step(state, x)\n    return state, other\n",
        ),
        (
            "    return state.apply_gradients(grads=grads)\n",
            "    new = state.apply_gradients(grads=grads)\n    return new, state.params\n",
        ),
        # Other transforms than jit and grad take the state.
        (
            "    for _ in range(2):\n        state = step(state, x)\n",
            "    state, _ = jax.lax.scan(lambda s, x: (step(s, x), None), state, x)\n",
        ),
        ("@jax.jit\ndef step", "@jax.vmap\ndef step"),
        ("@jax.jit\ndef step", "@jax.pmap\ndef step"),
        # The parameters are more than those that the model was made with, or are kept elsewhere.
        ("    return TrainState", "    print(params)\n    return TrainState"),
        (
            "    return TrainState",
            "    params = jax.tree.map(jnp.abs, params)\n    return TrainState",
        ),
        ("    return state\n", "    return {'weights': state.params}\n"),
        ("    return state\n", "    return [state]\n"),
        ("    return state\n", "    return print(state.opt_state)\n"),
        ("    return state\n", "    return checkpoint(state)\n"),
        ("    return state\n", "    return state.replace(params=state.params)\n"),
        # Another model runs with the parameters.
        ("    return state\n", "    return Net(features=4).apply({'params': state.params}, x)\n"),
        # A compiled function captures the state.
        (
            "    return state\n",
            "    return jax.jit(lambda x: state.apply_fn({'params': state.params}, x))(x)\n",
        ),
        # Something else than a state may be called like one.
        ("    return state\n", "    return state\n\n\ndef run(other):\n    other.apply_fn(1)\n"),
        # The gradients are of something else.
        ("jax.grad(lambda", "jax.grad(argnums=(0,), fun=lambda"),
    ],
)
def test_a_state_that_nnx_cannot_carry_in_place_stays_functional(
    old: str, new: str, tmp_path: Path
) -> None:
    assert old in _PROGRAM

    after = _after(_PROGRAM.replace(old, new), tmp_path)

    assert "ModelAndOptimizer" not in after
    assert "TrainState.create" in after


_LOOP = """\
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


net = Net()
tx = optax.adam(0.1)


def loss_fn(params, x):
    return net.apply(params, x).sum()


@jax.jit
def step(params, opt_state, x):
    grads = jax.grad(loss_fn)(params, x)
    updates, opt_state = tx.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state


def main(x):
    params = net.init(jax.random.key(0), x)
    opt_state = tx.init(params)
    for _ in range(2):
        params, opt_state = step(params, opt_state, x)
    return net.apply(params, x)
"""


def test_a_loop_over_optax_is_written_with_an_optimizer(tmp_path: Path) -> None:
    after = _after(_LOOP, tmp_path)

    assert "optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)" in after
    assert "optimizer.update(model, grads)" in after
    for gone in ("apply_updates", "variables_of", "apply_with", "jax.jit", "opt_state"):
        assert gone not in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # What changes in place would have a second name.
        ("    for _", "    first = params\n    for _"),
        ("    for _", "    pair = (params, opt_state)\n    for _"),
        ("    for _", "    params = jax.tree.map(jnp.abs, params)\n    for _"),
        ("        params, opt_state = step", "        new, opt_state = step"),
        ("        params, opt_state = step", "        params, new = step"),
        (
            "    return params, opt_state\n",
            "    return params, opt_state, net.apply(params, x) * opt_state[0].count\n",
        ),
        ("    params = optax", "    new = optax"),
        # A step is more than what an optimizer does in one.
        ("    params = optax", "    updates = jax.tree.map(jnp.abs, updates)\n    params = optax"),
        ("    params = optax", "    print(params)\n    params = optax"),
        ("(grads, opt_state, params)", "(grads, opt_state, params=params)"),
        ("    updates, opt_state = tx", "    updates, other = optax.sgd(0.1)"),
        # Other transforms, other parameters, other functions.
        ("@jax.jit\ndef step", "@jax.vmap\ndef step"),
        ("    opt_state = tx.init(params)\n", "    opt_state = jax.jit(tx.init)(params)\n"),
        (
            "    return net.apply(params, x)\n",
            "    return jax.vmap(net.apply, (None, 0))(params, x)\n",
        ),
        ("    return net.apply(params, x)\n", "    return save(params)\n"),
        ("    return net.apply(params, x)\n", "    return params['params']['Dense_0']\n"),
    ],
)
def test_a_loop_whose_parameters_nnx_cannot_change_in_place_stays_functional(
    old: str, new: str, tmp_path: Path
) -> None:
    assert old in _LOOP

    after = _after(_LOOP.replace(old, new), tmp_path)

    assert "nnx.Optimizer" not in after
    assert "opt_state = " in after


_UPDATES = """\
import typing
from typing import Any, Tuple

import flax.linen as nn
import jax
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return nn.BatchNorm(use_running_average=not train)(nn.Dense(3)(x))


class State(TrainState):
    batch_stats: Any


def create(x):
    net = Net()
    variables = net.init(jax.random.key(0), x, True)
    return State.create(
        apply_fn=net.apply,
        params=variables["params"],
        batch_stats=variables["batch_stats"],
        tx=optax.sgd(0.1),
    )


@jax.jit
def step(state: State, x: jax.Array) -> tuple[State, jax.Array]:
    def loss_fn(params: Any) -> RETURNED:
        variables = {"params": params, "batch_stats": state.batch_stats}
        y, updates = state.apply_fn(variables, x, True, mutable=["batch_stats"])
        return y.sum(), OUTPUTS

    (loss, OUTPUTS), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads)
    return state.replace(batch_stats=updates["batch_stats"]), loss


def main(x):
    state = create(x)
    for _ in range(2):
        state, loss = step(state, x)
    return loss
"""


@pytest.mark.parametrize(
    ("outputs", "before", "after"),
    [
        ("updates", "tuple[jax.Array, Any]", "jax.Array"),
        ("updates", "Tuple[jax.Array, dict[str, Any]]", "jax.Array"),
        ("(y, updates)", "tuple[jax.Array, tuple[jax.Array, Any]]", "tuple[jax.Array, jax.Array]"),
        (
            "(y, updates, x)",
            "tuple[jax.Array, typing.Tuple[jax.Array, Any, jax.Array]]",
            "tuple[jax.Array, typing.Tuple[jax.Array, jax.Array]]",
        ),
        # Its items cannot be told apart.
        ("updates", "tuple[Any, ...]", "tuple[Any, ...]"),
        ("updates", "Any", "Any"),
    ],
)
def test_the_type_of_what_a_loss_returns_loses_the_updates_that_it_loses(
    outputs: str, before: str, after: str, tmp_path: Path
) -> None:
    text = _after(_UPDATES.replace("RETURNED", before).replace("OUTPUTS", outputs), tmp_path)

    assert f"def loss_fn(model: Any) -> {after}:" in text
    assert "updates" not in text
