"""What the stubs of `grad` and `value_and_grad` are made of: type variables, functions, choices.

Checkers are to know the types of the differentiated arguments and the whole signature. Both are
found by a protocol whose ``__call__`` is overloaded: a function must satisfy each overload, the
first gives the signature ``P``, the second the arguments by their positions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

POSITIONS = range(4)
"""The positions with types of their own."""

IMPORTS = (
    "from collections.abc import Callable, Hashable, Sequence",
    "from typing import Any, ClassVar, Generic, Literal, Never, Protocol, overload",
    "from typing_extensions import ParamSpec, TypeVar",
    "from typed_nnx._core.state import State",
    "from typed_nnx._core.variable_types import LoRAParam, Param",
    "from typed_nnx._transforms.diff_argnums import DiffArgs",
    "from typed_nnx._transforms.prefixes import DiffState",
)

PARAMS = "type[Param[Any]]"
"""The filter of the Variables that are differentiated by if none is given."""

LORA = "type[LoRAParam[Any]]"


def type_variables() -> str:
    """Return the type variables: ``_An`` of argument n, ``_Fn`` of its filter, ``_Sn`` of a State.

    The bound lets lambdas in; the default stands for what a checker cannot tell, as of them.
    """
    lines = ['_P = ParamSpec("_P", default=...)', '_R_co = TypeVar("_R_co", covariant=True)']
    lines += [
        '_R = TypeVar("_R", default=Any)',
        '_X = TypeVar("_X", default=Any)',
        '_X_co = TypeVar("_X_co", covariant=True)',
    ]
    for n in POSITIONS:
        lines += [
            f'_A{n} = TypeVar("_A{n}", bound=Any, default=Any)',
            f'_A{n}_co = TypeVar("_A{n}_co", bound=Any, covariant=True)',
            f'_K{n}_co = TypeVar("_K{n}_co", bound=Any, covariant=True)',
            f'_A{n}_contra = TypeVar("_A{n}_contra", bound=Any, contravariant=True)',
            f'_F{n} = TypeVar("_F{n}", default={PARAMS})',
            f'_G{n} = TypeVar("_G{n}")',
            f'_S{n} = TypeVar("_S{n}", default=Any)',
        ]
    return "\n".join(lines)


PROTOCOLS = """
_S_co = TypeVar("_S_co", covariant=True)

class _SupportsParams(Protocol[_S_co]):
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_params__(self, /) -> _S_co: ...

class _Graph(Protocol):
    __nnx_is_graph__: ClassVar[bool]

class _HasParams(Protocol[_S_co]):
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_param_fields__(self, /) -> _S_co: ...

class _HasLoRA(Protocol[_S_co]):
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_lora_fields__(self, /) -> _S_co: ...

# In a union with it, pyright infers the type of ``remat(f)`` before it looks at the protocol.
class _NoFunction: ...

# Only what has no signature of its own accepts this, such as ``Callable[..., Any]``.
class _AnyFunction(Protocol):
    def __call__(self, *args: Never, _nnx_unknown: Never, **kwargs: Never) -> Any: ...
"""


@dataclass(frozen=True)
class Chosen:
    """A choice of arguments: one position, or a tuple of them.

    Attributes:
        positions: The positions, from first to last.
        is_tuple: They are given as a tuple, and so are the gradients.
    """

    positions: tuple[int, ...]
    is_tuple: bool

    @property
    def function(self) -> str:
        """The name of the protocol of functions that have these arguments."""
        return "_Fn" + "".join(map(str, self.positions))

    @property
    def result(self) -> str:
        """What the names of classes for this number of gradients end with."""
        return "OfOneTuple" if self.is_tuple and self.count == 1 else f"Of{self.count}"

    @property
    def count(self) -> int:
        """The number of arguments."""
        return len(self.positions)

    @property
    def argnums(self) -> str:
        """The type of ``argnums``. Where there is no DiffState, the filter is its default."""
        entries = [
            f"Literal[{position}] | DiffState[Literal[{position}], _F{n}]"
            for n, position in enumerate(self.positions)
        ]
        return f"tuple[{', '.join(entries)}]" if self.is_tuple else entries[0]

    @property
    def is_default(self) -> bool:
        """Whether it is what is chosen if nothing is said."""
        return self.positions == (0,) and not self.is_tuple


def choices() -> Iterator[Chosen]:
    """Yield each position by itself, and all increasing tuples."""
    for position in POSITIONS:
        yield Chosen((position,), is_tuple=False)
    for count in range(1, len(POSITIONS) + 1):
        for positions in itertools.combinations(POSITIONS, count):
            yield Chosen(positions, is_tuple=True)


def names(letter: str, count: int, suffix: str = "") -> list[str]:
    """Return the first type variables of a kind."""
    return [f"_{letter}{n}{suffix}" for n in range(count)]


def function_protocols() -> str:
    """Return a protocol for each choice: the signature of a function, and these arguments of it."""
    return "\n".join(
        _function_protocol(chosen)
        for chosen in choices()
        if not (chosen.is_tuple and chosen.count == 1)
    )


def _function_protocol(chosen: Chosen) -> str:
    contra = names("A", chosen.count, "_contra")
    by_position = dict(zip(chosen.positions, contra, strict=True))
    arguments = [f"a{n}: {by_position.get(n, 'Any')}" for n in range(chosen.positions[-1] + 1)]
    return f"""
class {chosen.function}(Protocol[P, {", ".join(contra)}, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, {", ".join(arguments)}, /, *args: Any, **kwargs: Any) -> _R_co: ..."""


def joined(parts: Sequence[str]) -> str:
    """Return type arguments."""
    return ", ".join(parts)
