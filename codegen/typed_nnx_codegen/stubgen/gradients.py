"""`grad` and `value_and_grad`: gradients by the types of the arguments that are chosen.

Checkers are to know the types of the differentiated arguments and the whole signature. Both are
found by a protocol whose ``__call__`` is overloaded: a function must satisfy each overload, the
first gives the signature ``P``, the second the arguments by their positions.

A function whose type holds an ``Any`` may fit several overloads, and mypy then gives up: for the
same options the overloads of `grad` exclude each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from typed_nnx_codegen.stubgen.overloads import Overloads

POSITIONS = range(4)
"""The positions with types of their own."""

MOST = 2
"""Up to so many gradients have types of their own."""

IMPORTS = (
    "from collections.abc import Callable, Hashable, Sequence",
    "from typing import Any, ClassVar, Generic, Literal, Never, Protocol, TypeAlias, overload",
    "from typing_extensions import ParamSpec, TypeVar",
    "from typed_nnx._core.state import State",
    "from typed_nnx._core.variable_types import LoRAParam, Param",
    "from typed_nnx._transforms.engine.argnums import DiffArgs",
    "from typed_nnx._transforms.engine.prefixes import DiffState",
    "from typed_nnx._transforms.grad import Gradient, ValueAndGradient",
)

PARAMS = "type[Param[Any]]"
"""The filter of the Variables that are differentiated by if none is given."""

LORA = "type[LoRAParam[Any]]"


def type_variables() -> str:
    """Return the type variables: ``_An`` of argument n, ``_Fn`` of its filter, ``_Sn`` of a State.

    The bound lets lambdas in; the default stands for what a checker cannot tell, as of them.
    """
    lines = ['P = ParamSpec("P")', '_P = ParamSpec("_P", default=...)']
    lines += ['_R_co = TypeVar("_R_co", covariant=True)']
    lines += [
        '_R = TypeVar("_R", default=Any)',
        '_X = TypeVar("_X", default=Any)',
        '_X_co = TypeVar("_X_co", covariant=True)',
    ]
    for n in range(MOST):
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
        positions: The positions, as they are given.
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
    """Yield each position by itself, all increasing tuples of up to `MOST`, and ``(1, 0)``."""
    for position in POSITIONS:
        yield Chosen((position,), is_tuple=False)
    for count in range(1, MOST + 1):
        for positions in itertools.combinations(POSITIONS, count):
            yield Chosen(positions, is_tuple=True)
    yield Chosen((1, 0), is_tuple=True)


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
    arguments = [f"a{n}: {by_position.get(n, 'Any')}" for n in range(max(chosen.positions) + 1)]
    return f"""
