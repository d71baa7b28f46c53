"""Decorators of chex and jaxtyping work on Modules, States and jitted functions."""

from typing import Any

import chex  # type: ignore[import-untyped]  # it has no types
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Float, TypeCheckError, jaxtyped

import typed_nnx as nnx


class Network(nnx.Module):
    """Checks the shapes of its inputs and outputs."""

    @jaxtyped(typechecker=beartype)
    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.layer = nnx.Linear(4, 3, rngs=rngs)

    @jaxtyped(typechecker=beartype)
    def __call__(self, x: Float[jax.Array, "batch 4"]) -> Float[jax.Array, "batch 3"]:  # noqa: F722  # shapes, not annotations
        return self.layer(x)


def layer() -> nnx.Linear:
    return nnx.Linear(4, 3, rngs=nnx.Rngs(0))


def test_chex_counts_traces_and_compares_states() -> None:
    @nnx.jit
    @chex.assert_max_traces(n=1)
    def step(model: nnx.Linear, x: jax.Array) -> jax.Array:
        chex.assert_shape(x, (None, 4))
        return model(x)

    model = layer()
    step(model, jnp.ones((2, 4)))
    step(model, jnp.ones((2, 4)))
    with pytest.raises(AssertionError, match="traced"):
        step(model, jnp.ones((5, 4)))
    chex.assert_trees_all_equal(nnx.state(model), nnx.state(nnx.clone(model)))
    chex.assert_tree_all_finite(nnx.state(model))
    other = nnx.clone(model)
    other.kernel[...] += 1
    with pytest.raises(AssertionError):
        chex.assert_trees_all_close(nnx.state(model), nnx.state(other))


def test_a_dataclass_of_chex_may_hold_a_module() -> None:
    @chex.dataclass
    class Task:
        model: nnx.Linear
        x: jax.Array

    kind: Any = Task  # a dataclass, which checkers do not see
    task = kind(model=layer(), x=jnp.ones((2, 4)))

    @nnx.jit
    def run(task: Any) -> jax.Array:
        task.model.kernel[...] *= 2
        return task.model(task.x)

    before = np.asarray(task.model.kernel[...])
    np.testing.assert_allclose(run(task), np.ones((2, 4)) @ (2 * before), rtol=1e-6)
    np.testing.assert_allclose(task.model.kernel[...], 2 * before)


@pytest.mark.thorough
def test_jaxtyping_checks_the_shapes_of_methods_and_of_jitted_functions() -> None:
    network = Network(rngs=nnx.Rngs(0))
    for call in (network, nnx.jit(network), nnx.jit(Network.__call__).__get__(network)):
        assert call(jnp.ones((2, 4))).shape == (2, 3)
        with pytest.raises(TypeCheckError):
            call(jnp.ones((2, 5)))
