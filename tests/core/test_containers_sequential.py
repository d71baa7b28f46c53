"""`nnx.Sequential` as a callable sequence, compared with flax.nnx."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.support.peer import Scenario, assert_as_in_flax, assert_refused_as_in_flax, scenarios
from typed_nnx import Linear


def called_in_order(nnx: tp.Any) -> tp.Any:
    model = nnx.Sequential(lambda x: x + 1, lambda x: x * 10, str)
    return model(2), len(model.layers)


def outputs_become_arguments(nnx: tp.Any) -> tp.Any:
    model = nnx.Sequential(
        lambda x, y=1: (x, y),
        lambda a, b: {"p": a + b, "q": a * b},
        lambda p, q: [p, q],
        lambda pair: pair,
    )
    return model(2, y=5), model(3)


def streams_are_passed_on(nnx: tp.Any) -> tp.Any:
    def noisy(x: float, rngs: tp.Any) -> float:
        return x + float(jax.random.key_data(rngs.noise())[1])

    return nnx.Sequential(lambda x: x, noisy, lambda x: x, noisy)(1.0, rngs=nnx.Rngs(3))


def paths(nnx: tp.Any) -> tp.Any:
    class Scale(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.ones(()))

    model = nnx.Sequential(Scale(), jnp.tanh, Scale())
    return [path for path, _ in nnx.to_flat_state(nnx.state(model))]


def empty(nnx: tp.Any) -> tp.Any:
    return nnx.Sequential()(1)


@scenarios(empty, called_in_order, outputs_become_arguments, streams_are_passed_on, paths)
def test_a_sequential_does_what_it_does_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def something_that_cannot_be_called(nnx: tp.Any) -> tp.Any:
    return nnx.Sequential(lambda x: x, 5)(1)


@scenarios(something_that_cannot_be_called)
def test_a_sequential_refuses_what_flax_refuses(scenario: Scenario) -> None:
    assert_refused_as_in_flax(scenario)


def test_the_element_that_cannot_be_called_is_named() -> None:
    broken: tp.Any = nnx.Sequential(lambda x: x, 5)  # type: ignore[arg-type]  # under test
    with pytest.raises(TypeError, match="element 1 is a int, which is not callable"):
        broken(1)


def test_it_is_a_sequence() -> None:
    layers = [Linear(2, 2, rngs=nnx.Rngs(i)) for i in range(3)]
    model = nnx.Sequential(*layers)
    assert len(model) == 3
    assert list(model) == layers
    assert model[0] is layers[0]
    assert model[-1] is layers[2]
    assert bool(nnx.Sequential())


def test_a_slice_shares_the_layers() -> None:
    layers = [Linear(2, 2, rngs=nnx.Rngs(i)) for i in range(3)]
    part = nnx.Sequential(*layers)[1:]
    assert type(part) is nnx.Sequential
    assert list(part) == layers[1:]


def test_an_element_can_be_replaced_and_the_record_sees_it() -> None:
    model = nnx.Sequential(Linear(2, 2, rngs=nnx.Rngs(0)), Linear(2, 2, rngs=nnx.Rngs(1)))
    nnx.split(model)
    new = Linear(2, 5, rngs=nnx.Rngs(2))
    model[-1] = new
    assert model.layers[1] is new
    assert nnx.state(model)["layers"][1]["kernel"].shape == (2, 5)


def test_split_and_merge_give_the_same_function() -> None:
    model = nnx.Sequential(Linear(2, 3, rngs=nnx.Rngs(0)), jnp.tanh)
    x = jnp.array([[1.0, 2.0]])
    assert jnp.array_equal(nnx.merge(*nnx.split(model))(x), model(x))


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((12,), {}), ((12, 23), {}), ((), {"k": 2})],
    ids=["nothing", "one", "two", "keyword"],
)
def test_an_empty_one_returns_its_arguments(args: tp.Any, kwargs: tp.Any) -> None:
    assert_as_in_flax(lambda nnx: nnx.Sequential()(*args, **kwargs))
