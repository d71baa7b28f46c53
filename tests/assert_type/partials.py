"""Types of `cached_partial` and `jit_partial`: the rest of the signature, for 0 to 6 arguments."""

from __future__ import annotations

from typing import assert_type

import jax

import typed_nnx as nnx
from tests.assert_type.models import MLP


def step(model: MLP, x: jax.Array, scale: float = 1.0, *, top: int = 1) -> jax.Array:
    """Return outputs."""
    return model(x) * scale


def seven(a: MLP, b: int, c: str, d: bytes, e: float, f: bool, g: int = 0, *, h: str = "") -> MLP:
    """Return the first."""
    return a


def cached(model: MLP, x: jax.Array) -> None:
    """Bind arguments of a jitted function."""
    jitted = nnx.jit(step)
    bound = nnx.cached_partial(jitted, model)
    assert_type(bound(x), jax.Array)
    assert_type(bound(x, scale=2.0, top=3), jax.Array)
    assert_type(nnx.cached_partial(bound, x)(2.0), jax.Array)
    assert_type(nnx.cached_partial(nnx.jit_partial(step, model), x)(top=2), jax.Array)
    assert_type(bound.lower(x).compile()(x), jax.Array)
    assert_type(bound.eval_shape(x), jax.Array)
    bound(model, x)  # E
    bound("x")  # E: [arg-type|reportArgumentType]
    bound(x, sale=2.0)  # E: [call-arg|reportCallIssue]
    bound.lower("x")  # E
    nnx.cached_partial(jitted, x)  # E
    nnx.cached_partial(jitted, model, "x")  # E
    nnx.cached_partial(step, model)  # E
    nnx.cached_partial(jitted, model, graph=1)  # E


def compiled(model: MLP, x: jax.Array) -> None:
    """Compile a function and bind its first arguments."""
    bound = nnx.jit_partial(step, model, static_argnames="top", donate_argnums=1)
    assert_type(bound(x, top=2), jax.Array)
    assert_type(nnx.jit_partial(model, x)(), jax.Array)
    assert_type(nnx.jit_partial(lambda m, y: 3, model)(x), int)
    bound()  # E
    bound(x, to=2)  # E: [call-arg|reportCallIssue]
    nnx.jit_partial(step, x)  # E
    nnx.jit_partial(step, model, static_argnum=0)  # E
    nnx.jit_partial(step, model, inline="yes")  # E


def cached_partial_of_each_number(a: MLP) -> None:
    """What cached_partial leaves of seven arguments; it checks up to six."""
    f = nnx.jit(seven)
    assert_type(nnx.cached_partial(f)(a, 1, "c", b"", 1.0, True, h=""), MLP)
    assert_type(nnx.cached_partial(f, a)(1, "c", b"", 1.0, True, h=""), MLP)
    assert_type(nnx.cached_partial(f, a, 1)("c", b"", 1.0, True, h=""), MLP)
    assert_type(nnx.cached_partial(f, a, 1, "c")(b"", 1.0, True, h=""), MLP)
    assert_type(nnx.cached_partial(f, a, 1, "c", b"")(1.0, True, h=""), MLP)
    assert_type(nnx.cached_partial(f, a, 1, "c", b"", 1.0)(True, h=""), MLP)
    assert_type(nnx.cached_partial(f, a, 1, "c", b"", 1.0, True)(h=""), MLP)
    assert_type(nnx.cached_partial(f, a, 1, "c", b"", 1.0, True, 2)(h=""), MLP)
    nnx.cached_partial(f, 3)  # E
    nnx.cached_partial(f, a, "")  # E
    nnx.cached_partial(f, a, 1, 3)  # E
    nnx.cached_partial(f, a, 1, "c", "")  # E
    nnx.cached_partial(f, a, 1, "c", b"", "")  # E
    nnx.cached_partial(f, a, 1, "c", b"", 1.0, "")  # E
    nnx.cached_partial(f, a)(wrong=0)  # E
    nnx.cached_partial(f, a, 1)(wrong=0)  # E
    nnx.cached_partial(f, a, 1, "c")(wrong=0)  # E
    nnx.cached_partial(f, a, 1, "c", b"")(wrong=0)  # E
    nnx.cached_partial(f, a, 1, "c", b"", 1.0)(wrong=0)  # E


def jit_partial_of_each_number(a: MLP) -> None:
    """What jit_partial leaves of seven arguments; it checks up to six."""
    f = seven
    assert_type(nnx.jit_partial(f)(a, 1, "c", b"", 1.0, True, h=""), MLP)
    assert_type(nnx.jit_partial(f, a)(1, "c", b"", 1.0, True, h=""), MLP)
    assert_type(nnx.jit_partial(f, a, 1)("c", b"", 1.0, True, h=""), MLP)
    assert_type(nnx.jit_partial(f, a, 1, "c")(b"", 1.0, True, h=""), MLP)
    assert_type(nnx.jit_partial(f, a, 1, "c", b"")(1.0, True, h=""), MLP)
    assert_type(nnx.jit_partial(f, a, 1, "c", b"", 1.0)(True, h=""), MLP)
    assert_type(nnx.jit_partial(f, a, 1, "c", b"", 1.0, True)(h=""), MLP)
    assert_type(nnx.jit_partial(f, a, 1, "c", b"", 1.0, True, 2)(h=""), MLP)
    nnx.jit_partial(f, 3)  # E
    nnx.jit_partial(f, a, "")  # E
    nnx.jit_partial(f, a, 1, 3)  # E
    nnx.jit_partial(f, a, 1, "c", "")  # E
    nnx.jit_partial(f, a, 1, "c", b"", "")  # E
    nnx.jit_partial(f, a, 1, "c", b"", 1.0, "")  # E
    nnx.jit_partial(f, a)(wrong=0)  # E
    nnx.jit_partial(f, a, 1)(wrong=0)  # E
    nnx.jit_partial(f, a, 1, "c")(wrong=0)  # E
    nnx.jit_partial(f, a, 1, "c", b"")(wrong=0)  # E
    nnx.jit_partial(f, a, 1, "c", b"", 1.0)(wrong=0)  # E
