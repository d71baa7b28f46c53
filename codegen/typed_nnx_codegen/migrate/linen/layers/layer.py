"""`Layer`: what the table says of one Linen class, and what is known of its settings."""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Seq,
    Shape,
    Size,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers.definitions import (
    WITHOUT_SHARDING,
    Argument,
    Built,
    Given,
    Helper,
    Inputs,
    LayerVariable,
    MissingWidth,
    Refused,
)


class Open:
    """A setting that is not literal."""


OPEN: Final = Open()
_SINGLE: Final = re.compile(
    r"(?:(?:jnp|np|onp|numpy|jax\.numpy)\.float32|(['\"])float32\1|None)", re.ASCII
)


def literal(given: Mapping[str, Given], name: str, default: object = None) -> object:
    """Return the literal that a setting has, its default where it is not given, else `OPEN`."""
    if name not in given:
        return default
    return literal_of(given[name].value)


def literal_of(value: Value) -> object:
    """Return a value as a Python object; `OPEN` where it is not literal."""
    match value:
        case Const(value=constant):
            return constant
        case Size(dim=dim) if dim.constant is not None:
            return dim.constant
        case Seq(items=items):
            found = tuple(literal_of(item) for item in items)
            return OPEN if OPEN in found else found
        case Table(items=entries):
            known = {key: literal_of(item) for key, item in entries.items()}
            return OPEN if OPEN in known.values() else known
    return OPEN


def size_of(value: Value | None) -> Dim | None:
    """Return a value as a size; None where it may be none."""
    match value:
        case Size(dim=dim):
            return dim
        case Const(value=int(number)) if not isinstance(number, bool):
            return as_dim(number)
        case Code(code=code, home=home):
            return as_dim(Piece(code, home))
    return None


def integers(found: object) -> tuple[int, ...] | None:
    """Return a literal as integers: one, or several; None where it is neither."""
    if isinstance(found, int) and not isinstance(found, bool):
        return (found,)
    if isinstance(found, tuple) and all(
        isinstance(item, int) and not isinstance(item, bool) for item in found
    ):
        return found
    return None


def shape_of(value: Value | None) -> Shape:
    """Return the shape of an array, as far as known."""
    return value.shape if isinstance(value, Array) else ANY_SHAPE


def argument(inputs: Inputs | None, name: str) -> Value:
    """Return what is known of an argument of the call."""
    return UNKNOWN if inputs is None else inputs.arguments.get(name, UNKNOWN)


def last_axis(inputs: Inputs | None, name: str) -> Dim | None:
    """Return the size of the last axis of an argument of the call."""
    return shape_of(argument(inputs, name)).axis(-1)


def with_last(shape: Shape, *dims: Dim | None) -> Shape:
    """Return a shape with other sizes in the place of its last one."""
    known = shape.expanded(1)
    if not known.dims:
        return ANY_SHAPE
    return Shape((*known.dims[:-1], *dims), known.lead)


def is_single_precision(given: Mapping[str, Given], name: str) -> bool:
    """Whether a dtype is not given, None or float32 for certain."""
    return name not in given or _SINGLE.fullmatch(given[name].code.strip()) is not None


def operand(code: str) -> str:
    """Return code that can stand before a dot."""
    return code if re.fullmatch(r"[\w.]+", code) else f"({code})"


def unless_none(given: Given, code: str) -> str:
    """Return code that is for an argument, or None where the argument is None.

    Args:
        given: The argument.
        code: What stands in its place where it is not None.
    """
    if isinstance(given.value, Array) and not given.value.is_optional:
        return code
    if isinstance(parsed(given.code), ast.Call):
        # Calling twice could do something twice; a call that makes keys or masks makes some.
        return code
    return f"None if {operand(given.code)} is None else {code}"


def parsed(code: str) -> ast.expr | None:
    """Return an expression as a tree; None where it is none."""
    try:
        return ast.parse(f"({code}\n)", mode="eval").body
    except SyntaxError:
        return None


_OF_THE_MODULE: Final = ("name", "parent")


@dataclass(frozen=True)
class CallParameter:
    """A parameter of a method of a layer.

    Attributes:
        linen: Its name in Linen.
        nnx: Its name in NNX; empty where NNX has none.
        positional: Whether NNX takes it by position.
    """

    linen: str
    nnx: str
    positional: bool = True


@dataclass(frozen=True)
class Lacking:
    """A setting of the Linen class that the NNX class does not have.

    Attributes:
        default: The value of the setting that NNX computes with.
        why: What is different with another value.
        fix: What to do about it.
    """

    default: object
    why: str
    fix: str = "Keep the layer with `nnx.bridge.ToNNX`, or write it by hand."


def same(*names: str, keyword: tuple[str, ...] = ()) -> tuple[CallParameter, ...]:
    """Return parameters that have one name in both APIs.

    Args:
        names: Those that NNX takes by position.
        keyword: Those that NNX takes by name only.
    """
    return (
        *(CallParameter(name, name) for name in names),
        *(CallParameter(name, name, positional=False) for name in keyword),
    )


