"""`grad` and `value_and_grad`: gradients by the types of the arguments that are chosen.

Checkers are to know the types of the differentiated arguments and the whole signature. Both are
found by a protocol whose ``__call__`` is overloaded: a function must satisfy each overload, the
first gives the signature ``P``, the second the arguments by their positions.

The State of a model is that of the object that is given: a parameter may be annotated with a base
class, and one of a lambda has no annotation. So the first overloads of the result take the arguments
out of ``P``. mypy does not know them (its plugin looks at the arguments itself); calls by keyword, and
choices other than the first two arguments, are left to the overloads that look at annotations alone.

A function whose type holds an ``Any`` may fit several overloads, and mypy then gives up: for the
same options the overloads of `grad` exclude each other.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from typed_nnx_codegen.stubgen.overloads import Overloads

POSITIONS = range(4)
"""The positions with types of their own."""

MOST = 2
"""Up to so many gradients have types of their own."""

_OF_LOSS = "_OfLoss"
"""The name of the protocol of functions that return a loss."""

IMPORTS = (
    "from collections.abc import Callable, Hashable, Sequence",
    "from typing import Any, ClassVar, Generic, Literal, Never, Protocol, TypeAlias, overload",
    "from typing_extensions import Concatenate, ParamSpec, TypeVar",
    "from jax.typing import ArrayLike",
    "from typed_nnx._core.filters import SupportsSplitPart",
    "from typed_nnx._core.state import State",
    "from typed_nnx._core.variable import Variable",
    "from typed_nnx._core.variable_types import LoRAParam, Param",
    "from typed_nnx._transforms.engine.argnums import DiffArgs",
    "from typed_nnx._transforms.engine.prefixes import DiffState",
    "from typed_nnx._transforms.grad import Gradient, ValueAndGradient",
)

PARAMS = "type[Param[Any]]"
"""The filter of the Variables that are differentiated by if none is given."""

LORA = "type[LoRAParam[Any]]"

# The same where nothing is chosen. Without an Any in it: pyright takes that of a function that is
# called for one among the arguments, and gives up where several overloads fit.
_DEFAULT = "_Params"


def type_variables() -> str:
    """Return the type variables: ``_An`` of argument n, ``_Fn`` of its filter, ``_Sn`` of a State.

    The bound lets lambdas in; the default stands for what a checker cannot tell, as of them.
    """
    lines = [f'{name} = ParamSpec("{name}")' for name in "PQZ"]
    lines += [f'{name} = ParamSpec("{name}", default=...)' for name in ("_P", "_Q")]
    lines += ['_R_co = TypeVar("_R_co", covariant=True)']
    lines += [
        '_R = TypeVar("_R", default=Any)',
        '_Loss = TypeVar("_Loss", bound=ArrayLike | Variable[Any], default=Any)',
        '_X = TypeVar("_X", default=Any)',
        '_X_co = TypeVar("_X_co", covariant=True)',
        "class _Params: ...",
    ]
    for n in range(MOST):
        lines += [
            f'_A{n} = TypeVar("_A{n}", bound=Any, default=Any)',
            f'_I{n} = TypeVar("_I{n}", bound=Any)',
            f'_A{n}_co = TypeVar("_A{n}_co", bound=Any, covariant=True)',
            f'_K{n}_co = TypeVar("_K{n}_co", bound=Any, covariant=True)',
            f'_A{n}_contra = TypeVar("_A{n}_contra", bound=Any, contravariant=True)',
            f'_F{n} = TypeVar("_F{n}", default=_Params)',
            f'_G{n} = TypeVar("_G{n}")',
            f'_S{n} = TypeVar("_S{n}", default=Any)',
            f'_T{n}_co = TypeVar("_T{n}_co", covariant=True)',
            f'_V{n} = TypeVar("_V{n}", bound="_NoGraph")',
        ]
    lines += ['_B = TypeVar("_B")', '_N_co = TypeVar("_N_co", covariant=True)']
    return "\n".join(lines)


PROTOCOLS = """
MYPY = False

_M_co = TypeVar("_M_co", covariant=True)
_S_co = TypeVar("_S_co", covariant=True)

