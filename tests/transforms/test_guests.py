"""Modules of flax.nnx under our transforms: reading works, and a change is an error, not lost."""

from __future__ import annotations

import functools
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.support.processes import run_process
from tests.transforms.calls import CALLS
from typed_nnx.errors import ForeignModuleError


class Guest(flax_nnx.Module):
    def __init__(self) -> None:
        self.w = flax_nnx.Param(jnp.arange(3.0))
        self.calls = flax_nnx.Variable(jnp.array(0.0))
        self.noise = flax_nnx.Dropout(0.5, rngs=flax_nnx.Rngs(0))


def read(guest: Any, x: Any) -> Any:
    return guest.w[...] * x


def write(guest: Any, x: Any) -> Any:
    guest.calls[...] += 1
    return read(guest, x)


def grow(guest: Any, x: Any) -> Any:
    guest.more = flax_nnx.Param(x)
    return read(guest, x)


def draw(guest: Any, x: Any) -> Any:
    return guest.noise(x)


NAMES = [name for name in CALLS if name not in ("eager", "checkify")]
with_each_transform = pytest.mark.parametrize(
    "transform", [functools.partial(CALLS[name], nnx) for name in NAMES], ids=NAMES
)


@with_each_transform
def test_reading_a_module_of_flax_gives_what_it_gives_outside(transform: Any) -> None:
    guest, x = Guest(), jnp.full(3, 2.0)
    np.testing.assert_array_equal(transform(read, guest, x), read(guest, x))


@with_each_transform
@pytest.mark.parametrize("function", [write, grow, draw], ids=lambda f: f.__name__)
def test_a_change_of_a_module_of_flax_is_an_error_and_leaves_it_as_it_was(
    function: Any, transform: Any
) -> None:
    guest, x = Guest(), jnp.ones(3)
    before: Any = jax.tree.structure(flax_nnx.state(guest))
    with pytest.raises(ForeignModuleError, match="a Guest of flax.nnx"):
        transform(function, guest, x)
    assert jax.tree.structure(flax_nnx.state(guest)) == before
    assert guest.calls[...] == 0.0


def test_a_guest_inside_a_container_or_by_keyword_is_found() -> None:
    x = jnp.ones(3)
    with pytest.raises(ForeignModuleError, match=r": guests has a Guest"):
        nnx.jit(lambda guests, x: write(guests["one"], x))({"one": Guest()}, x)
    with pytest.raises(ForeignModuleError, match=r"guest"):
        nnx.jit(write)(x=x, guest=Guest())


@pytest.mark.parametrize("status", [lambda x: x, nnx.data, nnx.static], ids=["", "data", "static"])
@pytest.mark.parametrize(
    "held",
    [Guest, lambda: flax_nnx.Param(1.0), lambda: [{"one": Guest()}], lambda: flax_nnx.Rngs(0)],
    ids=["module", "variable", "container", "rngs"],
)
def test_a_module_of_ours_does_not_hold_what_would_never_be_trained(status: Any, held: Any) -> None:
    class Host(nnx.Module):
        def __init__(self) -> None:
            self.guest = status(held())

    for build in (Host, lambda: nnx.Dict(guest=status(held())), lambda: nnx.List([status(held())])):
        with pytest.raises(ForeignModuleError, match=r"of flax\.nnx; gradients, optimizers"):
            build()


def test_its_rng_counts_are_not_lost_either() -> None:
    with pytest.raises(ForeignModuleError, match="a Rngs of flax.nnx"):
        nnx.jit(lambda rngs: rngs.params())(flax_nnx.Rngs(0))


def test_a_state_of_flax_is_a_tree_of_values_that_a_function_may_change() -> None:
    state = flax_nnx.state(Guest(), flax_nnx.Param)

    def doubled(state: Any) -> Any:
        state["w"] = 2 * state["w"][...]
        return state["w"]

    np.testing.assert_array_equal(nnx.jit(doubled)(state), 2 * jnp.arange(3.0))


@pytest.mark.thorough
def test_our_transforms_do_not_import_flax_for_this() -> None:
    program = (
        "import sys, jax.numpy as jnp, typed_nnx as nnx\n"
        "print(nnx.jit(lambda x: x + 1)(jnp.ones(())), 'flax' in sys.modules)"
    )
    done = run_process([sys.executable, "-c", program], check=True)
    assert done.stdout.split() == ["2.0", "False"]
