"""Which arguments are differentiated, as ``argnums`` and ``nondiff_argnums`` say it."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

from typed_nnx._transforms.argnums import positive
from typed_nnx._transforms.prefixes import DiffState, check_kinds
from typed_nnx.errors import ArgnumsError

DiffArg: TypeAlias = SupportsIndex | DiffState
DiffArgs: TypeAlias = DiffArg | Sequence[DiffArg]
"""The position of the argument to differentiate by, or with a filter of its Variables; or several."""


class Chosen(NamedTuple):
    """Arguments that were chosen.

    Attributes:
        transform: The transform, for errors.
        option: Its option, for errors.
        given: What the user gave.
        entries: The positions, some of them with a filter; none twice.
        is_one: The user gave one by itself.
    """

    transform: str
    option: str
    given: Any
    entries: tuple[DiffArg, ...]
    is_one: bool

    @classmethod
    def of(cls, transform: str, option: str, given: Any, structural: bool) -> Chosen:
        """Check what the user gave.

        Args:
            transform: The transform.
            option: The name of the option.
            given: The value of the option.
            structural: Whether gradients are States, so that filters can be given.

        Raises:
            ArgnumsError: It has something that is no position, or one twice.
            PrefixKindError: It has a filter where there can be none, or an object.
        """
        name = f"{transform}: {option}"
        is_one = isinstance(given, DiffState) or hasattr(type(given), "__index__")
        listed: Any = (given,) if is_one else given
        check_kinds(transform, option, given, structural)
        if not isinstance(listed, Sequence):
            raise ArgnumsError(name, given, f"a {type(given).__name__} is no position")
        entries: list[DiffArg] = []
        for entry in listed:
            if isinstance(entry, DiffState):
                entries.append(entry)
                continue
            try:
                entries.append(operator.index(entry))
            except TypeError:
                raise ArgnumsError(name, given, f"{entry!r} is no position") from None
        chosen = cls(transform, option, given, tuple(entries), is_one)
        chosen._check_once([number_of(entry) for entry in entries])
        return chosen

    def numbers(self, function: Any, count: int) -> list[int]:
        """Return the positions in a call, counted from the first argument.

        Args:
            function: The user's function.
            count: The number of positional arguments.

        Raises:
            ArgumentOutOfRangeError: There are not so many arguments.
            ArgnumsError: Two positions are one argument.
        """
        found = [
            positive(f"{self.transform}: {self.option}", function, number_of(entry), count)
            for entry in self.entries
        ]
        self._check_once(found)
        return found

    def _check_once(self, numbers: list[int]) -> None:
        for position, number in enumerate(numbers):
            if number in numbers[:position]:
                name = f"{self.transform}: {self.option}"
                raise ArgnumsError(name, self.given, f"argnum {number} is repeated in argnums")


def number_of(entry: DiffArg) -> int:
    """Return the position."""
    return operator.index(entry.argnum if isinstance(entry, DiffState) else entry)


def by_position(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], *, defaults: bool = False
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with those given by name in their positions.

    Args:
        function: The user's function.
        args: The positional arguments.
        kwargs: The keyword arguments.
        defaults: Add the default arguments.

    Raises:
        TypeError: The function does not take them.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:  # Python cannot tell
        return tuple(args), dict(kwargs)
    bound = signature.bind(*args, **kwargs)
    if defaults:
        bound.apply_defaults()
    return bound.args, bound.kwargs
