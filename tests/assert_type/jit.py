"""Types of `nnx.jit`: functions, methods, classes, and the stages of what is compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, assert_type

import jax

import typed_nnx as nnx
from tests.assert_type.models import MLP, Block, logits_loss

T = TypeVar("T")


def predict(model: MLP, x: jax.Array, *, top: int = 1) -> jax.Array:
    """Return classes."""
    return model.predict(x, top=top)


def same(value: T) -> T:
    """Return it."""
    return value


class Trainer(nnx.Module):
    """Has jitted methods in every form."""

    def __init__(self, model: MLP) -> None:
        self.model = model
        self.fast = nnx.jit(predict)

    @nnx.jit
    def step(self, x: jax.Array, scale: float = 1.0) -> jax.Array:
        """One with a default."""
        return self.model(x) * scale

    @nnx.jit(static_argnames=("top",))
    def best(self, x: jax.Array, *, top: int) -> tuple[jax.Array, int]:
        """One with options."""
        return self.model.predict(x, top=top), top

    @functools.partial(nnx.jit, static_argnums=0)
    def plain(self, x: jax.Array) -> jax.Array:
        """One by `functools.partial`."""
        return self.model(x)

    @nnx.jit
    def anything(*args: Any, **kwargs: Any) -> int:
        """One without a signature."""
        return len(args) + len(kwargs)

    @nnx.jit
    def generic(self, value: T) -> T:
        """A generic one."""
        return value

    @staticmethod
    @nnx.jit
    def fit(model: MLP, x: jax.Array) -> jax.Array:
        """One that takes no object."""
        return model(x)

    def inside(self, x: jax.Array) -> None:
        """Call them by self."""
        assert_type(self.step(x, scale=2.0), jax.Array)
        assert_type(self.best(x, top=2), tuple[jax.Array, int])
        self.step()  # E


def functions(model: MLP, x: jax.Array) -> None:
    """Keep parameters, defaults and results."""
    jitted = nnx.jit(predict)
    assert_type(jitted(model, x), jax.Array)
    assert_type(jitted(model, x, top=2), jax.Array)
    assert_type(jitted(x=x, model=model), jax.Array)
    assert_type(nnx.jit(predict, static_argnames="top")(model, x, top=3), jax.Array)
    assert_type(nnx.jit(donate_argnums=(0,), keep_unused=True)(predict)(model, x), jax.Array)
    jitted(model, 3)  # E: [arg-type|reportArgumentType]
    jitted(model)  # E: [call-arg|reportCallIssue]
    jitted(model, x, 1)  # E
    jitted(model, x, topp=2)  # E: [call-arg|reportCallIssue]
    nnx.jit(donate_argnums=0)(predict)(x, model)  # E: [arg-type|reportArgumentType]
    nnx.jit(3)  # E
    nnx.jit(predict, static_argnum=0)  # E
    nnx.jit(predict, static_argnums="model")  # E
    nnx.jit(predict, graph=1)  # E


def other_callables(model: MLP, x: jax.Array, rngs: nnx.Rngs) -> None:
    """Classes, Modules, bound methods, lambdas, partial functions, generic functions."""
    assert_type(nnx.jit(MLP)(4, rngs=rngs), MLP)
    assert_type(nnx.jit(model)(x), jax.Array)
    assert_type(nnx.jit(model.predict)(x, top=2), jax.Array)
    assert_type(nnx.jit(lambda: model)(), MLP)
    assert_type(nnx.jit(functools.partial(predict, model))(x), jax.Array)
    assert_type(nnx.jit(same)(model), MLP)
    assert_type(nnx.jit(nnx.jit(predict))(model, x), jax.Array)
    nnx.jit(MLP)(4)  # E: [call-arg|reportCallIssue]
    nnx.jit(model)("x")  # E: [arg-type|reportArgumentType]
    nnx.jit(model.predict)(x, to=2)  # E: [call-arg|reportCallIssue]
    nnx.jit(lambda: model)(x)  # E


def methods(trainer: Trainer, x: jax.Array) -> None:
    """Are bound by an object, and not by the class."""
    assert_type(trainer.step(x), jax.Array)
    assert_type(trainer.step(x, scale=2.0), jax.Array)
    assert_type(Trainer.step(trainer, x), jax.Array)
    assert_type(trainer.best(x, top=2), tuple[jax.Array, int])
    assert_type(trainer.generic(x), jax.Array)
    assert_type(trainer.fast(trainer.model, x), jax.Array)
    assert_type(nnx.jit(trainer.step)(x), jax.Array)
    assert_type(trainer.anything(1, 2, a=3), int)
    trainer.fit(trainer.model, x)  # E mypy: without the plugin it takes the model for `self`
    trainer.fit(x, trainer.model)  # E
    trainer.fit(trainer.model)  # E
    trainer.plain(x, x)  # E pyright: mypy cannot follow functools.partial of overloads


def stages(model: MLP, trainer: Trainer, x: jax.Array, shape: jax.ShapeDtypeStruct) -> None:
    """Trace, lower and compile for arguments or shapes of them."""
    jitted = nnx.jit(predict)
    assert_type(jitted.trace(model, x).lower().compile()(model, x), jax.Array)
    assert_type(jitted.lower(model, x, top=2).compile()(model, x), jax.Array)
    assert_type(jitted.lower(model, shape).compile()(model, x), jax.Array)
    assert_type(jitted.compile(model, x)(model, x), jax.Array)
    assert_type(jitted.eval_shape(model, shape), jax.Array)
    assert_type(jitted.lower(model, x).as_text(), str)
    assert_type(trainer.step.lower(x).compile()(x), jax.Array)
    assert_type(trainer.step.trace(shape, 2.0).lower().compile()(x, 2.0), jax.Array)
    assert_type(trainer.best.eval_shape(x, top=1), tuple[jax.Array, int])
    jitted.lower(model)  # E
    jitted.trace(model, 3)  # E
    jitted.compile(model, x, topp=1)  # E
    jitted.eval_shape(x, model)  # E
    trainer.step.lower("x")  # E
    jitted.lowered(model, x)  # E: [attr-defined|reportAttributeAccessIssue]
    jitted.lower(x, model).compile()  # E


def with_other_transforms(model: MLP, x: jax.Array, y: jax.Array) -> None:
    """Keep what the transform inside returns."""
    assert_type(nnx.jit(nnx.value_and_grad(logits_loss))(model, x, y)[0], jax.Array)
    assert_type(nnx.jit(nnx.remat(predict))(model, x, top=1), jax.Array)
    assert_type(nnx.jit(nnx.vmap(Block))(3, rngs=nnx.Rngs(0)), Block)
    nnx.jit(nnx.value_and_grad(logits_loss))(model, x)  # E
    nnx.jit(nnx.remat(predict))(model, x, to=1)  # E


def as_values(jitted: nnx.JitWrapped[[MLP, jax.Array], jax.Array], model: MLP) -> None:
    """Pass for functions, and are named in annotations."""
    function: Callable[[MLP, jax.Array], jax.Array] = jitted
    wrong: Callable[[MLP], jax.Array] = jitted  # E
    print(function, wrong, jitted.__name__, jitted.__wrapped__)
    jitted(model)  # E


def of_unknown_types(anything: Any, x: jax.Array) -> None:
    """What is jitted is known though the function is not."""
    assert_type(nnx.jit(anything), nnx.JitWrapped[..., Any])
    assert_type(nnx.jit(anything).lower(x).as_text(), str)
    nnx.jit(anything).nope()  # E: [attr-defined|reportAttributeAccessIssue]
