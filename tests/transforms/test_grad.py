"""`grad`, `value_and_grad` and `vjp`: what they give and leave behind is what flax gives and leaves behind.

`test_the_gradient_is_the_one_of_jax` is the independent way to the numbers.
"""

from __future__ import annotations

import typing as tp
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.as_in_flax import Call, assert_as_in_flax
from tests.transforms.gradient_models import (
    X,
    affine,
    affine_values,
    close,
    forward,
    like_affine,
    paths,
    stack,
)
from tests.transforms.jit_models import numbers
from tests.transforms.modes import all_modes


class Problem(tp.NamedTuple):
    """A function to differentiate, its arguments, and the options of `grad`."""

    loss: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any] = {}


def two(a: Any, b: Any, x: Any) -> Any:
    return a(X) * b(x) ** 2


def of_two(argnums: Any) -> Callable[[Any], Problem]:
    return lambda lib: Problem(two, (affine(lib), affine(lib, 2.0), X), {"argnums": argnums})


def of_model(loss: Callable[[Any], Any], **options: Any) -> Callable[[Any], Problem]:
    return lambda lib: Problem(loss, (stack(lib),), options)


def of_a_variable(kind: str) -> Callable[[Any], Problem]:
    return lambda lib: Problem(
        lambda v: v[...] ** 3, (getattr(lib, kind)(jnp.array(2.0), tag="t"),)
    )


def of_a_part(make: Callable[[Any], Any]) -> Callable[[Any], Problem]:
    return lambda lib: Problem(
        lambda model: model(X) + model.first.calls[...] * 5,
        (stack(lib),),
        {"argnums": lib.DiffState(0, make(lib))},
    )


def product(a: Any, b: Any) -> Any:
    return a(X) * b(X)


def squared_after_a_write(weight: Any) -> Any:
    weight[...] *= 10.0
    return weight[...] ** 2


def of_python_values(model: Any, count: Any, name: Any, flag: Any, function: Any) -> Any:
    assert (type(count), type(name), type(flag)) == (int, str, bool)
    return function(sum(model.shift[...] for _ in range(count))) if flag else None


def own_type(lib: Any) -> Problem:
    class Own(lib.Param):
        pass

    model = affine(lib)
    model.kernel = Own(jnp.ones(3), tag="own")
    return Problem(lambda model: model(X), (model,))


def tied(lib: Any) -> Problem:
    model = lib.Module()
    model.z = model.a = lib.Param(jnp.array(2.0))
    return Problem(lambda model: model.a[...] * model.z[...] ** 2, (model,))


def one_model_twice(lib: Any, argnums: Any = (0, 1)) -> Problem:
    model = affine(lib)
    return Problem(product, (model, model), {"argnums": argnums})


def a_model_and_its_part(lib: Any) -> Problem:
    model = stack(lib)
    return Problem(product, (model, model.first), {"argnums": (0, 1)})


def aux_of_objects(lib: Any) -> Problem:
    def loss(model: Any, other: Any) -> Any:
        fresh = lib.List([model.first, affine(lib, 2.0)])
        return model(X), (model, model.second.calls, fresh, fresh, other)

    return Problem(loss, (stack(lib), affine(lib)), {"has_aux": True})


def of_a_state(lib: Any) -> Problem:
    state = lib.state(affine(lib))
    return Problem(lambda s: s["shift"][...] ** 2 * (s["calls"][...] + 4), (state,))


def in_containers(lib: Any) -> Problem:
    def loss(inputs: Any) -> Any:
        return inputs["models"][0](X) * inputs["factor"] + inputs["models"][1](X)

    models = (affine(lib), affine(lib, 2.0))
    return Problem(loss, ({"models": models, "factor": jnp.array(3.0)},))


