"""A `ToNNX` inside Modules, under every transform, and its training and checkpoints."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from flax import linen as nn

from tests.bridge.linen_models import Everything, X
from tests.bridge.sides import FLAX, OURS, assert_as_in_flax, state_of, values_of


class Normed(nn.Module):
    """A dense layer, running statistics and dropout."""

    @nn.compact
    def __call__(self, x: jax.Array) -> Any:
        x = nn.BatchNorm(use_running_average=False, momentum=0.9)(nn.Dense(3)(x))
        return nn.Dropout(0.25, deterministic=False)(x)


def net(side: Any) -> Any:
    """Return a model with a Linen part between two layers of the library."""

    class Net(side.nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.first = side.Linear(3, 3, rngs=rngs)
            self.linen = side.bridge.ToNNX(Normed(), rngs=rngs)
            self.last = side.Linear(3, 2, rngs=rngs)

        def __call__(self, x: jax.Array) -> Any:
            return self.last(self.linen(self.first(x), mutable=["batch_stats"]))

    return side.bridge.lazy_init(Net(side.nnx.Rngs(0, dropout=1)), X)


def loss_of(model: Any, x: jax.Array) -> Any:
    return (model(x) ** 2).mean()


def close(found: Any, expected: Any) -> None:
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert jnp.allclose(one, other, rtol=1e-5, atol=1e-6)


def numbers(side: Any, model: Any) -> dict[Any, jax.Array]:
    """Return the state with keys as their data, so that it can be compared within rounding."""
    found = values_of(side, model)
    return {
        path: jax.random.key_data(v) if jnp.issubdtype(v.dtype, jax.dtypes.prng_key) else v
        for path, v in found.items()
    }


def test_a_model_with_a_linen_part_has_the_state_of_flax() -> None:
    assert_as_in_flax(lambda side: state_of(side, net(side)))


def jitted(side: Any, model: Any) -> Any:
    step = side.nnx.jit(lambda model, x: model(x))
    return [step(model, X) for _ in range(3)]


def differentiated(side: Any, model: Any) -> Any:
    loss, grads = side.nnx.value_and_grad(loss_of)(model, X)
    return loss, values_of(side, grads)


def rematerialized(side: Any, model: Any) -> Any:
    return side.nnx.value_and_grad(side.nnx.remat(loss_of))(model, X)[0]


def switched(side: Any, model: Any) -> Any:
    return side.nnx.cond(True, lambda m, x: m(x), lambda m, x: m(x) * 2, model, X)


def repeated(side: Any, model: Any) -> Any:
    return side.nnx.fori_loop(0, 3, lambda _, c: (c[0], c[0].first(c[1])), (model, X))[1]


def mapped_over_the_batch(side: Any, model: Any) -> Any:
    axes = side.nnx.StateAxes({side.nnx.RngState: None, ...: None})
    frozen = side.nnx.vmap(lambda m, x: m.last(m.first(x)), in_axes=(axes, 0))
    return frozen(model, X)


@pytest.mark.parametrize(
    "use",
    [jitted, differentiated, rematerialized, switched, repeated, mapped_over_the_batch],
    ids=lambda use: use.__name__,
)
def test_a_transform_gives_the_outputs_and_the_state_of_flax(use: Any) -> None:
    ours, theirs = net(OURS), net(FLAX)
    close(use(OURS, ours), use(FLAX, theirs))
    close(numbers(OURS, ours), numbers(FLAX, theirs))


def test_a_scan_over_layers_is_that_of_flax() -> None:
    def layers(side: Any) -> Any:
        @side.nnx.split_rngs(splits=3)
        @side.nnx.vmap(in_axes=0, out_axes=0)
        def make(rngs: Any) -> Any:
            return side.bridge.ToNNX(nn.Dense(3), rngs=rngs).lazy_init(X)

        @side.nnx.scan(in_axes=(0, side.nnx.Carry), out_axes=side.nnx.Carry)
        def run(layer: Any, x: jax.Array) -> Any:
            return jnp.tanh(layer(x))

        return run(make(side.nnx.Rngs(0)), X)

    close(layers(OURS), layers(FLAX))


def test_abstract_states_have_the_paths_and_shapes_of_flax() -> None:
    def scenario(side: Any) -> Any:
        def make() -> Any:
            return side.bridge.ToNNX(Everything(), rngs=side.nnx.Rngs(0)).lazy_init(X)

        found = side.nnx.to_flat_state(side.nnx.state(side.nnx.eval_shape(make)))
        return [(path, type(leaf), str(leaf.get_value())) for path, leaf in found]

    assert_as_in_flax(scenario)


def test_training_with_optax_follows_flax() -> None:
    def train(side: Any) -> list[Any]:
        model = net(side)
        optimizer = optax.sgd(0.1, momentum=0.9)
        moments = optimizer.init(side.nnx.to_pure_dict(side.nnx.state(model, side.nnx.Param)))

        @side.nnx.jit
        def step(model: Any, moments: Any) -> Any:
            loss, grads = side.nnx.value_and_grad(loss_of)(model, X)
            params = side.nnx.to_pure_dict(side.nnx.state(model, side.nnx.Param))
            updates, moments = optimizer.update(side.nnx.to_pure_dict(grads), moments, params)
            state = side.nnx.state(model, side.nnx.Param)
            side.nnx.replace_by_pure_dict(state, optax.apply_updates(params, updates))
            side.nnx.update(model, state)
            return loss, moments

        losses = []
        for _ in range(5):
            loss, moments = step(model, moments)
            losses.append(loss)
        return [*losses, numbers(side, model)]

    close(train(OURS), train(FLAX))
