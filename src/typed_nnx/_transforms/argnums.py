"""Positions and names of arguments, as jax's options give them."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from typed_nnx._transforms.callables import describe
from typed_nnx.errors import ArgumentOutOfRangeError, PrefixLengthError

ArgNums: TypeAlias = int | Sequence[int] | None
ArgNames: TypeAlias = str | Iterable[str] | None


def parameters_of(function: Any) -> list[inspect.Parameter]:
    """Return the parameters of a callable; none if Python cannot tell."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def with_defaults(
    function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], prefix: Any
) -> tuple[Any, ...]:
    """Return positional arguments and the defaults of those that only a prefix has an entry for.

    Args:
        function: The user's function.
        args: The positional arguments.
        kwargs: The keyword arguments.
        prefix: What `in_axes` gives for the positional arguments.
    """
    if type(prefix) not in (tuple, list) or len(prefix) <= len(args):
        return args
    more = [p for p in parameters_of(function) if p.kind in _BY_POSITION][len(args) : len(prefix)]
    left_out = all(p.default is not p.empty and p.name not in kwargs for p in more)
    if not left_out or len(args) + len(more) < len(prefix):
        return args
    return (*args, *[p.default for p in more])


def resolve(
    option: str, function: Any, argnums: ArgNums, argnames: ArgNames
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return positions and names: each completed by the other, as in `jax.jit`.

    Args:
        option: What they are for, such as "static".
        function: The user's function.
        argnums: The positions.
        argnames: The names.

    Raises:
        ArgumentOutOfRangeError: The function has no such argument.
    """
    numbers, names = _numbers(argnums), _names(argnames)
    parameters = parameters_of(function)
    if not parameters or not (numbers or names):
        return numbers, names
    positional = [p.name for p in parameters if p.kind in _BY_POSITION]
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        for number in numbers:
            if not -len(positional) <= number < len(positional):
                raise ArgumentOutOfRangeError(
                    f"{option}_argnums", describe(function), number, len(positional)
                )
        numbers = tuple([number % len(positional) for number in numbers])
    named = [p.name for p in parameters if p.kind in _BY_NAME]
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        for name in names:
            if name not in named:
                raise ArgumentOutOfRangeError(
                    f"{option}_argnames", describe(function), name, len(positional)
                )
    if argnames is None:
        known = [positional[n] for n in numbers if n < len(positional)]
        names = tuple([name for name in known if name in named])
    elif argnums is None:
        numbers = tuple([positional.index(name) for name in names if name in positional])
    return numbers, names


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _numbers(argnums: ArgNums) -> tuple[int, ...]:
    if argnums is None:
        return ()
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def _names(argnames: ArgNames) -> tuple[str, ...]:
    if argnames is None:
        return ()
    return (argnames,) if isinstance(argnames, str) else tuple(argnames)


def spread(option: str, prefix: Any, count: int) -> tuple[Any, ...]:
    """Return the prefix of each positional argument: one for all, or one for each in a sequence.

    Raises:
        PrefixLengthError: There is not one for each.
    """
    if type(prefix) not in (list, tuple):
        return (prefix,) * count
    if len(prefix) != count:
        raise PrefixLengthError(option, len(prefix), count)
    return tuple(prefix)


def with_statics(statics: Mapping[int, Any], others: Sequence[Any]) -> list[Any]:
    """Return positional arguments: the static ones by position, and the others between them."""
    following = iter(others)
    count = len(statics) + len(others)
    return [statics[n] if n in statics else next(following) for n in range(count)]


def without_statics(statics: Collection[int], args: Sequence[Any]) -> list[Any]:
    """Return positional arguments without those at static positions."""
    return [value for number, value in enumerate(args) if number not in statics]


def positive(option: str, function: Any, number: int, count: int) -> int:
    """Return a position counted from the first argument.

    Raises:
        ArgumentOutOfRangeError: There are not so many.
    """
    if not -count <= number < count:
        raise ArgumentOutOfRangeError(option, describe(function), number, count)
    return number % count