GIVEN: dict[str, Callable[[Any], Problem]] = {
    "a model": of_model(lambda model: model(X) + 3 * model.first.calls[...]),
    "an own type": own_type,
    **{f"a {kind}": of_a_variable(kind) for kind in ("Param", "BatchStat", "Variable")},
    "a State": of_a_state,
    "an array": lambda lib: Problem(lambda x: x**3, (jnp.array(2.0),)),
    "a float": lambda lib: Problem(lambda x: x**3, (2.0,)),
    "a nest": lambda lib: Problem(
        lambda d: d["a"] * d["b"][0], ({"a": 2.0, "b": (jnp.array(5.0),)},)
    ),
    "models in a nest": in_containers,
    "a Variable of a nest": lambda lib: Problem(
        lambda v: v.get_value()["a"] * v.get_value()["b"] ** 2,
        (lib.Param({"a": jnp.array(2.0), "b": jnp.array(3.0)}),),
    ),
    "a value that is written": lambda lib: Problem(
        squared_after_a_write, (lib.Param(jnp.array(2.0)),)
    ),
    "a complex number": lambda lib: Problem(
        lambda v: jnp.abs(v[...]) ** 2, (lib.Param(jnp.array(1.0 + 2.0j)),)
    ),
}  # fmt: skip
WITH_OPTIONS: dict[str, Callable[[Any], Problem]] = {
    **{
        f"argnums={argnums}": of_two(argnums)
        for argnums in ((0,), (0, 1), (1, 0), [2, 0], (1, 2, 0), -1, (-1, 0), (0, 0), (0, -3), ())
    },
    "beyond": of_two(3),
    "beyond, among others": of_two((0, 4)),
    "before": of_two(-4),
    "twice": of_two((1, 1)),
    "aux": lambda lib: Problem(
        lambda model, x: (model(x) ** 2, {"y": x * 2, "text": "s", "none": None, "more": (1, [x])}),
        (affine(lib), X),
        {"has_aux": True},
    ),
    "aux of objects": aux_of_objects,
    "aux, and no pair": of_model(lambda model: model(X), has_aux=True),
    "aux, and three": of_model(lambda model: (model(X), 1, 2), has_aux=True),
    "integers": lambda lib: Problem(lambda v: v[...].astype(jnp.float32).sum(), (lib.Param(jnp.array([1, 2])),)),
    "integers, allowed": lambda lib: Problem(
        lambda v: v[...].astype(jnp.float32).sum(), (lib.Param(jnp.array([1, 2])),), {"allow_int": True}
    ),
    "a holomorphic function": lambda lib: Problem(
        lambda v: v[...] ** 2, (lib.Param(jnp.array(1.0 + 2.0j)),), {"holomorphic": True}
    ),
    "a holomorphic function of a float": lambda lib: Problem(
        lambda v: v[...] ** 2, (lib.Param(jnp.array(1.0)),), {"holomorphic": True}
    ),
    "no reduce_axes": lambda lib: Problem(lambda x: x**2, (2.0,), {"reduce_axes": ()}),
    "reduce_axes": lambda lib: Problem(lambda x: x**2, (2.0,), {"reduce_axes": ("batch",)}),
    "Python values": lambda lib: Problem(
        of_python_values, (affine(lib), 3, "n", True, jnp.sin)
    ),
    "streams": lambda lib: Problem(lambda rngs: jnp.array(1.0), (lib.Rngs(0),)),
    "tied Variables": tied,
    "one model twice": one_model_twice,
    "one model, chosen and not": lambda lib: one_model_twice(lib, 0),
    "one model, not chosen and chosen": lambda lib: one_model_twice(lib, 1),
    "a model and its part": a_model_and_its_part,
    "one array twice": lambda lib: Problem(
        lambda a, b: a * b**2, (X[0], X[0]), {"argnums": (0, 1)}
    ),
    # A loss is one real number.
    "a vector": of_model(lambda model: model(X) * X),
    "one element": of_model(lambda model: model(X)[None]),
    "a pair": of_model(lambda model: (model(X), 1.0)),
    "nothing": of_model(lambda model: None),
    "an integer": of_model(lambda model: jnp.array(1)),
    "a boolean": of_model(lambda model: model(X) > 0),
    "a complex loss": of_model(lambda model: jax.lax.complex(model(X), model(X))),
    "a text": of_model(lambda model: "loss"),
}  # fmt: skip
FILTERS: dict[str, Callable[[Any], Any]] = {
    "a type": lambda lib: lib.BatchStat,
    "a path": lambda lib: lib.PathContains("first"),
    "several": lambda lib: ("t", lib.BatchStat),
    "both": lambda lib: lib.All(lib.Param, lib.PathContains("second")),
    "a function": lambda lib: lambda path, value: path[-1] == "shift",
    "an array": lambda lib: lib.PathContains("scale"),
    "nothing": lambda lib: lib.Cache,
    "false": lambda lib: False,
    "everything": lambda lib: ...,
}
DIFF_STATES: dict[str, Callable[[Any], Problem]] = {
    **{f"DiffState of {name}": of_a_part(make) for name, make in FILTERS.items()},
    "DiffStates and a number": lambda lib: Problem(
        lambda a, b, x: two(a, b, x) * (a.calls[...] + 1),
        (affine(lib), affine(lib), X),
        {"argnums": (
            lib.DiffState(1, lib.PathContains("shift")), 2, lib.DiffState(0, lib.BatchStat),
        )},
    ),
    "a DiffState of a nest": lambda lib: Problem(
        lambda inputs: inputs["m"](X) * inputs["x"],
        ({"m": affine(lib), "x": jnp.array(3.0)},),
        {"argnums": lib.DiffState(0, lib.PathContains("shift"))},
    ),
}  # fmt: skip