class _Graph(Protocol):
    __nnx_is_graph__: ClassVar[bool]

class _HasParams(Protocol[_S_co]):
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_param_fields__(self, /) -> _S_co: ...

# Of an object of a class, such as the one that a parameter is annotated with.
class _Model(Protocol[_M_co, _S_co]):
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_self__(self, /) -> _M_co: ...
    def __nnx_param_fields__(self, /) -> _S_co: ...

class _NoGraph(Protocol):
    def __sizeof__(self) -> int: ...

# Nothing is one, but a type that is not known.
class _Untyped: ...

class _HasLoRA(Protocol[_S_co]):
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_lora_fields__(self, /) -> _S_co: ...

# Where a checker does not know which one counts, pyrefly takes the first, pyright the last.
class _Marked:
    if not MYPY:
        __nnx_mypy__: None
    else:
        __nnx_mypy__: bool  # pyright: ignore[reportRedeclaration]  # one of them counts
    if not MYPY:
        __nnx_mypy__: None

# What a loss with a tuple as its result is made into: it cannot be called.
class _HasAuxIsMissing: ...

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
    every = [each for each in choices() if not (each.is_tuple and each.count == 1)]
    protocols = [_function_protocol(each, each.function) for each in every]
    # pyright remembers which classes do not fit a protocol, whatever the result that it asked for: what
    # fails because `nnx.jit(f)` returns no loss must not fail where a pair is asked for.
    return "\n".join([_function_protocol(every[0], _OF_LOSS), *protocols])


def _function_protocol(chosen: Chosen, name: str) -> str:
    contra = names("A", chosen.count, "_contra")
    by_position = dict(zip(chosen.positions, contra, strict=True))
    arguments = [f"a{n}: {by_position.get(n, 'Any')}" for n in range(max(chosen.positions) + 1)]
    return f"""
class {name}(Protocol[P, Q, {", ".join(contra)}, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, {", ".join(arguments)}, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ..."""


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


# With an overlay, pyright knows the State. mypy finds none of these, and takes what follows. The first
# that fits counts.
_KINDS = (
    Kind("_HasParams[_S{n}]", "object", _DEFAULT, "_S{n}"),
    Kind("_HasParams[_S{n}] | None", "object", _DEFAULT, "_S{n} | None"),
    Kind("_HasLoRA[_S{n}]", "object", LORA, "_S{n}"),
    Kind("_Graph", "_A{n}", _DEFAULT, f"State[Any, Any, _A{{n}}, {PARAMS}]"),
    Kind("_Graph", "_A{n}", "_F{n}", "State[Any, Any, _A{n}, _F{n}]"),
    Kind("_Graph | None", "_A{n} | None", _DEFAULT, f"State[Any, Any, _A{{n}}, {PARAMS}] | None"),
    Kind("_Graph | None", "_A{n} | None", "_F{n}", "State[Any, Any, _A{n}, _F{n}] | None"),
    Kind("object", "_A{n}", "_F{n}", "_A{n}"),
)


# The same by the object that is given: the kind is what the parameter has to be, the argument what is
# accepted.
_UNTYPED = (Kind("_Untyped", "_HasParams[_V{n}] | _V{n}", _DEFAULT, "_V{n}"),)
_MODELS = (
    Kind("_I{n}", "_Model[_I{n}, _V{n}]", _DEFAULT, "_V{n}"),
    Kind("_I{n}", "SupportsSplitPart[_I{n}, _G{n}, _V{n}]", "_G{n}", "_V{n}"),
)
_NO_MODEL = Kind("_V{n}", "_V{n}", "_G{n}", "_V{n}")

# The choices, by their number, whose arguments are looked at.
_FIRST: dict[int, tuple[tuple[int, ...], ...]] = {1: ((0,), (1,)), 2: ((0, 1),)}


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
        own = [*names("I", count), *names("G", count), "_N_co", "P", "Q"]
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
    """Return the classes, and their bases that say what the gradients are."""
    lines: list[str] = []
    for count in range(1, MOST + 1):
        lines += [*_base(count), *_protocols(count)]
    for made in RESULTS.values():
        for count in range(1, MOST + 1):
            lines += _class(made, f"Of{count}", count, _one if count == 1 else _tuple)
        lines += _class(made, "OfOneTuple", 1, _tuple)
    return "\n".join(lines)


