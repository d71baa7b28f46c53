"""What an example file is written with: how to build a model, and what to call it with.

EXAMPLES = [
Example(Build("MLP", features=(8, 4)), jnp.ones((2, 5)), train=False),
]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from math import prod
from typing import Any

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Ref:
    """Something by its name: each side takes its own.

    Attributes:
        name: A name in the module that is verified, `relu_squared`, or a full name, `jax.nn.relu`.
    """

    name: str


class Build:
    """A constructor call of a class by its name: each side calls its own class."""

    def __init__(
        self, class_name: str, /, *args: Any, lifted: Mapping[str, Any] | None = None, **fields: Any
    ) -> None:
        """Describe a constructor call.

        Args:
            class_name: A class of the module that is verified, or a full name as
                `flax.linen.Dense`; a Linen layer becomes the NNX layer that has its place.
            *args: The arguments of the Linen constructor; a `Build` or `Ref` may stand anywhere in
                them.
            lifted: Values of the parameters that the codemod added, where the calls do not tell
                them.
            **fields: The keyword arguments of the Linen constructor.
        """
        self.class_name = class_name
        self.args = args
        self.lifted = dict(lifted or {})
        self.fields = fields

    @staticmethod
    def ref(name: str) -> Ref:
        """Return a stand-in for something of the module that is verified, or of any other."""
        return Ref(name)

    def __repr__(self) -> str:
        given = [repr(self.class_name), *map(repr, self.args)]
        given += [f"{name}={value!r}" for name, value in self.fields.items()]
        return f"Build({', '.join(given)})"


class Example:
    """A model and a call of it."""

    def __init__(
        self,
        build: Build,
        /,
        *args: Any,
        method: str = "__call__",
        mutable: str | tuple[str, ...] | list[str] = (),
        rngs: str | tuple[str, ...] | list[str] = (),
        name: str = "",
        kwargs: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Describe a call.

        Args:
            build: The model.
            *args: The arguments of the call. `jax.ShapeDtypeStruct` stands for random numbers.
            method: The method that is called.
            mutable: The Linen collections that the call may change.
            rngs: The streams of random numbers beside `params` that the call draws from.
            name: What reports call the example; where it is absent, the class, with the keywords that the
                first example of the class does not have.
            kwargs: Keyword arguments of the call, also those that have one of the names above.
            **more: Keyword arguments of the call.
        """
        self.build = build
        self.args = args
        self.method = method
        self.mutable = _names(mutable)
        self.rngs = _names(rngs)
        self.name = name
        self.kwargs: dict[str, Any] = {**(kwargs or {}), **more}

    def __repr__(self) -> str:
        return f"Example({self.build!r}, method={self.method!r})"


def variants(example: Example, *changes: Mapping[str, Any]) -> Iterator[Example]:
    """Yield an example, and the same call of models with other fields.

    Args:
        example: The first example.
        *changes: For each further example, the fields in which its model differs.
    """
    yield example
    build = example.build
    for change in changes:
        other = Build(
            build.class_name, *build.args, lifted=build.lifted, **{**build.fields, **change}
        )
        varied = copy(example)
        varied.build = other
        yield varied


def wave(*shape: int) -> jax.Array:
    """Return an array of float32 without two equal numbers, the same in each run.

    Args:
        *shape: Its sizes.
    """
    return jnp.sin(jnp.arange(prod(shape), dtype=jnp.float32) + 1).reshape(shape)


def _names(given: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
