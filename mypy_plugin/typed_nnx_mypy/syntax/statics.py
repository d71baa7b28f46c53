"""The static and donated arguments that the options of a transform name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy.nodes import Context

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.syntax.constants import items_of
from typed_nnx_mypy.syntax.parameters import Parameter
from typed_nnx_mypy.syntax.transforms import Transform

JITS: Final = ("jit", "jit_partial", "jax.jit")
MAPS: Final = ("pmap", "jax.pmap")
REMATS: Final = ("remat", "jax.checkpoint")

DONATED: Final = ("donate_argnums", "donate_argnames")
_NUMBERS: Final = ("static_argnums", "static_broadcasted_argnums", "donate_argnums")
_NAMES: Final = ("static_argnames", "donate_argnames")


@dataclass(frozen=True)
class Options:
    """What options say of arguments.

    Attributes:
        numbers: By position, static and donated: the option, the position, where it is written.
        names: By name, static and donated.
        is_complete: Whether all that is static is known.
        by_position: The parameters that are static when they are given by position.
        by_name: The same by name.
    """

    numbers: list[tuple[str, int, Context]]
    names: list[tuple[str, str, Context]]
    is_complete: bool
    by_position: list[Parameter]
    by_name: list[Parameter]

    def is_static_at(self, parameter: Parameter) -> bool:
        """Tell whether a parameter is static when it is given by position."""
        return any(each is parameter for each in self.by_position)

    def is_static_as(self, parameter: Parameter) -> bool:
        """Tell whether a parameter is static when it is given by name."""
        return any(each is parameter for each in self.by_name)

    def may_be_static(self, parameter: Parameter) -> bool:
        """Tell whether a parameter is static in some calls."""
        return self.is_static_at(parameter) or self.is_static_as(parameter)


def options_of(transform: Transform, checker: Checker) -> Options:
    """Return what the options of a transform say of the arguments of its function."""
    numbers: list[tuple[str, int, Context]] = []
    names: list[tuple[str, str, Context]] = []
    is_complete = True
    for option in (*_NUMBERS, *_NAMES):
        written = transform.option(option)
        if written is None:
            continue
        items = items_of(written, checker)
        if items is None:
            is_complete = is_complete and option in DONATED
            continue
        for item in items:
            if option in _NUMBERS and isinstance(item.value, int):
                numbers.append((option, item.value, item.expression))
            elif option in _NAMES and isinstance(item.value, str):
                names.append((option, item.value, item.expression))
    by_position, by_name = _static(transform, numbers, names)
    return Options(numbers, names, is_complete, by_position, by_name)


def _static(
    transform: Transform,
    numbers: list[tuple[str, int, Context]],
    names: list[tuple[str, str, Context]],
) -> tuple[list[Parameter], list[Parameter]]:
    """Return the parameters that are static by position and by name."""
    function = transform.function
    if function is None:
        return [], []
    at = [function.at(at) for option, at, _ in numbers if option not in DONATED]
    by_position = [each for each in at if each is not None]
    named = [function.named(name) for option, name, _ in names if option not in DONATED]
    by_name = [each for each in named if each is not None]
    # Where only one of the two options is given, jax finds the other in the signature.
    if transform.option("static_argnames") is None:
        by_name = [each for each in by_position if each.name]
    elif transform.option("static_argnums") is None:
        by_position = [each for each in by_name if each.kind.is_positional()]
    return by_position, by_name
