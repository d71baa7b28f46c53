"""`Twins` of layers that also hold arrays outside Variables, or whose calls change Variables."""

from __future__ import annotations

import re
from typing import Any

import flax.nnx
import jax
import jax.numpy as jnp

import typed_nnx
from tests.nn.twins import LIBRARIES, Twins, assert_same_bits, values


class ArrayTwins(Twins):
    """One layer in both libraries, some of whose leaves are arrays."""

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

    def assert_same_gradients(self, *args: Any, **kwargs: Any) -> None:
        """Compare the programs of the gradients by the Params and by the first argument.

        Unlike in `Twins` the call may change Variables.
        """
        mine, other = (
            _gradient_program(lib, layer, args, kwargs)
            for lib, layer in zip(LIBRARIES, self.both, strict=True)
        )
        assert mine == other

    def assert_same_values_and_gradients(self, *args: Any, **kwargs: Any) -> None:
        """Compare results, gradients and the state after a call, where programs differ.

        Jitted, since that is where our programs and theirs become the same ones.
        """
        results = []
        for lib, layer in zip(LIBRARIES, self.both, strict=True):
            gradients, operands = _gradients(lib, layer, args, kwargs)
            results.append(jax.jit(gradients)(*operands))
        for mine, other in zip(*map(jax.tree.leaves, results), strict=True):
            assert_same_bits(mine, other)
        mine, other = self.ours(*args, **kwargs), self.theirs(*args, **kwargs)
        assert_same_bits(mine, other)
        self.assert_states_equal()


def _gradients(lib: Any, layer: Any, args: Any, kwargs: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a function that gives the gradients of a call and its result, and what it takes."""
    graphdef, params, rest = lib.split(layer, lib.Param, ...)

    def loss(params: Any, first: Any, rest: Any) -> Any:
        fresh = jax.tree.map(lambda value: value, rest)
        y = lib.merge(graphdef, params, fresh)(first, *args[1:], **kwargs)
        return sum(out.astype(jnp.float32).sum() for out in jax.tree.leaves(y)), y

    gradients = jax.grad(loss, argnums=(0, 1), has_aux=True)
    return gradients, (params, args[0], rest)


def _gradient_program(lib: Any, layer: Any, args: Any, kwargs: Any) -> str:
    gradients, operands = _gradients(lib, layer, args, kwargs)
    return re.sub(r"0x[0-9a-f]+", "", str(jax.make_jaxpr(gradients)(*operands)))
