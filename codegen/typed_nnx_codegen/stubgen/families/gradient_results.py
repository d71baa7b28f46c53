"""The classes that `grad` and `value_and_grad` return: which gradient belongs to which argument."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from typed_nnx_codegen.stubgen.families.gradient_parts import (
    LORA,
    PARAMS,
    POSITIONS,
    joined,
    names,
)

_FULL = 2
"""Up to so many gradients, each argument may have a filter of its own."""


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
# Of many arguments those with filters are not told apart.
_PARAMS_OF_MANY = Kind("_SupportsParams[_S{n}]", "object", PARAMS, "_S{n}")
_VALUE_OF_MANY = Kind("object", "_A{n}", PARAMS, "_A{n}")

# The first that fits counts.
_ONE = (_PARAMS_FIELDS, _OPTIONAL_FIELDS, _LORA_FIELDS, _MODEL, _OPTIONAL_MODEL, _VALUE)
_TWO = (_PARAMS_FIELDS, _MODEL, _VALUE)
_MANY = (_PARAMS_OF_MANY, _VALUE_OF_MANY)


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
    for count in range(1, len(POSITIONS) + 1):
        own = [*names("K", count, "_co"), *names("A", count, "_co"), *names("G", count)]
        lines.append(f"class _By{count}(Generic[{joined(own)}]): ...")
    for made in RESULTS.values():
        for count in range(1, len(POSITIONS) + 1):
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
    if count > _FULL:
        gradients = together(["Any"] * count)
        yield f"    @overload\n    def __call__(self, {call}) -> {made.result(gradients)}: ..."


def _kinds(count: int) -> Iterator[tuple[Kind, ...]]:
    kinds = _ONE if count == 1 else _TWO if count <= _FULL else _MANY
    return itertools.product(kinds, repeat=count)


def _one(gradients: Sequence[str]) -> str:
    return gradients[0]


def _tuple(gradients: Sequence[str]) -> str:
    return f"tuple[{joined(gradients)}]"
