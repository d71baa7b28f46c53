"""What a trace returns to jax: values that changed, the result, and what is static about both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from typed_nnx._transforms.signature import (
    Argument,
    Effects,
    Part,
    Repeated,
    Signature,
    Static,
    in_order,
)


class Flat(NamedTuple):
    """What a trace returns to jax where no prefixes count.

    Attributes:
        updates: The values that changed, for each part.
        result: The result of the user's function, with values in the place of objects.
        static: The static `Effects`.
    """

    updates: tuple[Any, ...]
    result: Any
    static: Static

    def values_of(self, number: int, part: Part) -> list[Any]:
        """Return the values of a part in order: those of leaves that changed, then those of new ones."""
        effects: Effects = self.static.value
        return in_order(effects.groups_of(number, part), self.updates[number])


class Outcome(NamedTuple):
    """What a trace returns to jax where prefixes count.

    Attributes:
        args, kwargs, captured: The values that changed, in trees that mirror the arguments.
        result: The result of the user's function, with values in the place of objects.
        static: The static `Effects`.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    captured: tuple[Any, ...]
    result: Any
    static: Static


def mirrored(signature: Signature, flat: Flat) -> Outcome:
    """Return the same with the updates in trees that mirror the arguments."""
    pure = iter(flat.updates)
    return Outcome(
        tuple([_mirror(argument, pure) for argument in signature.arguments]),
        {name: _mirror(argument, pure) for name, argument in signature.keywords.items()},
        tuple([_mirror(argument, pure) for argument in signature.captured]),
        flat.result,
        flat.static,
    )


def flattened(signature: Signature, outcome: Outcome) -> Flat:
    """Undo `mirrored`."""
    updates: list[Any] = []
    arguments = [
        *zip(signature.arguments, outcome.args, strict=True),
        *[(argument, outcome.kwargs[name]) for name, argument in signature.keywords.items()],
        *zip(signature.captured, outcome.captured, strict=True),
    ]
    for argument, own in arguments:
        if argument is not None:
            pairs = argument.pairs(own)
            updates.extend([value for part, value in pairs if isinstance(part, Part)])
    return Flat(tuple(updates), outcome.result, outcome.static)


def _mirror(argument: Argument | None, pure: Iterator[Any]) -> Any:
    """Return a tree like an argument, with the next values in the place of each object."""
    if argument is None:
        return None
    leaves = [None if part is None else _next(part, pure) for part in argument.parts]
    return argument.treedef.unflatten(leaves)


def _next(part: Part | Repeated, pure: Iterator[Any]) -> Any:
    return next(pure) if isinstance(part, Part) else part.nothing()
