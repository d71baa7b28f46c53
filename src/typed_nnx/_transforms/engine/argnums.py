"""Positions and names of arguments, as jax's options give them."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

from typed_nnx._transforms.engine.call import holds_objects
from typed_nnx._transforms.engine.closures import BY_POSITION, Parameters, describe, parameters_of
from typed_nnx._transforms.engine.prefixes import DiffState, Function, Prefix, Tree, check_kinds
from typed_nnx.errors import ArgumentError, PrefixError, UnhashableError
from typed_nnx.errors._base_error import counted

ArgNums: TypeAlias = int | Iterable[int] | None
ArgNames: TypeAlias = str | Iterable[str] | None


def with_defaults(
    function: Function, args: tuple[Tree, ...], kwargs: Mapping[str, Tree], prefix: Prefix
) -> tuple[Tree, ...]:
    """Return positional arguments and the defaults of those that only `in_axes` has an entry for."""
    if type(prefix) not in (tuple, list) or len(prefix) <= len(args):
        return args
    more = [p for p in parameters_of(function) if p.kind in BY_POSITION][len(args) : len(prefix)]
    left_out = all(p.default is not p.empty and p.name not in kwargs for p in more)
    if not left_out or len(args) + len(more) < len(prefix):
        return args
    return (*args, *[p.default for p in more])


def resolve(
    option: str, function: Function, argnums: ArgNums, argnames: ArgNames
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return positions and names: each completed by the other, as in `jax.jit`.

    Raises:
        ArgumentError: The function has no such argument.
    """
    numbers, names = _numbers(argnums), _names(argnames)
    parameters = parameters_of(function)
    if not parameters or not (numbers or names):
        return numbers, names
    positional = [p.name for p in parameters if p.kind in BY_POSITION]
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        for number in numbers:
            if not -len(positional) <= number < len(positional):
                raise _no_argument(f"{option}_argnums", function, number, len(positional))
        numbers = tuple([number % len(positional) for number in numbers])
    named = [p.name for p in parameters if p.kind in _BY_NAME]
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        for name in names:
            if name not in named:
                raise _no_argument(f"{option}_argnames", function, name, len(positional))
    if argnames is None:
        known = [positional[n] for n in numbers if n < len(positional)]
        names = tuple([name for name in known if name in named])
    elif argnums is None:
        numbers = tuple([positional.index(name) for name in names if name in positional])
    return numbers, names


_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _numbers(argnums: ArgNums) -> tuple[int, ...]:
    if argnums is None:
        return ()
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def _names(argnames: ArgNames) -> tuple[str, ...]:
    if argnames is None:
        return ()
    return (argnames,) if isinstance(argnames, str) else tuple(argnames)


def spread(option: str, prefix: Prefix, count: int) -> tuple[Tree, ...]:
    """Return the prefix of each positional argument: one for all, or one for each in a sequence.

    Raises:
        PrefixError: There is not one for each.
    """
    if type(prefix) not in (list, tuple):
        return (prefix,) * count
    if len(prefix) != count:
        function, _, name = option.rpartition(": ")
        raise PrefixError(
            function,
            f"{name} must be a tree prefix of the arguments: it has "
            f"{counted(len(prefix), 'entry', 'entries')}, the function got "
            f"{counted(count, 'positional argument')}.",
            "give one entry for each positional argument, or a single one for all",
        )
    return tuple(prefix)