class {chosen.function}(Protocol[P, {", ".join(contra)}, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, {", ".join(arguments)}, /, *args: Any, **kwargs: Any) -> _R_co: ..."""


def joined(parts: Sequence[str]) -> str:
    """Return type arguments."""
    return ", ".join(parts)


@dataclass(frozen=True)
class Kind:
    """One kind of argument, by itself: what it is, and what its gradient is.

    Its type is looked at twice: a checker cannot see that a type is of a kind and keep it as it is, for
    a union of models too.

    Attributes:
        kind: What its type has to fit; ``{n}`` stands for its number.
        argument: Its type.
        filter: The filter that goes with it.
        gradient: The type of the gradient.
    """

    kind: str
    argument: str
    filter: str
    gradient: str


# With an overlay, pyright knows the State. mypy finds none of these, and takes what follows.
_PARAMS_FIELDS = Kind("_HasParams[_S{n}]", "object", PARAMS, "_S{n}")
_OPTIONAL_FIELDS = Kind("_HasParams[_S{n}] | None", "object", PARAMS, "_S{n} | None")
_LORA_FIELDS = Kind("_HasLoRA[_S{n}]", "object", LORA, "_S{n}")
_MODEL = Kind("_Graph", "_A{n}", "_F{n}", "State[Any, Any, _A{n}, _F{n}]")
_OPTIONAL_MODEL = Kind(
    "_Graph | None", "_A{n} | None", "_F{n}", "State[Any, Any, _A{n}, _F{n}] | None"
)
_VALUE = Kind("object", "_A{n}", "_F{n}", "_A{n}")

# The first that fits counts.
_ONE = (_PARAMS_FIELDS, _OPTIONAL_FIELDS, _LORA_FIELDS, _MODEL, _OPTIONAL_MODEL, _VALUE)
_TWO = (_PARAMS_FIELDS, _MODEL, _VALUE)


@dataclass(frozen=True)
class ResultClass:
    """A class of transformed functions, for every number of gradients.

    Attributes:
        name: What its name starts with.
        base: The class of the source that it is.
        of: What comes with the gradients, as a type variable of the class.
        result: Makes the type of the result from that of the gradients.
    """

    name: str
    base: str
    of: str | None
    result: Callable[[str], str]

    def parameters(self, count: int) -> list[str]:
        """Return the type variables of the class."""
        own = [*names("A", count, "_co"), *names("G", count), "P"]
        return own if self.of is None else [*own, self.of]


RESULTS = {
    ("grad", False): ResultClass("_Gradient", "Gradient", None, "{}".format),
    ("grad", True): ResultClass("_GradientAndAux", "Gradient", "_X_co", "tuple[{}, _X_co]".format),
    # With has_aux, what the function returns is a pair already.
    ("value_and_grad", False): ResultClass(
        "_ValueAndGradient", "ValueAndGradient", "_R_co", "tuple[_R_co, {}]".format
    ),
}


def result_classes() -> str:
    """Return the classes, and their bases that say by what a gradient is."""
    lines: list[str] = []
    for count in range(1, MOST + 1):
        own = [*names("K", count, "_co"), *names("A", count, "_co"), *names("G", count)]
        lines.append(f"class _By{count}(Generic[{joined(own)}]): ...")
    for made in RESULTS.values():
        for count in range(1, MOST + 1):
            lines += _class(made, f"Of{count}", count, _one if count == 1 else _tuple)
        lines += _class(made, "OfOneTuple", 1, _tuple)
    return "\n".join(lines)


def _class(
    made: ResultClass, suffix: str, count: int, together: Callable[[Sequence[str]], str]
) -> Iterator[str]:
    own = joined([*names("A", count, "_co") * 2, *names("G", count)])
    parameters = joined(made.parameters(count))
    bases = f"_By{count}[{own}], {made.base}[P, Any], Generic[{parameters}]"
    yield f"\nclass {made.name}{suffix}({bases}):"
    call = "*args: P.args, **kwargs: P.kwargs"
    for kinds in _kinds(count):
        arguments = [kind.kind.format(n=n) for n, kind in enumerate(kinds)]
        arguments += [kind.argument.format(n=n) for n, kind in enumerate(kinds)]
        filters = [kind.filter.format(n=n) for n, kind in enumerate(kinds)]
        gradients = together([kind.gradient.format(n=n) for n, kind in enumerate(kinds)])
        by = f"_By{count}[{joined([*arguments, *filters])}]"
        yield f"    @overload\n    def __call__(self: {by}, {call}) -> {made.result(gradients)}: ..."


def _kinds(count: int) -> Iterator[tuple[Kind, ...]]:
    return itertools.product(_ONE if count == 1 else _TWO, repeat=count)


def _one(gradients: Sequence[str]) -> str:
    return gradients[0]


def _tuple(gradients: Sequence[str]) -> str:
    return f"tuple[{joined(gradients)}]"


_OPTIONS = "holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..."
# With these the gradient by a Module is a Module.
_TREES = (
    "graph: Literal[False], graph_updates: bool | None = ...",
    "graph: bool | None = ..., graph_updates: Literal[False]",
)
_MODES = "graph: bool | None = ..., graph_updates: bool | None = ..."
_CLASSES = {"grad": "Gradient", "value_and_grad": "ValueAndGradient"}

# Positions that are counted from the end, or that few functions have, and other orders.
_OTHER_POSITIONS = "Literal[-1, -2, -3, -4, 4, 5, 6, 7]"
_OTHER_PAIRS = (
    "tuple[Literal[2, 3], Literal[0]] | tuple[Literal[2, 3], Literal[1]]"
    " | tuple[Literal[3], Literal[2]]"
)
_OTHERS = (
    f"{_OTHER_POSITIONS} | DiffState[int, Any] | {_OTHER_PAIRS}"
    " | list[int] | list[DiffState[Any, Any]] | list[int | DiffState[Any, Any]]"
)


def _overload(name: str, parameters: list[str], result: str) -> str:
    return f"@overload\ndef {name}({joined(parameters)}) -> {result}: ..."


def _has_aux(has_aux: bool) -> str:
    return "has_aux: Literal[True]" if has_aux else "has_aux: Literal[False] = ..."


def _function_type(chosen: Chosen, has_aux: bool) -> str:
    value = "tuple[_R, _X]" if has_aux else "_R"
    return f"{chosen.function}[_P, {joined(names('A', chosen.count))}, {value}] | _NoFunction"


def _result_type(name: str, chosen: Chosen, has_aux: bool) -> str:
    made = RESULTS.get((name, has_aux), RESULTS[name, False])
    own = [*names("A", chosen.count), *names("F", chosen.count), "_P"]
    if made.of == "_X_co":
        own.append("_X")
    elif made.of is not None:
        own.append("tuple[_R, _X]" if has_aux else "_R")
    return f"{made.name}{chosen.result}[{joined(own)}]"


def _precise(name: str, *, is_decorator: bool) -> Iterator[str]:
    for chosen in choices():
        for has_aux in (False, True):
            function = _function_type(chosen, has_aux)
            result = _result_type(name, chosen, has_aux)
            argnums = f"argnums: {chosen.argnums}" + (" = ..." if chosen.is_default else "")
            options = [argnums, _has_aux(has_aux), _OPTIONS, _MODES]
            if is_decorator:
                yield _overload(name, ["*", *options], f"Callable[[{function}], {result}]")
            else:
                yield _overload(name, [f"f: {function}", "*", *options], result)


def _by_trees(name: str) -> Iterator[str]:
    """Yield the overloads for ``graph=False`` and ``graph_updates=False``."""
    for modes in _TREES:
        for chosen in choices():
            if chosen.is_tuple:
                continue
            for has_aux in (False, True):
                argnums = f"argnums: Literal[{chosen.positions[0]}]"
                argnums += " = ..." if chosen.is_default else ""
                parameters = [f"f: {_function_type(chosen, has_aux)}", "*", argnums]
                parameters += [_has_aux(has_aux), _OPTIONS, modes]
                yield _overload(name, parameters, _tree_result(name, has_aux))
        parameters = ["f: Callable[_P, Any]", "*", "argnums: tuple[Any, ...] | list[Any]"]
        yield _overload(
            name,
            [*parameters, "has_aux: bool = ...", _OPTIONS, modes],
            f"{_CLASSES[name]}[_P, Any]",
        )
        parameters = ["*", "argnums: DiffArgs = ...", "has_aux: bool = ...", _OPTIONS, modes]
        yield _overload(
            name, parameters, f"Callable[[Callable[_P, Any]], {_CLASSES[name]}[_P, Any]]"
        )


def _tree_result(name: str, has_aux: bool) -> str:
    value = "tuple[_R, _X]" if has_aux else "_R"
    result = "tuple[_A0, _X]" if has_aux else "_A0"
    if name == "value_and_grad":
        result = f"tuple[{value}, _A0]"
    return f"{_CLASSES[name]}[_P, {result}]"


def _imprecise(name: str) -> Iterator[str]:
    """Yield overloads for positions whose types are not told apart."""
    for has_aux in (False, True):
        aux = "tuple[_R, _X]" if has_aux else "_R"
        result = "tuple[Any, _X]" if has_aux else "Any"
        if name == "value_and_grad":
            result = f"tuple[{aux}, Any]"
        made = f"{_CLASSES[name]}[_P, {result}]"
        options = [f"argnums: {_OTHERS}", _has_aux(has_aux), _OPTIONS, _MODES]
        yield _overload(name, [f"f: Callable[_P, {aux}]", "*", *options], made)
        yield _overload(name, ["*", *options], f"Callable[[Callable[_P, {aux}]], {made}]")


def _of_many(name: str) -> Iterator[str]:
    """Yield overloads for tuples of three and four positions, whose gradients may be anything."""
    for count in range(MOST + 1, len(POSITIONS) + 1):
        argnums = f"argnums: tuple[{joined(['_Position'] * count)}]"
        gradients = f"tuple[{joined(['Any'] * count)}]"
        for has_aux in (False, True):
            value = "tuple[_R, _X]" if has_aux else "_R"
            # So many arguments it must have.
            function = f"_Fn{count - 1}[_P, Any, {value}] | _NoFunction"
            result = f"tuple[{gradients}, _X]" if has_aux else gradients
            if name == "value_and_grad":
                result = f"tuple[{value}, {gradients}]"
            made = f"{_CLASSES[name]}[_P, {result}]"
            options = ["*", argnums, _has_aux(has_aux), _OPTIONS, _MODES]
            yield _overload(name, [f"f: {function}", *options], made)
            yield _overload(name, options, f"Callable[[{function}], {made}]")


def _unknown(name: str) -> str:
    """Return the overload for functions without a known signature: first, for functools.partial."""
    options = ["argnums: DiffArgs = ...", "has_aux: bool = ...", _OPTIONS, _MODES]
    return _overload(name, ["f: _AnyFunction", "*", *options], f"{_CLASSES[name]}[..., Any]")


def _definition(name: str) -> str:
    return "\n".join(
        [
            _unknown(name),
            *_by_trees(name),
            *_precise(name, is_decorator=False),
            *_precise(name, is_decorator=True),
            *_of_many(name),
            *_imprecise(name),
        ]
    )


def _diff_state() -> Iterator[str]:
    """Yield the overloads of ``DiffState.__init__``: its type says which argument it names."""
    numbers = [*(f"Literal[{position}]" for position in POSITIONS), "int"]
    for filter_ in ("type[_V]", "_Filter"):
        for number in numbers:
            own = f"self: DiffState[{number}, {filter_}]"
            yield _overload("__init__", [own, f"argnum: {number}", f"filter: {filter_}"], "None")


MODULES = (
    Overloads(
        "typed_nnx._transforms.grad_overloads",
        IMPORTS,
        [
            type_variables(),
            "_Position: TypeAlias = int | DiffState[Any, Any]",
            PROTOCOLS,
            function_protocols(),
            result_classes(),
            *map(_definition, _CLASSES),
        ],
    ),
    Overloads(
        "typed_nnx._transforms.engine.diff_state_overloads",
        (
            "from typing import Any, Literal, TypeVar, overload",
            "from typed_nnx._core.filters import Filter",
            "from typed_nnx._core.variable import Variable",
            "from typed_nnx._transforms.engine.prefixes import DiffState",
        ),
        [
            '_V = TypeVar("_V", bound=Variable[Any])\n_Filter = TypeVar("_Filter", bound=Filter)',
            "\n".join(_diff_state()),
        ],
    ),
)
