"""A training loop leaves the device no pause, and donated arrays are reused: on the CPU, and by ``make gpu``."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

import typed_nnx as nnx
from benchmarks.async_calls import LongComputation, Loop, Network, returned, train_step

pytestmark = [pytest.mark.gpu, pytest.mark.thorough]


@pytest.fixture(scope="module")
def computation() -> LongComputation:
    return LongComputation(0.7)


def test_no_call_of_a_training_loop_waits_for_the_device(computation: LongComputation) -> None:
    found = {name: returned(act, computation) for name, act in Loop().acts().items()}
    assert not {name: one for name, one in found.items() if not one.is_busy}


def test_a_call_that_reads_a_value_is_found_to_wait(computation: LongComputation) -> None:
    assert not returned(float, computation).is_busy


def model_and_optimizer() -> tuple[Network, nnx.Optimizer[Network]]:
    model = Network()
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)


def arrays(model: Network, optimizer: nnx.Optimizer[Network]) -> list[jax.Array]:
    """Return what a step replaces: all arrays of both."""
    found: list[jax.Array] = jax.tree.leaves(nnx.state((model, optimizer)))
    return found


def test_a_donated_step_writes_into_the_memory_of_the_arrays_that_it_replaces() -> None:
    model, optimizer = model_and_optimizer()
    step = nnx.jit(train_step, donate_argnums=(0, 1))
    x = jnp.ones((8, 4))
    step(model, optimizer, x)
    before = [array.unsafe_buffer_pointer() for array in arrays(model, optimizer)]
    for _ in range(3):
        step(model, optimizer, x)
    after = [array.unsafe_buffer_pointer() for array in arrays(model, optimizer)]
    assert sorted(after) == sorted(before)


@pytest.mark.parametrize("donated", [True, False])
def test_a_compiled_step_shares_the_memory_of_all_that_it_replaces_or_of_none(
    donated: bool,
) -> None:
    model, optimizer = model_and_optimizer()
    options: dict[str, Any] = {"donate_argnums": (0, 1)} if donated else {}
    lowered = nnx.jit(train_step, **options).lower(model, optimizer, jnp.ones((8, 4)))
    found = lowered.compile().memory_analysis().alias_size_in_bytes
    assert found == (sum(array.nbytes for array in arrays(model, optimizer)) if donated else 0)
