"""Stubs of functions that bind the first arguments of a function, for each number of them."""

from __future__ import annotations

from dataclasses import dataclass

from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.families.compiled import JIT_OPTIONS
from typed_nnx_codegen.stubgen.families.decorating import MODES, overload_text

MOST = 6
"""Up to so many bound arguments are checked."""

_NAMES = tuple(f"_A{number}" for number in range(1, MOST + 1))


@dataclass(frozen=True)
class Binding:
    """A function that binds arguments.

    Attributes:
        name: Its name.
        parameter: The name of its first parameter.
        takes: The types of functions that it takes, with ``{}`` in the place of the parameters.
        gives: The type of what it returns, likewise.
        options: Its options.
    """

    name: str
    parameter: str
    takes: str
    gives: str
    options: tuple[str, ...]

    def text(self) -> str:
        """Return an overload for each number of arguments and one for more."""
        known = [self._overload(_NAMES[:count]) for count in range(MOST + 1)]
        anything = tuple(f"_{number}: Any" for number in range(1, MOST + 2))
        more = overload_text(
            self.name,
            (
                f"{self.parameter}: {self.takes.format('...')}",
                *anything,
                "/",
                "*more: Any",
                *self.options,
            ),
            self.gives.format("..."),
        )
        return "".join(known) + more

    def _overload(self, names: tuple[str, ...]) -> str:
        parameters = f"Concatenate[{', '.join(names)}, P]" if names else "P"
        bound = (*[f"_{number}: {name}" for number, name in enumerate(names, 1)], "/", "*")
        return overload_text(
            self.name,
            (
                f"{self.parameter}: {self.takes.format(parameters)}",
                *(bound if names else ("*",)),
                *self.options,
            ),
            self.gives.format("P"),
        )


TABLE = (
    Binding(
        "cached_partial",
        "f",
        "JitWrapped[{0}, R] | Bound[{0}, R]",
        "CachedPartial[{}, R]",
        MODES,
    ),
    Binding("jit_partial", "fun", "Callable[{}, R]", "JitPartial[{}, R]", JIT_OPTIONS),
)

STUBS = (
    ModuleStub(
        "typed_nnx._transforms.partials",
        {row.name: row.text() for row in TABLE},
        preamble="".join(f'{name} = TypeVar("{name}")\n' for name in _NAMES),
        imports=("from typing import Any, Concatenate, ParamSpec, TypeVar, overload",),
    ),
)