def _base(count: int) -> Iterator[str]:
    """Yield a class that says of each argument, by the annotation, what the gradient is."""
    own = [*names("K", count, "_co"), *names("A", count, "_co"), *names("G", count)]
    yield f"\nclass _By{count}(_Marked, Generic[{joined(own)}]):"
    for n in range(count):
        for kind in _KINDS:
            this, gradient = _by(kind, n, count), kind.gradient.format(n=n)
            yield "    @overload"
            yield f"    def __nnx_gradient{n}__(self: {this}, /) -> {gradient}: ..."


def _labels() -> Iterator[str]:
    """Yield a class for each choice of positions, and a protocol of each that is looked at.

    In mypy the class does not fit the protocol, so that it does not see the overloads by what is given.
    """
    for label in sorted({_label(chosen.positions) for chosen in choices()}):
        yield f"class _At{label}(_Marked):\n    def __nnx_at{label}__(self) -> None: ..."
    for label in map(_label, itertools.chain(*_FIRST.values())):
        yield f"class _Seen{label}(Protocol):\n    __nnx_mypy__: None"
        yield f"    def __nnx_at{label}__(self) -> None: ..."


def _protocols(count: int) -> Iterator[str]:
    """Yield the protocol of these gradients, and that of them in mypy."""
    own = joined(names("T", count, "_co"))
    yield f"\nclass _Has{count}(Protocol[{own}]):"
    for n in range(count):
        yield f"    def __nnx_gradient{n}__(self, /) -> _T{n}_co: ..."
    yield f"\nclass _Mypy{count}(_Has{count}[{own}], Protocol[{own}]):"
    yield "    __nnx_mypy__: bool"


def _class(
    made: ResultClass, suffix: str, count: int, together: Callable[[Sequence[str]], str]
) -> Iterator[str]:
    own = joined([*names("I", count) * 2, *names("G", count)])
    parameters = joined(made.parameters(count))
    bases = f"_By{count}[{own}], {made.base}[P, Any], Generic[{parameters}]"
    yield f"\nclass {made.name}{suffix}({bases}):"
    states = names("S", count)
    # Where a function is asked for, mypy takes the first overload.
    calls = [(_of_whole(f"_Mypy{count}[{joined(states)}]"), states)]
    for positions in _FIRST[count]:
        for given in (_UNTYPED * count, *_given(count)):
            gradients = [each.gradient.format(n=n) for n, each in enumerate(given)]
            calls.append((_by_argument(made, suffix, positions, given), gradients))
    if count == 1:
        kinds = [(_of_whole(_by(kind, 0, 1)), [kind.gradient.format(n=0)]) for kind in _KINDS]
    else:
        kinds = [(_of_whole(f"_Has{count}[{joined(states)}]"), states)]
    for parameters, gradients in [*calls, *kinds]:
        result = made.result(together(gradients))
        yield f"    @overload\n    def __call__({parameters}) -> {result}: ..."


def _of_whole(this: str) -> str:
    return f"self: {this}, *args: P.args, **kwargs: P.kwargs"


def _by(kind: Kind, number: int, count: int) -> str:
    """Return the type of a result by a kind of argument, one of some."""
    looked_at = [("object", kind.kind), ("object", kind.argument), ("Any", kind.filter)]
    taken = [
        each.format(n=n) if n == number else other
        for other, each in looked_at
        for n in range(count)
    ]
    return f"_By{count}[{joined(taken)}]"


