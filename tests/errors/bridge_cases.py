"""The bridge to Linen."""

from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.errors.case import Cases
from typed_nnx import bridge, errors
from typed_nnx.bridge import variables
from typed_nnx.bridge.variables import flax_modules

X = jnp.ones((1, 2))


class Named(linen.Module):
    """A Linen module with a variable that has the name of a part of `ToNNX`."""

    @linen.compact
    def __call__(self, x: jax.Array) -> Any:
        return x * self.param("rngs", linen.initializers.ones, (1, 2))


class Net(bridge.Module):
    """A Module that asks for one name in two collections."""

    @bridge.compact
    def __call__(self, x: jax.Array) -> Any:
        self.variable("cache", "w", jnp.zeros, (2,))
        return self.param("w", linen.initializers.ones, (2,))


class Bag(nnx.Module):
    """A Module without anything."""


def without_flax() -> object:
    known = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "flax"}
    for name in known:
        del sys.modules[name]
    sys.modules["flax"] = None  # type: ignore[assignment]  # how Python notes that there is none
    try:
        return flax_modules("ToLinen")
    finally:
        sys.modules.update(known)


def with_a_module_of_flax() -> object:
    kept = flax_nnx.Rngs(0)
    nnx.install_as_flax_nnx()
    return kept


CASES: Cases = {
    errors.MissingPackageError: {
        "a class of Linen where flax is not installed": (
            without_flax,
            ("ToLinen: ", "`flax`, which is not installed", "Linen is part of it"),
            "pip install flax",
        )
    },
    errors.FlaxNnxInUseError: {
        "a program with objects of flax.nnx that shall have ours instead": (
            with_a_module_of_flax,
            ("install_as_flax_nnx: flax.nnx is in use", "imports it"),
            "call nnx.install_as_flax_nnx() before the first import that needs flax.nnx",
        )
    },
    errors.BridgeError: {
        "a seed where ToNNX takes random streams": (
            lambda: bridge.ToNNX(linen.Dense(2), rngs=0),  # type: ignore[arg-type]  # on purpose
            ("ToNNX: argument `rngs` is 0 (int)", "expected nnx.Rngs, a PRNG key or None"),
            "rngs=nnx.Rngs(0)",
        ),
        "a path in two Linen collections": (
            lambda: variables.linen_vars_to_nnx_attrs({"params": {"a": X}, "cache": {"a": X}}),
            ("duplicate variable path ('a',)", "'cache' and 'params'"),
            "give one of the two Linen variables another name",
        ),
        "an array where a Variable says its collection": (
            lambda: variables.nnx_attrs_to_linen_vars({"a": {"b": 1.5}}),
            ("Cannot infer collection name from value at a/b", "1.5 (float)", "expected Variables"),
            "nnx.Param(value)",
        ),
        "a box of another Variable type than its collection": (
            lambda: variables.to_nnx_var("params", bridge.NNXMeta(nnx.Cache, X, {})),
            ("NNXMeta: it holds a Cache", "the collection 'params' Params"),
            "the collection that of its Variable type",
        ),
        "a call of a bridge.Module outside of apply": (
            lambda: Net()(X),
            ("variable of Net: there is no scope here", "`setup()`"),
            "module.init(rngs, x) or module.apply(variables, x)",
        ),
        "a parameter with the name of another Variable": (
            lambda: Net().init(0, X),
            ("Net: Expected 'w' to be a Param", "got Cache"),
            "use another name for one of the two",
        ),
        "a method that is no method": (
            lambda: Net().init(0, X, method=4),  # type: ignore[arg-type]  # on purpose
            ("Net: argument `method` is 4 (int)", "the name of a method"),
            "method='name'",
        ),
        "a Functional that was not initialised": (
            lambda: bridge.functional(Bag)().apply(),
            ("Functional of Bag", "apply was called before init"),
            "functional.init(rngs=nnx.Rngs(0))",
        ),
    },
    errors.LazyInitError: {
        "a lazy_init of a function": (
            lambda: bridge.lazy_init(len, X),
            ("lazy_init: `fn` is the function len", "an NNX Module or a bound method"),
            "nnx.bridge.lazy_init(model, x)",
        )
    },
    errors.ReservedNameError: {
        "a Linen variable with the name of a part of ToNNX": (
            lambda: bridge.ToNNX(Named(), rngs=nnx.Rngs(0)).lazy_init(X),
            ("ToNNX: the Linen module Named", "'rngs'"),
            "give it another name in the Linen module",
        )
    },
}
