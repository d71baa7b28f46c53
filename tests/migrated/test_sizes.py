"""Sizes that no argument is named after, found by constructing a model on shapes alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from typed_nnx import migrated
from typed_nnx.migrated import KnownSizes, construct_later

X = jnp.ones((2, 5, 4))


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test begin without sizes of models that were constructed before."""
    monkeypatch.setattr(KnownSizes, "found", {})


class Parts(nnx.Module):
    """Layers of several kinds, with sizes that a call computes."""

    def __init__(
        self,
        *,
        first_in_features: int,
        wide_in_features: int,
        cell_in_features: int,
        rngs: nnx.Rngs,
    ) -> None:
        self.first = nnx.List([nnx.Linear(first_in_features, 6, rngs=rngs)])
        self.norm = nnx.GroupNorm(wide_in_features, num_groups=3, rngs=rngs)
        self.wide = nnx.Conv(2 * wide_in_features + 1, 6, (3,), rngs=rngs)
        self.cell = nnx.RNN(nnx.GRUCell(cell_in_features, 3, rngs=rngs))

    def __call__(self, x: jax.Array) -> jax.Array:
        x = self.first[0](x[..., :3])
        x = self.norm(x)
        x = self.wide(jnp.concatenate([x, x, x[..., :1]], -1))
        return self.cell(jnp.concatenate([x, x], -1))


def test_layers_that_a_call_reaches_tell_sizes() -> None:
    variables = migrated.init_with(Parts, jax.random.key(0), X)
    sizes = {"first_in_features": 3, "wide_in_features": 6, "cell_in_features": 12}
    expected = migrated.variables_of(Parts(**sizes, rngs=nnx.Rngs(0)))
    assert jax.tree.map(jnp.shape, variables) == jax.tree.map(jnp.shape, expected)


def test_variables_tell_sizes_to_a_method_without_arguments() -> None:
    variables = migrated.init_with(Parts, jax.random.key(0), X)
    KnownSizes.found.clear()
    found = jax.jit(
        lambda given: migrated.apply_with(Parts, given, method=lambda one: one.wide.kernel[...])
    )(variables)
    assert found.shape == (3, 13, 6)


class Encoder(nnx.Module):
    """A model that waits in fields, and computes what others read."""

    def __init__(self, width: int, *, in_shape: tuple[int, ...], rngs: nnx.Rngs) -> None:
        self.out_features = 2 * width
        self.dense = nnx.Linear(in_shape[-2] * in_shape[-1], 2 * width, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dense(x.reshape(x.shape[0], -1))

    def encode(self, x: jax.Array) -> jax.Array:
        return nnx.relu(self(x))


class Around(nnx.Module):
    """A model with others in its fields."""

    def __init__(self, inner: Any, *, extra_in_features: int, rngs: nnx.Rngs) -> None:
        self.inner = inner if isinstance(inner, nnx.Module) else nnx.data(inner)
        self.head = nnx.Linear(self.one.out_features, 3, rngs=rngs)
        self.extra = nnx.Linear(extra_in_features, 3, rngs=rngs)
        self.out_features = 3

    @property
    def one(self) -> Any:
        """The model in the field."""
        match self.inner:
            case list() | dict():
                return self.inner[0]
        return self.inner

    def __call__(self, x: jax.Array) -> jax.Array:
        if not isinstance(self.one, Encoder):
            return self.head(self.one(x)) + self.extra(x[:, 0])
        return self.head(self.one.encode(x)) + self.extra(jnp.concatenate([x[:, 0], x[:, 1]], -1))


@pytest.mark.parametrize(
    "held", [lambda one: one, lambda one: [one], lambda one: {0: one}], ids=["it", "list", "dict"]
)
def test_models_in_fields_wait_for_their_sizes(held: Callable[[Any], Any]) -> None:
    model = partial(Around, held(construct_later(Encoder, 2)))
    variables = migrated.init_with(model, jax.random.key(0), X)
    assert variables["params"]["extra"]["kernel"].shape == (8, 3)
    inside = Around(
        held(Encoder(2, in_shape=X.shape, rngs=nnx.Rngs(0))), extra_in_features=8, rngs=nnx.Rngs(0)
    )
    expected = jax.tree.map(jnp.shape, migrated.variables_of(inside))
    assert jax.tree.map(jnp.shape, variables) == expected
    KnownSizes.found.clear()
    output = jax.jit(partial(migrated.apply_with, model))(variables, X)
    assert output.shape == (2, 3)


def test_models_wait_in_models_that_wait() -> None:
    model = construct_later(Around, construct_later(Around, construct_later(Encoder, 2)))
    variables = migrated.init_with(model, jax.random.key(0), X)
    params = variables["params"]
    assert params["inner"]["inner"]["dense"]["kernel"].shape == (20, 4)
    assert params["inner"]["extra"]["kernel"].shape == (8, 3)
    assert params["extra"]["kernel"].shape == (4, 3)


def test_what_no_call_tells_is_an_error_that_names_it() -> None:
    class Unread(nnx.Module):
        def __init__(self, *, never_in_features: int, rngs: nnx.Rngs) -> None:
            self.never = nnx.Linear(never_in_features, 2, rngs=rngs)

        def __call__(self, x: jax.Array) -> jax.Array:
            return x

    with pytest.raises(TypeError, match="does not determine `never_in_features` of Unread"):
        migrated.init_with(Unread, jax.random.key(0), X)
