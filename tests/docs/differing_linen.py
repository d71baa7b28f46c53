"""Rows of docs/differences.md about Linen modules: a program for each, and what it comes to."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen

from tests.docs.differing import Case

X = jnp.ones((2, 3))


def wrapped(nnx: Any, module: Any) -> Any:
    return nnx.bridge.ToNNX(module, rngs=nnx.Rngs(0)).lazy_init(X)


def keeps_its_variables(nnx: Any) -> bool:
    model = wrapped(nnx, linen.BatchNorm(use_running_average=False))
    mean = model.mean
    model(X, mutable=["batch_stats"])
    return mean is model.mean


class Tree(linen.Module):
    """Has a variable ``s`` and a tree ``s``, in two collections."""

    @linen.compact
    def __call__(self, x: Any) -> Any:
        self.variable("stats", "s", lambda: {"q": jnp.zeros(())})
        return x * self.param("s", lambda key: jnp.ones(()))


class Reserved(linen.Module):
    """Has a parameter with the name of a part of ToNNX."""

    @linen.compact
    def __call__(self, x: Any) -> Any:
        return x * self.param("to_nnx__module", lambda key: jnp.ones(()))


def called_twice(nnx: Any) -> bool:
    class Dense(nnx.bridge.Module):
        @nnx.bridge.compact
        def __call__(self, x: Any) -> Any:
            return x @ self.param("w", linen.initializers.normal(), (3, 3))[...]

    class Inner(nnx.bridge.Module):
        @nnx.bridge.compact
        def __call__(self, x: Any) -> Any:
            return Dense()(x)

    class Outer(nnx.bridge.Module):
        @nnx.bridge.compact
        def __call__(self, x: Any) -> Any:
            inner = Inner()
            return inner(inner(x))

    found, variables = Outer().init_with_output(0, X)
    w = variables["params"]["Inner_0"]["Dense_0"]["w"]
    return bool(jnp.allclose(found, X @ w @ w, atol=1e-6))


def sown(nnx: Any) -> int:
    class Net(nnx.bridge.Module):
        def __call__(self, x: Any) -> Any:
            self.sow(nnx.Intermediate, "seen", x)
            return x

    _, changed = Net().apply(Net().init(0, X), X, mutable=True)
    return len(changed["intermediates"]["seen"])


def without_subclass(nnx: Any) -> Any:
    module = nnx.bridge.wrappers.to_linen_class(nnx.Linear)(args=(3, 4))
    return module.init_with_output(jax.random.key(0), X)[0].shape


def has_streams(nnx: Any) -> bool:
    class Module(nnx.Module):
        def __init__(self, rngs: Any = None) -> None:
            self.w = nnx.Param(jnp.ones(2))
            self.has_streams = rngs is not None

        def __call__(self) -> bool:
            return self.has_streams

    base = nnx.bridge.wrappers.to_linen_class(Module, base_skip_rng=True)
    linen_class = type("Linen", (base,), {})
    found, _ = linen_class(skip_rng=False).init_with_output(jax.random.key(0))
    return bool(found)


def warns(nnx: Any) -> bool:
    class Module(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.w = nnx.Param({"q": jnp.ones(2)})

        def __call__(self) -> Any:
            return self.w.get_value()["q"]

    module = nnx.bridge.to_linen(Module)
    variables = module.init(jax.random.key(0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module.apply(variables)
    return any("unknown" in str(warning.message) for warning in caught)


def equal(nnx: Any) -> bool:
    class Net(nnx.bridge.Module):
        size: int

    return bool(Net(1) == Net(1))


PATHS = "a Linen variable at the path of a tree of others, or with the name of a part of `ToNNX`"

CASES = [
    Case("Variables of `ToNNX` at a mutable call", keeps_its_variables, False, True),
    Case(
        "`rngs=` of `ToNNX` that are no streams",
        lambda nnx: wrapped(nnx, linen.Dense(4))(X, rngs=42).shape,
        (2, 4),
        "BridgeError",
    ),
    Case(PATHS, lambda nnx: wrapped(nnx, Tree()), TypeError, "BridgeError"),
    Case(PATHS, lambda nnx: wrapped(nnx, Reserved())(X), AttributeError, "ReservedNameError"),
    Case("a submodule of a compact method that is called twice", called_twice, False, True),
    Case("sown values that are given to `apply` of a `bridge.Module`", sown, ValueError, 2),
    Case("a class of `to_linen_class` that is not subclassed", without_subclass, TypeError, (2, 4)),
    Case("`skip_rng=False` where a class of `to_linen_class` says True", has_streams, False, True),
    Case("a Variable with a dict for a value in `ToLinen`", warns, True, False),
    Case("`==` of two `bridge.Module` objects", equal, True, False),
]
