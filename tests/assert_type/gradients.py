"""Types of `grad`, `value_and_grad` and `DiffState`: functions, arguments, forms, wrong uses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import EllipsisType
from typing import Any, Literal, TypeAlias, TypeVar, assert_type

import jax

import typed_nnx as nnx
from tests.assert_type.models import CNN, MLP, Adapted, Temperature, logits_loss

M = TypeVar("M", bound=nnx.Module)

MLPParams: TypeAlias = nnx.State[Any, Any, MLP, type[nnx.Param[Any]]]
CNNParams: TypeAlias = nnx.State[Any, Any, CNN, type[nnx.Param[Any]]]


def scaled(model: MLP, x: jax.Array, *, scale: float = 1.0) -> jax.Array:
    """Return a loss, float32 []."""
    return model(x).mean() * scale


def with_aux(model: MLP, batch: dict[str, Any]) -> tuple[jax.Array, dict[str, Any]]:
    """Return a loss, float32 [], and what came with it."""
    return model(batch["x"]).mean(), batch


def of_state(state: nnx.State) -> jax.Array:
    """Return a loss of a State, float32 []."""
    return jax.numpy.mean(state.weight[...])


def of_variable(variable: nnx.Param[jax.Array]) -> jax.Array:
    """Return a loss of a Variable, float32 []."""
    return variable[...].mean()


def of_arrays(arrays: dict[str, jax.Array]) -> jax.Array:
    """Return a loss of a tree of arrays, float32 []."""
    return arrays["x"].mean()


def of_maybe(model: MLP | None, x: jax.Array) -> jax.Array:
    """Return a loss of a Module that may be absent, float32 []."""
    return x if model is None else model(x).mean()


def of_either(model: MLP | CNN, x: jax.Array) -> jax.Array:
    """Return a loss of one of two Modules, float32 []."""
    return model(x).mean()


def of_any(model: Any, x: Any) -> jax.Array:
    """Return a loss of anything, float32 []."""
    return jax.numpy.mean(model(x))


def nothing() -> jax.Array:
    """Return a constant, float32 []."""
    return jax.numpy.ones(())


def by_name(*, model: MLP) -> jax.Array:
    """Return a loss of an argument that has no position, float32 []."""
    return model(jax.numpy.ones(3)).mean()


class Loss:
    """A callable object."""

    def __call__(self, model: CNN, x: jax.Array) -> jax.Array:
        return model(x).mean()

    def method(self, model: CNN, x: jax.Array) -> jax.Array:
        """Return a loss, float32 []."""
        return self(model, x)


def signatures(model: MLP, x: jax.Array) -> None:
    """All names, keywords and defaults of the function are kept."""
    assert_type(nnx.grad(logits_loss)(model, x, x), MLPParams)
    assert_type(nnx.grad(logits_loss)(model=model, x=x, y=x), MLPParams)
    assert_type(nnx.grad(scaled)(model, x, scale=2.0), MLPParams)
    assert_type(nnx.value_and_grad(scaled)(model, x), tuple[jax.Array, MLPParams])
    nnx.grad(scaled)(model)  # E
    nnx.grad(scaled)(x, x)  # E
    nnx.grad(scaled)(model, x, 2.0)  # E
    nnx.grad(scaled)(model, x, scale="two")  # E
    nnx.grad(scaled)(model, x, sale=2.0)  # E
    nnx.value_and_grad(logits_loss)(model, x)  # E


def arguments(
    model: MLP,
    maybe: MLP | None,
    state: nnx.State,
    variable: nnx.Param[jax.Array],
    x: jax.Array,
    other: CNN,
) -> None:
    """A State of Params for a Module, its own type for anything else."""
    assert_type(nnx.grad(of_state)(state), nnx.State)
    assert_type(nnx.grad(of_variable)(variable), nnx.Param[jax.Array])
    assert_type(nnx.grad(of_arrays)({"x": x}), dict[str, jax.Array])
    assert_type(nnx.grad(of_maybe)(maybe, x), MLPParams | None)
    nnx.grad(of_either)(other, x)
    nnx.grad(of_either)(x, x)  # E
    nnx.grad(of_variable)(x)  # E
    nnx.grad(of_state)(model)  # E


def gradients_are_of_one_model(model: MLP, other: CNN, x: jax.Array) -> None:
    """The gradient of one model is none of another."""
    wanted: MLPParams = nnx.grad(scaled)(model, x)
    wrong: CNNParams = nnx.grad(scaled)(model, x)  # E
    alike: jax.Array = nnx.grad(scaled, argnums=1)(model, x)
    kernel = nnx.grad(scaled, argnums=1)(model, x).kernel  # E
    del wanted, wrong, alike, kernel, other


def has_aux(model: MLP, batch: dict[str, Any], x: jax.Array) -> None:
    """What comes with the loss comes with the gradient."""
    assert_type(nnx.grad(with_aux, has_aux=True)(model, batch), tuple[MLPParams, dict[str, Any]])
    assert_type(
        nnx.value_and_grad(with_aux, has_aux=True)(model, batch),
        tuple[tuple[jax.Array, dict[str, Any]], MLPParams],
    )
    (loss, aux), slopes = nnx.value_and_grad(with_aux, has_aux=True)(model, batch=batch)
    assert_type(loss, jax.Array)
    assert_type(aux, dict[str, Any])
    assert_type(slopes, MLPParams)
    nnx.value_and_grad(with_aux)(model, batch)  # E pyright: mypy has the check of its plugin
    nnx.value_and_grad(with_aux, has_aux=False)
    nnx.grad(scaled, has_aux=True)  # E
    nnx.value_and_grad(scaled, has_aux=True)(model, x)  # E
    nnx.value_and_grad(with_aux, has_aux=True)(model, x)  # E


def filters(model: Adapted, other: MLP, x: jax.Array, wrt: nnx.DiffState) -> None:
    """A `DiffState` says which Variables, and its type which argument."""
    first = nnx.DiffState(0, nnx.LoRAParam)
    assert_type(
        nnx.grad(of_adapted, argnums=first)(model, x),  # E pyright: with its array
        nnx.State[Any, Any, Adapted, type[nnx.LoRAParam[Any]]],
    )
    assert_type(
        nnx.grad(of_adapted, argnums=nnx.DiffState(0, ...))(model, x),
        nnx.State[Any, Any, Adapted, EllipsisType],
    )
    assert_type(
        nnx.grad(of_adapted, argnums=nnx.DiffState(0, nnx.Not(nnx.LoRAParam)))(model, x),
        nnx.State[Any, Any, Adapted, nnx.Not],
    )
    assert_type(
        nnx.grad(scaled, argnums=nnx.DiffState(0, Temperature))(other, x),
        nnx.State[Any, Any, MLP, type[Temperature]],
    )
    assert_type(
        nnx.grad(scaled, argnums=nnx.DiffState(0, "tag"))(other, x), nnx.State[Any, Any, MLP, str]
    )
    assert_type(nnx.DiffState(0, "tag"), nnx.DiffState[Literal[0], str])
    nnx.grad(scaled, argnums=wrt)(other, x)
    nnx.DiffState("model", nnx.Param)  # E
    nnx.DiffState(0, 3)  # E
    nnx.grad(scaled, argnums=nnx.DiffState(2, nnx.Param))  # E


def of_adapted(model: Adapted, x: jax.Array) -> jax.Array:
    """Return a loss, float32 []."""
    return model(x).mean()


def other_choices(model: MLP, x: jax.Array, unknown: Callable[..., Any], number: int) -> None:
    """Positions whose types are not told apart keep the signature and the loss."""
    assert_type(nnx.value_and_grad(scaled, argnums=-1)(model, x), tuple[jax.Array, Any])
    assert_type(nnx.value_and_grad(scaled, argnums=[0, 1])(model, x), tuple[jax.Array, Any])
    assert_type(
        nnx.value_and_grad(scaled, argnums=(1, 0))(model, x),
        tuple[jax.Array, tuple[jax.Array, MLPParams]],
    )
    nnx.grad(scaled, argnums=-1)(x)  # E
    nnx.grad(scaled, argnums=2)  # E
    nnx.grad(scaled, argnums="x")  # E
    # Of what has no signature of its own a position may be any number, and anything be flags.
    nnx.grad(unknown, argnums=number)(model)
    nnx.value_and_grad(unknown, argnums=(number, 1), has_aux=bool(number))(model)


def functions(
    model: CNN, mlp: MLP, x: jax.Array, loss: Loss, unknown: Callable[..., jax.Array]
) -> None:
    """Anything that can be called."""
    assert_type(nnx.grad(loss)(model, x=x), CNNParams)
    assert_type(nnx.grad(loss.method)(model, x=x), CNNParams)
    assert_type(nnx.grad(mlp)(x), jax.Array)
    # A pair first: pyright keeps what it found of a class that does not fit a protocol.
    assert_type(nnx.grad(nnx.jit(with_aux), has_aux=True)(mlp, {"x": x})[0], MLPParams)
    assert_type(nnx.grad(nnx.jit(scaled))(mlp, x), MLPParams)
    assert_type(nnx.grad(nnx.remat(scaled))(mlp, x), MLPParams)
    nnx.grad(nnx.remat(of_any))(mlp, x)
    assert_type(nnx.jit(nnx.value_and_grad(scaled))(mlp, x), tuple[jax.Array, MLPParams])
    assert_type(nnx.value_and_grad(lambda m: x)(mlp)[0], jax.Array)
    assert_type(nnx.value_and_grad(lambda m, y: x, argnums=1)(mlp, x)[0], jax.Array)
    assert_type(nnx.value_and_grad(lambda m: (x, 3), has_aux=True)(mlp)[0], tuple[jax.Array, int])
    nnx.grad(of_any)(mlp, x)
    nnx.grad(unknown)(mlp, x)
    nnx.grad(functools.partial(scaled, mlp))(x)
    nnx.grad(loss)(mlp, x)  # E
    nnx.grad(loss.method)(model)  # E
    nnx.grad(nothing)  # E
    nnx.grad(by_name)  # E
    nnx.grad(3)  # E
    nnx.grad(lambda: x)  # E


def generic(loss: Callable[[M, jax.Array], jax.Array], model: M, x: jax.Array) -> jax.Array:
    """Return the loss of a function of any Module, float32 []."""
    assert_type(nnx.value_and_grad(loss)(model, x)[0], jax.Array)
    nnx.grad(loss)(x, x)  # E
    return nnx.value_and_grad(loss)(model, x)[0]


def decorators(model: CNN, x: jax.Array) -> None:
    """The bare form, and the form with arguments."""

    @nnx.grad
    def bare(model: CNN, x: jax.Array) -> jax.Array:
        return model(x).mean()

    @nnx.value_and_grad(argnums=(0, 1), has_aux=True)
    def full(model: CNN, x: jax.Array) -> tuple[jax.Array, int]:
        return model(x).mean(), 3

    @functools.partial(nnx.grad, argnums=1)
    def partial(model: CNN, x: jax.Array) -> jax.Array:
        return model(x).mean()

    @nnx.grad(argnums=2)  # E
    def short(model: CNN, x: jax.Array) -> jax.Array:
        return model(x).mean()

    @nnx.value_and_grad(has_aux=True)  # E
    def without_aux(model: CNN, x: jax.Array) -> jax.Array:
        return model(x).mean()

    assert_type(bare(model, x=x), CNNParams)
    assert_type(full(model, x), tuple[tuple[jax.Array, int], tuple[CNNParams, jax.Array]])
    partial(model, x)
    bare(x, x)  # E
    full(model)  # E
    del short, without_aux


class Trained(nnx.Module):
    """A Module with a gradient for a method."""

    def __init__(self) -> None:
        self.scale = nnx.Param(jax.numpy.ones(()))

    @nnx.grad
    def slope(self, x: jax.Array) -> jax.Array:
        """Return the slope by the Module."""
        return self.scale[...] * x.mean()


def methods(model: Trained, x: jax.Array) -> None:
    """The gradient of a method is one."""
    model.slope(x)


def trees(model: MLP, batch: dict[str, Any], x: jax.Array, flag: bool) -> None:
    """Where structures are fixed, the gradient by a Module is a Module."""
    assert_type(nnx.grad(scaled, graph=False)(model, x), MLP)
    assert_type(nnx.grad(scaled, argnums=1, graph_updates=False)(model, x), jax.Array)
    assert_type(nnx.value_and_grad(scaled, graph_updates=False)(model, x), tuple[jax.Array, MLP])
    nnx.grad(with_aux, has_aux=True, graph=False)(model, batch)
    nnx.grad(scaled, argnums=(0, 1), graph=False)(model, x)
    nnx.grad(graph=False)(scaled)(model, x)
    nnx.grad(scaled, graph=flag)(model, x)
    nnx.grad(scaled, graph=False)(model)  # E
    nnx.grad(scaled, graph=3)  # E


def filtered_values(model: Adapted, x: jax.Array) -> None:
    """The value comes with the gradient by the Variables that a `DiffState` names."""
    wrt = nnx.DiffState(0, nnx.LoRAParam)
    assert_type(
        nnx.value_and_grad(of_adapted, argnums=nnx.DiffState(0, ...))(model, x),
        tuple[jax.Array, nnx.State[Any, Any, Adapted, EllipsisType]],
    )
    assert_type(
        nnx.value_and_grad(of_adapted, argnums=wrt)(model, x)[1],  # E pyright: with its array
        nnx.State[Any, Any, Adapted, type[nnx.LoRAParam[Any]]],
    )
    nnx.value_and_grad(of_adapted, argnums=nnx.DiffState(3, nnx.LoRAParam))(model, x)  # E