@dataclass(frozen=True, kw_only=True)
class Layer(ABC):
    """A Linen class and how it is written in NNX.

    Attributes:
        linen: Its public name, ``flax.linen.Dense``.
        nnx: The public name of the NNX class, ``nnx.Linear``.
        parameters: The fields of the Linen class, in the order of its constructor.
        required: The fields without a default.
        calls: The parameters of its methods, in the order of Linen; the arguments of a method
            that is not among them stay as they are.
        movable: Settings that NNX takes at the call too.
        leading: Settings that NNX takes by position, after the widths.
        renamed: Settings that have another name in NNX.
        lacking: Settings that NNX does not have.
        replaced: Settings that other arguments stand for.
        functions: Settings that NNX calls with ``out_sharding`` too, with their default.
        explicit: Arguments of NNX to write because its default differs.
        takes_rngs: Whether the NNX class takes ``rngs``.
    """

    linen: str
    nnx: str
    parameters: tuple[str, ...]
    required: tuple[str, ...] = ()
    calls: Mapping[str, tuple[CallParameter, ...]]
    movable: frozenset[str] = frozenset()
    leading: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    lacking: Mapping[str, Lacking] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict)
    explicit: Mapping[str, str] = field(default_factory=dict)
    takes_rngs: bool = True

    @property
    def definition(self) -> Helper | None:
        """The definition of the NNX class, where migrated files have it; None where NNX has it."""
        return None

    @property
    def name(self) -> str:
        """Its name as users write it, ``nn.Dense``."""
        return f"nn.{self.linen.rpartition('.')[2]}"

    def build(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> Built | Refused | MissingWidth:
        """Return how the layer is constructed.

        Args:
            given: The arguments of the Linen constructor.
            inputs: What it is called with; None where that is not known.
        """
        refused = self._unsupported(given) or self.refused(given, inputs)
        if refused is not None:
            return refused
        widths = self.widths(given, inputs)
        if not isinstance(widths, tuple):
            return widths
        passed, helpers = self._passed(given)
        added, needed = self.added(given, inputs)
        return Built(
            self.nnx,
            (*widths, *passed, *added),
            self.takes_rngs,
            helpers=tuple(dict.fromkeys((*helpers, *needed))),
        )

    def call(
        self, given: Mapping[str, Given], arguments: Mapping[str, Given], method: str = "__call__"
    ) -> tuple[Argument, ...] | Refused:
        """Return how the arguments of a call are written in NNX.

        Args:
            given: The arguments of the Linen constructor.
            arguments: The arguments of the call, in the order in which they are written.
            method: The method of the Linen class that is called.
        """
        if method not in self.calls:
            return tuple(
                Argument(name if argument.keyword else "", argument.code)
                for name, argument in arguments.items()
            )
        written: list[Argument] = []
        parameters = {parameter.linen: parameter for parameter in self.calls[method]}
        expected = iter(self.calls[method])
        for name, argument in arguments.items():
            parameter = parameters.get(name)
            if parameter is None or not parameter.nnx:
                return self._no_argument(method, name)
            in_place = parameter == next(expected, None) and not argument.keyword
            keyword = "" if in_place and parameter.positional else parameter.nnx
            written.append(Argument(keyword, argument.code))
        return tuple(written)

    def refused(self, given: Mapping[str, Given], inputs: Inputs | None) -> Refused | None:
        """Return why NNX has no such layer with these settings; None where it has."""
        del given, inputs
        return None

    def widths(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[Argument, ...] | Refused | MissingWidth:
        """Return the sizes that NNX wants and Linen reads off the inputs."""
        del given, inputs
        return ()

    def added(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[tuple[Argument, ...], tuple[Helper, ...]]:
        """Return arguments that follow from the settings, and the helpers in them."""
        del given, inputs
        return (), ()

    @abstractmethod
    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return what a method returns.

        Args:
            given: The arguments of the Linen constructor.
            inputs: The arguments of the call.
            method: The method of the Linen class that is called.
        """

    @abstractmethod
    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return where its variables are; all that it may have where that is not literal."""

    def _unsupported(self, given: Mapping[str, Given]) -> Refused | None:
        for name in self.required:
            if name not in given:
                return Refused(
                    f"`{self.name}` is constructed without `{name}`.",
                    f"Give `{name}`, which Linen requires.",
                )
        for name in given:
            if name not in self.parameters and name not in _OF_THE_MODULE:
                return Refused(
                    f"`{self.name}` has no parameter `{name}` in flax 0.12.",
                    f"Remove `{name}`, or write what it was for.",
                )
            lacking = self.lacking.get(name)
            if lacking is not None and literal(given, name) != lacking.default:
                return Refused(f"`{self.name}({name}=...)`: {lacking.why}", lacking.fix)
        return None

    def _passed(
        self, given: Mapping[str, Given]
    ) -> tuple[tuple[Argument, ...], tuple[Helper, ...]]:
        arguments = [Argument("", given[name].code) for name in self.leading if name in given]
        helpers: list[Helper] = []
        skipped = {*self.leading, *self.lacking, *self.replaced, *_OF_THE_MODULE}
        for name in given:
            if name in skipped:
                continue
            code = given[name].code
            if name in self.functions:
                if literal(given, name, "") is None:
                    continue
                code = f"{WITHOUT_SHARDING.name}({code}, {self.functions[name]})"
                helpers.append(WITHOUT_SHARDING)
            elif name == "promote_dtype":
                code = f"lambda arrays, **options: ({code})(*arrays, **options)"
            arguments.append(Argument(self.renamed.get(name, name), code))
        arguments.extend(
            Argument(name, code) for name, code in self.explicit.items() if name not in given
        )
        return tuple(arguments), tuple(helpers)

    def _no_argument(self, method: str, name: str) -> Refused:
        return Refused(
            f"`{self.name}.{method}` is called with `{name}`, which NNX does not have.",
            "Write by hand what it is for.",
        )


def use_switch(
    given: Mapping[str, Given], switch: str, variable: str, default: bool = True
) -> tuple[LayerVariable, ...]:
    """Return a parameter that exists unless a setting is literally false."""
    if literal(given, switch, default) is False:
        return ()
    return (LayerVariable(f"params/{variable}", variable),)
