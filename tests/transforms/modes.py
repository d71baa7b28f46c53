"""The three combinations of `graph=` and `graph_updates=`, and a small model of either library."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

MODES: dict[str, dict[str, Any]] = {
    "updates": {},
    "no_updates": {"graph_updates": False},
    "tree": {"graph": False},
}
all_modes = pytest.mark.parametrize("mode", list(MODES.values()), ids=list(MODES))
#: The modes in which two paths may lead to one object.
shared_modes = pytest.mark.parametrize(
    "mode", [MODES["updates"], MODES["no_updates"]], ids=["updates", "no_updates"]
)
#: The modes in which the structure may not change.
fixed_modes = pytest.mark.parametrize(
    "mode", [MODES["no_updates"], MODES["tree"]], ids=["no_updates", "tree"]
)


@functools.cache
def counter_class(lib: Any) -> Any:
    """Return a Module class with weights `w` and a count `n`, both float: grad takes all modes."""

    class Counter(lib.Module):
        def __init__(self, *weights: float, size: tuple[int, ...] = ()):
            self.w = lib.Param(jnp.array(weights or (1.0, 2.0), jnp.float32))
            self.n = lib.Variable(jnp.zeros(size, jnp.float32))

        def __call__(self, *args: Any) -> Any:
            """Count a use, and return the last argument times the sum of the weights."""
            self.n[...] += 1
            return args[-1] * self.w[...].sum()

        def step(self, *args: Any) -> Any:
            return self(*args)

    return Counter


def counter(lib: Any, *weights: float, size: tuple[int, ...] = ()) -> Any:
    return counter_class(lib)(*weights, size=size)


def use(model: Any, *args: Any) -> Any:
    """Do what calling the model does."""
    return model(*args)


def number(value: Any) -> Any:
    """Return the plain number or list in a Variable or array."""
    return np.asarray(value[...]).tolist()


class Before:
    """What an object was: its structure, the objects in it, their values bit for bit."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._seen = self._look()

    def _look(self) -> Any:
        found = {}
        for name, value in sorted(vars(self._model).items()):
            if name.startswith("_pytree"):
                continue
            raw = value.get_raw_value() if hasattr(value, "get_raw_value") else value
            held = np.asarray(raw).tobytes() if isinstance(raw, jax.Array) else raw
            found[name] = (id(value), type(value), held)
        return found

    def is_still_so(self) -> bool:
        """Whether the object is as it was."""
        return bool(self._look() == self._seen)


def error_of(call: Callable[[], Any]) -> str:
    """Return the text of the error that a call raises."""
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    return str(caught.value)


def gradient(found: Any, name: str) -> Any:
    """Return one gradient of a State, which graph updates give, or of a Module."""
    return number(found[name] if hasattr(found, "flat_state") else getattr(found, name))
