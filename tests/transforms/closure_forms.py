"""Ways of closing over a model, and transforms to put such a function under.

Each function counts its uses in the model and returns its last argument times the sum of the
weights, which is 3; it may get an index before it, as in `fori_loop`.
"""

from __future__ import annotations

import collections
import functools
import typing as tp
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

from tests.transforms.library import nnx
from tests.transforms.modes import number, use

Function = Callable[..., tp.Any]


def free_variable(model: tp.Any) -> Function:
    def inside(*args: tp.Any) -> tp.Any:
        return use(model, *args)

    return inside


def default_argument(model: tp.Any) -> Function:
    def inside(first: tp.Any, second: tp.Any = None, model: tp.Any = model) -> tp.Any:
        return use(model, first if second is None else second)

    return inside


def keyword_only_default(model: tp.Any) -> Function:
    def inside(*args: tp.Any, model: tp.Any = model) -> tp.Any:
        return use(model, *args)

    return inside


def partial_argument(model: tp.Any) -> Function:
    return functools.partial(use, model)


def last_of(*args: tp.Any, model: tp.Any) -> tp.Any:
    return use(model, *args)


def partial_keyword(model: tp.Any) -> Function:
    return functools.partial(last_of, model=model)


def nested_partial(model: tp.Any) -> Function:
    def outer(function: Function, *args: tp.Any) -> tp.Any:
        return function(*args)

    return functools.partial(outer, functools.partial(use, model))


def bound_method(model: tp.Any) -> Function:
    return tp.cast(Function, model.step)


def callable_module(model: tp.Any) -> Function:
    return tp.cast(Function, model)


def captured_bound_method(model: tp.Any) -> Function:
    step = model.step
    return lambda *args: step(*args)


def closure_of_a_closure(model: tp.Any) -> Function:
    def inner(*args: tp.Any) -> tp.Any:
        return use(model, *args)

    def middle(*args: tp.Any) -> tp.Any:
        return inner(*args)

    def outer(*args: tp.Any) -> tp.Any:
        return middle(*args)

    return outer


def captured_lambda(model: tp.Any) -> Function:
    of_model = lambda *args: use(model, *args)  # noqa: E731 -- the form under test

    def inside(*args: tp.Any) -> tp.Any:
        return of_model(*args)

    return inside


def function_made_inside(model: tp.Any) -> Function:
    def inside(*args: tp.Any) -> tp.Any:
        def late() -> tp.Any:
            return use(model, *args)

        return late()

    return inside


def recursion(model: tp.Any) -> Function:
    def down(depth: int, *args: tp.Any) -> tp.Any:
        return use(model, *args) if depth == 0 else down(depth - 1, *args)

    return lambda *args: down(2, *args)


def mutual_recursion(model: tp.Any) -> Function:
    def even(depth: int, *args: tp.Any) -> tp.Any:
        return use(model, *args) if depth == 0 else odd(depth - 1, *args)

    def odd(depth: int, *args: tp.Any) -> tp.Any:
        return even(depth - 1, *args)

    return lambda *args: even(4, *args)


def in_a_list(model: tp.Any) -> Function:
    models = [model]
    return lambda *args: use(models[0], *args)


def in_a_tuple(model: tp.Any) -> Function:
    models = (None, (model,))
    return lambda *args: use(models[1][0], *args)


def in_a_dict(model: tp.Any) -> Function:
    models = {"net": {"main": [model]}}
    return lambda *args: use(models["net"]["main"][0], *args)


Pair = collections.namedtuple("Pair", ["model", "scale"])


def in_a_named_tuple(model: tp.Any) -> Function:
    pair = Pair(model, 1.0)
    return lambda *args: use(pair.model, *args)


def list_that_holds_itself(model: tp.Any) -> Function:
    models: list[tp.Any] = [model]
    models.append(models)
    return lambda *args: use(models[1][0], *args)


FORMS: dict[str, Callable[[tp.Any], Function]] = {
    made.__name__: made
    for made in (
        free_variable,
        default_argument,
        keyword_only_default,
        partial_argument,
        partial_keyword,
        nested_partial,
        bound_method,
        callable_module,
        captured_bound_method,
        closure_of_a_closure,
        captured_lambda,
        function_made_inside,
        recursion,
        mutual_recursion,
        in_a_list,
        in_a_tuple,
        in_a_dict,
        in_a_named_tuple,
        list_that_holds_itself,
    )
}


class Run(tp.NamedTuple):
    """How a transform runs a function on 2 (or on 1, 2, 3), and what comes of it."""

    apply: Callable[..., tp.Any]
    result: tp.Any
    uses: int


TWO = jnp.float32(2)
MANY = jnp.array([1, 2, 3], jnp.float32)


def through_cond(function: Function, **mode: tp.Any) -> tp.Any:
    return nnx.cond(True, function, lambda x: x, TWO, **mode)


def through_shard_map(function: Function, **mode: tp.Any) -> tp.Any:
    mesh = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    return nnx.shard_map(function, mesh=mesh, in_specs=P(), out_specs=P(), **mode)(TWO)


def with_rule(function: Function, **mode: tp.Any) -> Function:
    """Give a function a gradient of 7, whatever it computes."""
    made = nnx.custom_vjp(function, **mode)
    made.defvjp(lambda x: (made(x), None), lambda kept, g: (jnp.float32(7),))
    return made


RUNS: dict[str, Run] = {
    "jit": Run(lambda f, **mode: nnx.jit(f, **mode)(TWO), 6.0, 1),
    "remat": Run(lambda f, **mode: nnx.remat(f, **mode)(TWO), 6.0, 1),
    "vmap": Run(lambda f, **mode: nnx.vmap(f, **mode)(MANY), [3.0, 6.0, 9.0], 1),
    "pmap": Run(lambda f, **mode: nnx.pmap(f, **mode)(TWO[None]), [6.0], 1),
    "shard_map": Run(through_shard_map, 6.0, 1),
    "checkify": Run(lambda f, **mode: nnx.checkify(f, **mode)(TWO)[1], 6.0, 1),
    "grad": Run(lambda f, **mode: nnx.grad(f, **mode)(TWO), 3.0, 1),
    "value_and_grad": Run(lambda f, **mode: sum(nnx.value_and_grad(f, **mode)(TWO)), 9.0, 1),
    "vjp": Run(lambda f, **mode: nnx.vjp(f, TWO, **mode)[1](jnp.float32(1))[0], 3.0, 1),
    "jvp": Run(lambda f, **mode: nnx.jvp(f, (TWO,), (TWO,), **mode)[1], 6.0, 1),
    "custom_vjp": Run(lambda f, **mode: with_rule(f, **mode)(TWO), 6.0, 1),
    "scan": Run(
        lambda f, **mode: nnx.scan(f, in_axes=0, out_axes=0, **mode)(MANY), [3.0, 6.0, 9.0], 3
    ),
    "cond": Run(through_cond, 6.0, 1),
    "switch": Run(
        lambda f, **mode: nnx.switch(1, [lambda x: x, f, lambda x: -x], TWO, **mode), 6.0, 1
    ),
    "while_loop": Run(lambda f, **mode: nnx.while_loop(lambda x: x < 50, f, TWO, **mode), 54.0, 3),
    "fori_loop": Run(lambda f, **mode: nnx.fori_loop(0, 3, f, TWO, **mode), 54.0, 3),
}


def outcome(run: Run, function: Function, **mode: tp.Any) -> tp.Any:
    """Return what a transform makes of a function, as plain numbers."""
    return number(run.apply(function, **mode))
