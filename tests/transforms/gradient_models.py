"""A small model with a known gradient, for the tests of `grad` and its kin, for either library."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np

from tests.transforms.jit_models import numbers

X = jnp.array([0.5, -1.0, 2.0])


@functools.cache
def affine_type(lib: tp.Any) -> tp.Any:
    class Affine(lib.Module):
        """kernel, float [3]; shift, float; the number of calls as float; a static name."""

        def __init__(self, start: float = 1.0) -> None:
            self.kernel = lib.Param(jnp.array([0.1, 0.2, -0.3]) * start)
            self.shift = lib.Param(jnp.array(0.5), tag="t")
            self.calls = lib.BatchStat(jnp.array(0.0))
            self.name = "affine"

        def __call__(self, x: tp.Any) -> tp.Any:
            self.calls[...] += 1.0
            return forward({"kernel": self.kernel[...], "shift": self.shift[...]}, x)

    return Affine


def affine(lib: tp.Any, start: float = 1.0) -> tp.Any:
    return affine_type(lib)(start)


@functools.cache
def stack_type(lib: tp.Any) -> tp.Any:
    class Stack(lib.Module):
        """Two Affines and a plain array."""

        def __init__(self) -> None:
            self.first = affine(lib)
            self.second = affine(lib, 2.0)
            self.scale = jnp.array(2.0)

        def __call__(self, x: tp.Any) -> tp.Any:
            return self.second(self.first(x) * x) * self.scale

    return Stack


def stack(lib: tp.Any) -> tp.Any:
    return stack_type(lib)()


def forward(values: tp.Any, x: jax.Array) -> jax.Array:
    """Compute what Affine computes, from plain values."""
    return jnp.tanh(jnp.sum(values["kernel"] * x) + values["shift"])


def affine_values(start: float = 1.0) -> dict[str, jax.Array]:
    """Return the Params of a new Affine as plain arrays."""
    return {"kernel": jnp.array([0.1, 0.2, -0.3]) * start, "shift": jnp.array(0.5)}


def stack_forward(values: tp.Any, x: jax.Array) -> jax.Array:
    """Compute what Stack computes, from plain values."""
    return forward(values["second"], forward(values["first"], x) * x) * 2.0


def stack_values() -> dict[str, dict[str, jax.Array]]:
    return {"first": affine_values(), "second": affine_values(2.0)}


def close(found: tp.Any, expected: tp.Any) -> None:
    """Check that two numbers or arrays agree, in dtype too."""
    found, expected = jnp.asarray(found), jnp.asarray(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def like_affine(found: tp.Any, expected: tp.Mapping[str, jax.Array]) -> None:
    """Check gradients by an Affine, in a State or in a Module."""
    close(found.kernel[...], expected["kernel"])
    close(found.shift[...], expected["shift"])


def paths(lib: tp.Any, state: tp.Any) -> set[tuple[tp.Any, ...]]:
    """Return the paths of the Variables of a State."""
    return set(dict(lib.to_flat_state(state)))


def bits(model: tp.Any) -> tp.Any:
    """Return identities and values, to see that nothing of an object has changed."""
    return {name: bits_of(value) for name, value in vars(model).items() if name[0] != "_"}


def bits_of(value: tp.Any) -> tp.Any:
    if hasattr(value, "get_raw_value"):
        return id(value), numbers(value.get_raw_value()), dict(value.get_metadata())
    if isinstance(value, jax.Array):
        return id(value)
    return (id(value), bits(value)) if hasattr(value, "__dict__") else value
