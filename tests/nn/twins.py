"""The same layer made with our library and with flax, the oracle, and everything about both compared.

`Twins` compares attributes, initial values, keys drawn, programs, results, gradients and what a
call changed. Equal programs (jaxprs) give equal bits, so results are compared bit for bit then and
within the rounding of the dtype otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import flax.nnx
import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx

Make = Callable[[Any, Any], Any]

LIBRARIES: tuple[Any, Any] = (typed_nnx, flax.nnx)
DTYPES = (None, jnp.float32, jnp.bfloat16, jnp.float16)


def normal(*shape: int, dtype: Any = None, seed: int = 7) -> jax.Array:
    """Return numbers of a normal distribution, made by numpy: jax would compile for each shape."""
    numbers = np.random.default_rng(seed).standard_normal(shape)
    return jnp.asarray(numbers, dtype or jnp.float32)


def fresh_rngs(lib: Any) -> Any:
    """Return streams with seeds of their own."""
    return lib.Rngs(0, params=1, dropout=2)


class Twins:
    """One layer in both libraries.

    Args:
        make: Takes the library and its Rngs; returns the layer.
    """

    def __init__(self, make: Make) -> None:
        self.rngs = [fresh_rngs(lib) for lib in LIBRARIES]
        self.ours = make(typed_nnx, self.rngs[0])
        self.theirs = make(flax.nnx, self.rngs[1])

    @property
    def both(self) -> tuple[Any, Any]:
        """Our layer and theirs."""
        return self.ours, self.theirs

    def assert_made_alike(self) -> None:
        """Compare attributes in order, leaves by path, type and bits, and counts of streams."""
        assert names(self.ours) == names(self.theirs)
        self.assert_states_equal()
        counts = [{name: int(s.count[...]) for name, s in rngs.items()} for rngs in self.rngs]
        assert counts[0] == counts[1]

    def assert_states_equal(self) -> None:
        """Compare the leaves of both: path, type, metadata, dtype and every bit."""
        ours, theirs = values(typed_nnx, self.ours), values(flax.nnx, self.theirs)
        assert list(ours) == list(theirs)
        for path, mine in ours.items():
            other = theirs[path]
            assert type(mine).__name__ == type(other).__name__, path
            if isinstance(mine, typed_nnx.Variable):
                assert mine.get_metadata() == other.get_metadata(), path
                mine, other = mine.get_value(), other.get_value()
            assert_same_bits(mine, other, path)

    def assert_same_program(self, *args: Any, **kwargs: Any) -> None:
        """Compare the jaxprs of a call."""
        assert program(typed_nnx, self.ours, args, kwargs) == program(
            flax.nnx, self.theirs, args, kwargs
        )

    def assert_same_call(self, *args: Any, **kwargs: Any) -> None:
        """Compare the program of a call, and its result and the state after it when run eagerly."""
        self.assert_same_program(*args, **kwargs)
        mine, other = self.ours(*args, **kwargs), self.theirs(*args, **kwargs)
        jax.tree.map(assert_same_bits, mine, other)
        self.assert_states_equal()

    def assert_same_jitted_call(self, *args: Any, **kwargs: Any) -> None:
        """Compare result and state after of a call under ``nnx.jit``."""
        results = [
            lib.jit(lambda layer: layer(*args, **kwargs))(layer)
            for lib, layer in zip(LIBRARIES, self.both, strict=True)
        ]
        jax.tree.map(assert_same_bits, *results)
        self.assert_states_equal()

    def assert_same_gradients(self, *args: Any, **kwargs: Any) -> None:
        """Compare the programs of the gradients by the Params and by the first argument.

        Equal programs give equal bits, and comparing them compiles nothing.
        """
        programs = []
        for lib, layer in zip(LIBRARIES, self.both, strict=True):
            function, operands = gradients(lib, layer, args, kwargs)
            programs.append(text_of(jax.make_jaxpr(function)(*operands)))
        assert programs[0] == programs[1]

    def assert_same_values_and_gradients(self, *args: Any, **kwargs: Any) -> None:
        """Compare results, gradients and the state after a call, where programs differ.

        Jitted, since that is where our programs and theirs become the same ones.
        """
        results = []
        for lib, layer in zip(LIBRARIES, self.both, strict=True):
            function, operands = gradients(lib, layer, args, kwargs)
            results.append(jax.jit(function)(*operands))
        jax.tree.map(assert_same_bits, *map(jax.tree.leaves, results))
        mine, other = (layer(*args, **kwargs) for layer in self.both)
        assert_same_bits(mine, other)
        self.assert_states_equal()


def names(layer: Any) -> list[str]:
    """Return the names of the attributes of a layer, in order, without the library's own."""
    return [name for name in vars(layer) if not name.startswith("_")]


def values(lib: Any, layer: Any) -> dict[Any, Any]:
    """Map each path of a layer to its Variable or array."""
    return dict(lib.to_flat_state(lib.state(layer)))


def program(lib: Any, layer: Any, args: Any, kwargs: Any) -> str:
    """Return the text of the jaxpr of a call, without addresses of functions."""
    graphdef, state = lib.split(layer)

    def call(state: Any, *args: Any) -> Any:
        merged = lib.merge(graphdef, state)
        return merged(*args, **kwargs), lib.state(merged)

    return text_of(jax.make_jaxpr(call)(state, *args))


def text_of(jaxpr: Any) -> str:
    """Return a program without the addresses of functions."""
    return re.sub(r"0x[0-9a-f]+", "", str(jaxpr))


def gradients(lib: Any, layer: Any, args: Any, kwargs: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a function that gives the gradients of a call and its result, and what it takes."""
    graphdef, params, rest = lib.split(layer, lib.Param, ...)

    def loss(params: Any, first: Any, rest: Any) -> Any:
        fresh = jax.tree.map(lambda value: value, rest)  # the call may change it
        y = lib.merge(graphdef, params, fresh)(first, *args[1:], **kwargs)
        return sum(out.astype(jnp.float32).sum() for out in jax.tree.leaves(y)), y

    return jax.grad(loss, argnums=(0, 1), has_aux=True), (params, args[0], rest)


def assert_same_bits(mine: Any, other: Any, where: Any = "result") -> None:
    """Assert that two arrays have the same dtype, shape and bits; keys by their data."""
    assert (mine.dtype, mine.shape) == (other.dtype, other.shape), where
    if jnp.issubdtype(mine.dtype, jax.dtypes.prng_key):
        mine, other = jax.random.key_data(mine), jax.random.key_data(other)
    mine, other = np.asarray(mine), np.asarray(other)
    # By bytes: numpy does not see that two NaNs of bfloat16 are the same.
    assert mine.tobytes() == other.tobytes(), (where, mine, other)


def kind_of_error(act: Callable[[], Any]) -> str:
    """Return the builtin kind of the error that an action raises."""
    kinds = (ValueError, TypeError, AttributeError, KeyError, NotImplementedError)
    try:
        act()
    except kinds as error:
        return "+".join(kind.__name__ for kind in kinds if isinstance(error, kind))
    return "none"


def assert_refused_alike(make: Make, *args: Any, **kwargs: Any) -> None:
    """Assert that making or calling a layer fails in both, with ours of a kind that theirs is."""
    raised = []
    for lib in LIBRARIES:
        raised.append(kind_of_error(lambda lib=lib: make(lib, fresh_rngs(lib))(*args, **kwargs)))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
    assert "none" not in raised, raised
    assert raised[1] in raised[0].split("+"), raised