def _by_argument(
    made: ResultClass, suffix: str, positions: tuple[int, ...], given: Sequence[Kind]
) -> str:
    """Return the parameters of a call whose arguments at some positions are looked at."""
    last = max(positions)
    chosen = dict(zip(positions, enumerate(given), strict=True))
    own = [each.kind.format(n=n) for n, each in enumerate(given)]
    own += [each.filter.format(n=n) for n, each in enumerate(given)]
    own.append(f"_Seen{_label(positions)}")
    before = [n for n in range(last + 1) if n not in chosen]
    # pyrefly and ty know the parameters after those that are looked at, but not those between.
    taken = joined(["_B" if n in before else "Any" for n in range(last + 1)])
    own += [f"Concatenate[{taken}, Z]", "..."] if before else ["P", "Q"]
    own += [made.of] if made.of is not None else []
    arguments = [
        f"a{n}: {'_B' if n in before else chosen[n][1].argument.format(n=chosen[n][0])}"
        for n in range(last + 1)
    ]
    rest = "Z" if before else "Q"
    this = f"{made.name}{suffix}[{joined(own)}]"
    return f"self: {this}, {joined(arguments)}, /, *args: {rest}.args, **kwargs: {rest}.kwargs"


def _given(count: int) -> Iterator[tuple[Kind, ...]]:
    """Yield what may be given, at least one model among it."""
    if count == 1:
        yield from ((each,) for each in _MODELS)
    else:
        yield from itertools.islice(itertools.product((_MODELS[0], _NO_MODEL), repeat=count), 3)


def _label(positions: Sequence[int]) -> str:
    return "".join(map(str, positions))


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
    return f"{chosen.function}[_P, _Q, {joined(names('A', chosen.count))}, {value}] | _NoFunction"


def _result_type(name: str, chosen: Chosen, has_aux: bool) -> str:
    made = RESULTS.get((name, has_aux), RESULTS[name, False])
    label = f"_At{_label(chosen.positions)}"
    own = [*names("A", chosen.count), *names("F", chosen.count), label, "_P", "_Q"]
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
            function = f"_Fn{count - 1}[_P, _Q, Any, {value}] | _NoFunction"
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


def _of_loss(name: str) -> str:
    """Return what tells a loss from a tuple. mypy does not see it: it has a message from its plugin.

    A result of unknown type fits the first; one of a type parameter fits neither. They are the first
    overloads: pyrefly forgets those before the `if`.
    """
    chosen = next(choices())
    function, made = (
        text.replace("_R]", "_Loss]").replace(chosen.function, _OF_LOSS)
        for text in (
            _function_type(chosen, has_aux=False),
            _result_type(name, chosen, has_aux=False),
        )
    )
    argnums, pair = f"argnums: {chosen.argnums} = ...", "Callable[..., tuple[Any, ...]]"
    overloads = [
        _overload(name, [f"f: {function}", "*", argnums, _has_aux(False), _OPTIONS], made),
        _overload(name, [f"f: {pair}", "*", argnums, _OPTIONS], "_HasAuxIsMissing"),
    ]
    return "if not MYPY:\n" + textwrap.indent("\n".join(overloads), "    ")


def _definition(name: str) -> str:
    return "\n".join(
        [
            _of_loss(name),
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
    by_filter = [
        "\n".join(
            _overload(
                "__init__",
                [f"self: DiffState[{number}, {own}]", f"argnum: {number}", f"filter: {given}"],
                "None",
            )
            for number in numbers
        )
        for own, given in (
            ("type[_V]", "Callable[[Array], _V]"),
            ("type[_V]", "type[_V]"),
            ("_Filter", "_Filter"),
        )
    ]
    # Of a class such as `BatchStat` pyright gets ``type[BatchStat[Array]]``. With an Any in the place of
    # the array it would not choose among the overloads of a gradient.
    yield "MYPY = False\nif not MYPY:"
    yield textwrap.indent(by_filter[0], "    ")
    yield from by_filter[1:]


MODULES = (
    Overloads(
        "typed_nnx._transforms.grad_overloads",
        IMPORTS,
        [
            type_variables(),
            "_Position: TypeAlias = int | DiffState[Any, Any]",
            PROTOCOLS,
            "\n".join(_labels()),
            function_protocols(),
            result_classes(),
            *map(_definition, _CLASSES),
        ],
    ),
    Overloads(
        "typed_nnx._transforms.engine.diff_state_overloads",
        (
            "from collections.abc import Callable",
            "from jax import Array",
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