def check(make: Callable[[Any], Problem], way: str, mode: dict[str, Any]) -> None:
    def call(lib: Any) -> Call:
        loss, arguments, options = make(lib)
        if way != "vjp":
            return Call(getattr(lib, way)(loss, **options, **mode), arguments)

        def pulled(*arguments: Any) -> Any:
            value, pull = lib.vjp(loss, *arguments, **mode)
            return value, pull(jnp.ones_like(value))

        return Call(pulled, arguments)

    assert_as_in_flax(call)


@all_modes
@pytest.mark.parametrize("way", ["grad", "value_and_grad", "vjp"])
@pytest.mark.parametrize("given", GIVEN)
def test_a_gradient_by_anything_is_that_of_flax(mode, way, given):
    if way == "vjp" and not mode:
        pytest.skip("NNX has no vjp where structures may change")
    check(GIVEN[given], way, mode)


@all_modes
@pytest.mark.parametrize("problem", WITH_OPTIONS)
def test_options_do_what_they_do_in_flax(mode, problem):
    for way in ("grad", "value_and_grad"):
        check(WITH_OPTIONS[problem], way, mode)


@all_modes
@pytest.mark.parametrize("problem", DIFF_STATES)
def test_diff_states_choose_what_they_choose_in_flax(mode, problem):
    check(DIFF_STATES[problem], "grad", mode)


# -- what that table does not say ------------------------------------------------------------------


@both
@all_modes
def test_the_gradient_is_the_one_of_jax(lib, mode):
    expected = jax.grad(forward)(affine_values(), X)
    like_affine(lib.grad(lambda model: model(X), **mode)(affine(lib)), expected)


@both
def test_a_new_module_in_aux_holds_values(lib):
    _, fresh = lib.grad(lambda m: (m(X), affine(lib, 3.0)), has_aux=True, graph=False)(affine(lib))
    assert type(fresh) is type(affine(lib))
    close(fresh.kernel[...], affine_values(3.0)["kernel"])


@all_modes
def test_modules_may_come_by_keyword_in_each_mode(mode):
    other = affine(nnx, 2.0)
    loss = nnx.grad(lambda model, *, other, factor: model(X) * other(X) * factor, **mode)
    found = loss(affine(nnx), other=other, factor=3.0)
    scale = 3 * forward(affine_values(2.0), X)
    like_affine(found, jax.grad(lambda v: forward(v, X) * scale)(affine_values()))
    assert numbers(other.calls) == 1.0


@both
@pytest.mark.parametrize("argnums", [0, 1, -1])
def test_arguments_to_differentiate_by_may_come_by_keyword(lib, argnums):
    by_name = lib.grad(two, argnums=argnums)(affine(lib), x=X, b=affine(lib, 2.0))
    by_position = lib.grad(two, argnums=argnums)(affine(lib), affine(lib, 2.0), X)
    jax.tree.map(close, by_name, by_position)


@both
@all_modes
def test_it_decorates_methods(lib, mode):
    class Model(lib.Module):  # type: ignore[name-defined]  # the library is a parameter
        def __init__(self):
            self.shift = lib.Param(jnp.array(2.0))
            self.calls = lib.BatchStat(jnp.array(0.0))

        @lib.grad(**mode)
        def by_self(self, x):
            self.calls[...] += 1.0
            return self.shift[...] ** 2 * x

        @lib.value_and_grad(argnums=1, **mode)
        def by_x(self, x):
            return self.shift[...] * x**2

    model = Model()
    close(model.by_self(3.0).shift[...], jnp.array(12.0))
    close(Model.by_self(model, 3.0).shift[...], jnp.array(12.0))
    assert [float(x) for x in model.by_x(3.0)] == [18.0, 12.0]
    assert numbers(model.calls) == 2.0


def test_a_position_may_be_an_integer_of_numpy():
    position: Any = np.int64(1)
    close(nnx.grad(lambda x, y: x * y * y, argnums=position)(2.0, 3.0), jnp.array(12.0))


def test_a_module_counted_from_the_last_argument_gives_its_params_too():
    # NNX loses the filter there and differentiates by every Variable.
    found = nnx.grad(two, argnums=-2)(affine(nnx), affine(nnx), X)
    assert paths(nnx, found) == {("kernel",), ("shift",)}
    found = nnx.grad(two, argnums=nnx.DiffState(-2, nnx.BatchStat))(affine(nnx), affine(nnx), X)
    assert paths(nnx, found) == {("calls",)}


@both
def test_diff_states_are_equal_by_value(lib):
    assert lib.DiffState(0, lib.Param) == lib.DiffState(0, lib.Param)
    assert lib.DiffState(0, lib.Param) != lib.DiffState(1, lib.Param)
    assert lib.DiffState(0, lib.Param) != lib.DiffState(0, lib.BatchStat)
    assert len({lib.DiffState(0, lib.Param), lib.DiffState(0, lib.Param)}) == 1
    assert repr(lib.DiffState(2, "t")) == "DiffState(argnum=2, filter='t')"