class Statics(NamedTuple):
    """The static arguments of a call, by position and by name."""

    args: dict[int, Tree]
    kwargs: dict[str, Tree]

    @classmethod
    def of(
        cls,
        numbers: Collection[int],
        names: Collection[str],
        args: Sequence[Tree],
        kwargs: Mapping[str, Tree],
    ) -> Statics:
        """Return those among arguments that are static."""
        return cls(
            {number: value for number, value in enumerate(args) if number in numbers},
            {name: value for name, value in kwargs.items() if name in names},
        )

    def within(
        self, args: Iterable[Tree], kwargs: Mapping[str, Tree]
    ) -> tuple[list[Tree], dict[str, Tree]]:
        """Return arguments with the static ones among them."""
        others = list(args)
        for number, value in self.args.items():  # by rising position
            others.insert(number, value)
        return others, {**kwargs, **self.kwargs}

    def without(
        self, args: Iterable[Tree], kwargs: Mapping[str, Tree]
    ) -> tuple[tuple[Tree, ...], dict[str, Tree]]:
        """Undo `within`."""
        others = [value for number, value in enumerate(args) if number not in self.args]
        return tuple(others), {n: value for n, value in kwargs.items() if n not in self.kwargs}

    def _described(self, parameters: Parameters) -> Iterator[tuple[str, Tree]]:
        """Yield how errors call each, and its value."""
        for number, value in self.args.items():
            yield parameters.describe(number), value
        for name, value in self.kwargs.items():
            yield repr(name), value

    def check_hashable(self, title: str, parameters: Parameters) -> None:
        """Raise if one has no hash.

        Raises:
            UnhashableError: With the position and name of the argument.
        """
        for name, value in self._described(parameters):
            try:
                hash(value)
            except TypeError:
                raise UnhashableError(
                    title,
                    f"the static argument {name} has no hash: {type(value).__name__} {value!r}.",
                    "pass a hashable value (a tuple for a list), or do not make the argument static",
                ) from None

    def check_values(self, title: str, parameters: Parameters) -> None:
        """Raise if one holds objects, whose values would be those of the first call.

        Raises:
            ArgumentError: With the position and name of the argument.
        """
        for name, value in self._described(parameters):
            if holds_objects(value):
                raise ArgumentError(
                    title,
                    f"the static argument {name} is or holds a Module or Variable "
                    f"({type(value).__name__}), whose values would stay those of the first call.",
                    "leave it out of static_argnums and static_argnames; what is static about a "
                    "Module is so anyway",
                )


NO_STATICS = Statics({}, {})


def positive(option: str, function: Function, number: int, count: int) -> int:
    """Return a position counted from the first argument.

    Raises:
        ArgumentError: There are not so many.
    """
    if not -count <= number < count:
        raise _no_argument(option, function, number, count)
    return number % count


def _no_argument(option: str, function: Any, argument: int | str, count: int) -> ArgumentError:
    return ArgumentError(
        option,
        f"{describe(function)} has no argument {argument!r}; it takes "
        f"{counted(count, 'positional argument')}.",
        "name an argument that the function has; positions count from 0",
    )


DiffArg: TypeAlias = SupportsIndex | DiffState
DiffArgs: TypeAlias = DiffArg | Sequence[DiffArg]
"""The position of the argument to differentiate by, or with a filter of its Variables; or several."""


class Chosen(NamedTuple):
    """Arguments that were chosen.

    Attributes:
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

        Raises:
            ArgumentError: It has something that is no position, or one twice.
            PrefixError: It has a filter where there can be none, or an object.
        """
        name = f"{transform}: {option}"
        is_one = isinstance(given, DiffState) or hasattr(type(given), "__index__")
        listed: Any = (given,) if is_one else given
        check_kinds(transform, option, given, structural)
        if not isinstance(listed, Sequence):
            raise wrong_argnums(name, given, f"a {type(given).__name__} is not a position")
        entries: list[DiffArg] = []
        for entry in listed:
            if isinstance(entry, DiffState):
                entries.append(entry)
                continue
            try:
                entries.append(operator.index(entry))
            except TypeError:
                raise wrong_argnums(name, given, f"{entry!r} is not a position") from None
        chosen = cls(transform, option, given, tuple(entries), is_one)
        chosen._check_once([number_of(entry) for entry in entries])
        return chosen

    def numbers(self, function: Function, count: int) -> list[int]:
        """Return the positions in a call, counted from the first argument.

        Raises:
            ArgumentError: There are not so many arguments, or two positions are one argument.
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
                raise wrong_argnums(name, self.given, f"argnum {number} is repeated in argnums")


def wrong_argnums(option: str, given: object, problem: str) -> ArgumentError:
    """Return the error of an option that does not say which arguments are meant."""
    return ArgumentError(
        f"{option}={given!r}",
        f"{problem}; expected positions of arguments, each once.",
        "argnums=0 for the first argument, argnums=(0, 1) for the first two",
    )


def number_of(entry: DiffArg) -> int:
    """Return the position."""
    return operator.index(entry.argnum if isinstance(entry, DiffState) else entry)


def by_position(
    function: Function, args: Sequence[Tree], kwargs: Mapping[str, Tree], *, defaults: bool = False
) -> tuple[tuple[Tree, ...], dict[str, Tree]]:
    """Return the arguments of a call with those given by name in their positions.

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
