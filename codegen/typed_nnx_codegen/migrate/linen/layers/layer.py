"""`Layer`: a Linen class in NNX, its constructor, calls, outputs and variables; helpers of migrated code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    Transformer,
    code_of,
    descendants,
)
from typed_nnx_codegen.migrate.linen.domain.code import operand
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    UNKNOWN,
    Array,
    Const,
    Seq,
    Shape,
    Size,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of


@dataclass(frozen=True)
class Given:
    """An argument of a constructor or a call, bound to the name of its parameter in Linen.

    Attributes:
        code: A Python expression for it, valid in the new constructor or in the method.
        value: What is known of it.
        keyword: Whether it was written with its name.
    """

    code: str
    value: Value = UNKNOWN
    keyword: bool = False


@dataclass(frozen=True)
class Inputs:
    """The arguments that a layer is called with.

    Attributes:
        arguments: What is known of each, by the name of its parameter in Linen.
    """

    arguments: Mapping[str, Value]


@dataclass(frozen=True)
class Template:
    """Code with sizes in it.

    Attributes:
        parts: Pieces of code and sizes, in order.
    """

    parts: tuple[str | Dim, ...]


@dataclass(frozen=True)
class Argument:
    """An argument of the new constructor or call.

    Attributes:
        keyword: The name of its parameter; empty where it is positional.
        code: The expression, or a size, or code with sizes in it.
    """

    keyword: str
    code: str | Dim | Template

    def spelled(self, size: Callable[[Dim], str] = Dim.code) -> str:
        """Return it as it is written in a call."""
        parts = self.code.parts if isinstance(self.code, Template) else (self.code,)
        text = "".join(part if isinstance(part, str) else size(part) for part in parts)
        return f"{self.keyword}={text}" if self.keyword else text


@dataclass(frozen=True)
class Helper:
    """A function or class of `typed_nnx.migrated` that migrated code needs.

    Code for flax.nnx gets its definition at the top level of the file.

    Attributes:
        name: Its name.
    """

    name: str

    @property
    def code(self) -> str:
        """Its definition."""
        return _definitions()[self.name][0]

    @property
    def imports(self) -> tuple[str, ...]:
        """The modules that the definition needs, as import statements."""
        return _definitions()[self.name][1]

    @property
    def after(self) -> tuple[Helper, ...]:
        """The helpers that it needs itself."""
        return tuple(map(Helper, _definitions()[self.name][2]))


class _Untyped(Transformer):
    """Leaves out types: files do not import what they are written with.

    Variables have the names of NNX there, as files for flax.nnx do not read maps.
    """

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        """Return a name."""
        is_linen = original_node.value == "linen_names"
        return updated_node.with_changes(value="nnx_names") if is_linen else updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        """Return a statement, but one that finds sizes by constructing models on shapes alone."""
        read = {one.value for one in descendants(original_node) if isinstance(one, cst.Name)}
        return updated_node if read.isdisjoint(_OF_SHAPES) else cst.RemoveFromParent()

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        """Return a parameter; plain types and those of NNX stay."""
        annotation = original_node.annotation
        if annotation is None or code_of(annotation.annotation) in _KEPT:
            return updated_node
        tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        equal = tight if updated_node.default is not None else cst.MaybeSentinel.DEFAULT
        return updated_node.with_changes(annotation=None, equal=equal)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Return a function."""
        del original_node
        return updated_node.with_changes(returns=None)

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        """Return a class."""
        del original_node
        bases = [
            one.with_changes(value=one.value.value) if isinstance(one.value, cst.Subscript) else one
            for one in updated_node.bases
        ]
        return updated_node.with_changes(bases=bases)

    def leave_AnnAssign(
        self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign
    ) -> cst.BaseSmallStatement:
        """Return an assignment."""
        del original_node
        if updated_node.value is None:
            return updated_node
        return cst.Assign([cst.AssignTarget(updated_node.target)], updated_node.value)


_OF_SHAPES: Final = frozenset({"sizes_of_call", "with_sizes_in"})
_KEPT: Final = frozenset({"int", "bool", "float", "str", "nnx.Module", "nnx.Rngs"})


@cache
def _definitions() -> dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return the code of each helper, the import statements and the other helpers that it needs."""
    spec = find_spec("typed_nnx")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    folder = Path(spec.submodule_search_locations[0], "migrated")
    bodies = [cst.parse_module(one.read_text("utf-8")).body for one in folder.glob("_*.py")]
    defining = (cst.FunctionDef, cst.ClassDef)
    every = {one.name.value for body in bodies for one in body if isinstance(one, defining)}
    found: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {}
    for body in bodies:
        imports = [one for one in body if isinstance(one, cst.SimpleStatementLine)]
        texts = [code_of(one.with_changes(leading_lines=())).strip() for one in imports]
        texts = [text for text in texts if not text.startswith("from typed_nnx")]
        for node in body:
            if not isinstance(node, defining):
                continue
            bare = _Untyped().applied(node.with_changes(leading_lines=()))
            read = {one.value for one in descendants(bare) if isinstance(one, cst.Name)}
            needed = [text for text in texts if _binds_one_of(text, read)]
            name = node.name.value
            after = sorted((read & every) - {name})
            found[name] = (code_of(bare), tuple(needed), tuple(after))
    return found


def _binds_one_of(statement: str, names: set[str]) -> bool:
    """Whether a statement imports one of some names, other than those of NNX."""
    is_import = statement.startswith(("import ", "from ")) and " as nnx" not in statement
    return is_import and statement.rpartition(" ")[2] in names


@dataclass(frozen=True)
class Built:
    """How a layer is constructed.

    Attributes:
        cls: The public name of its class, ``nnx.Linear``, or the name of a helper.
        arguments: The arguments of the constructor without ``rngs``.
        takes_rngs: Whether ``rngs=rngs`` belongs at the end.
        helpers: What the code needs at the top level of the file.
    """

    cls: str
    arguments: tuple[Argument, ...]
    takes_rngs: bool = True
    helpers: tuple[Helper, ...] = ()


@dataclass(frozen=True)
class Refused:
    """Why there is no code that does the same; becomes a marker.

    Attributes:
        why: The reason, a sentence.
        fix: What to do, a sentence.
    """

    why: str
    fix: str


@dataclass(frozen=True)
class MissingWidth:
    """A width that the inputs do not tell.

    Attributes:
        parameter: The parameter of the new constructor that it is for.
    """

    parameter: str


@dataclass(frozen=True)
class LayerVariable:
    """Where a variable of the Linen layer is in the new one.

    Attributes:
        linen: Its path, collection first: ``params/kernel``; may be a whole subtree.
        nnx: The path of attributes: ``kernel``, ``query.kernel``.
        reshape: The new shape; None where it stays.
        transpose: The new order of its axes; None where it stays.
    """

    linen: str
    nnx: str
    reshape: tuple[int, ...] | None = None
    transpose: tuple[int, ...] | None = None

    @property
    def change(self) -> dict[str, object]:
        """What is done with the array, as the map has it."""
        asked = {"transpose": self.transpose, "reshape": self.reshape}
        return {name: value for name, value in asked.items() if value is not None}


Settings = Mapping[str, Given]
Widths = tuple[Argument, ...] | Refused | MissingWidth
Building = Built | Refused | MissingWidth
Added = tuple[tuple[Argument, ...], tuple[Helper, ...]]

KEEP_DTYPES: Final = Helper("keep_dtypes")
IN_DTYPE_OF_INPUTS: Final = Helper("in_dtype_of_inputs")
ACCEPTED_ARGUMENTS: Final = Helper("with_accepted_arguments")
ATTENTION_IN_ITS_DTYPE: Final = Helper("attention_in_its_dtype")
WEIGHT_NORM: Final = Helper("LinenWeightNorm")
SPECTRAL_NORM: Final = Helper("LinenSpectralNorm")
GRU_CELL: Final = Helper("LinenGRUCell")
MGU_CELL: Final = Helper("LinenMGUCell")
CONV_LSTM_CELL: Final = Helper("LinenConvLSTMCell")
VARIABLES_OF: Final = Helper("variables_of")
BOUND_TO: Final = Helper("bound_to")
APPLY_OF: Final = Helper("apply_of")
APPLY_WITH: Final = Helper("apply_with")
INIT_WITH_OUTPUT: Final = Helper("init_with_output")
FIELD_OF: Final = Helper("field_of")
INIT_WITH: Final = Helper("init_with")
INIT_LIKE: Final = Helper("init_like")
CONSTRUCT_LATER: Final = Helper("construct_later")


class Open:
    """A setting that is not literal."""


OPEN: Final = Open()
_SINGLE: Final = re.compile(
    r"(?:(?:jnp|np|onp|numpy|jax\.numpy)\.float32|(['\"])float32\1|None)", re.ASCII
)


def literal(given: Settings, name: str, default: object = None) -> object:
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


def size_of(given: Settings, name: str) -> Dim | None:
    """Return a setting as a size; None where it is none."""
    return dim_of(given[name].value) if name in given else None


def integers(found: object) -> tuple[int, ...] | None:
    """Return a literal as integers: one, or several; None where it is neither."""
    if isinstance(found, int) and not isinstance(found, bool):
        return (found,)
    if isinstance(found, tuple) and all(
        isinstance(item, int) and not isinstance(item, bool) for item in found
    ):
        return found
    return None


def argument(inputs: Inputs | None, name: str) -> Value:
    """Return what is known of an argument of the call."""
    return UNKNOWN if inputs is None else inputs.arguments.get(name, UNKNOWN)


def shape_of(inputs: Inputs | None, name: str) -> Shape:
    """Return the shape of an argument of the call, as far as known."""
    value = argument(inputs, name)
    return value.shape if isinstance(value, Array) else ANY_SHAPE


def last_axis(inputs: Inputs | None, name: str) -> Dim | None:
    """Return the size of the last axis of an argument of the call."""
    return shape_of(inputs, name).axis(-1)


def with_last(shape: Shape, *dims: Dim | None) -> Shape:
    """Return a shape with other sizes in the place of its last one."""
    known = shape.expanded(1)
    if not known.dims:
        return ANY_SHAPE
    return Shape((*known.dims[:-1], *dims), known.lead)


def is_single_precision(given: Settings, name: str) -> bool:
    """Whether a dtype is not given, None or float32 for certain."""
    return name not in given or _SINGLE.fullmatch(given[name].code.strip()) is not None


def unless_none(given: Given, code: str) -> str:
    """Return code that is for an argument, or None where the argument is None."""
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
        nnx: Its name in NNX.
        positional: Whether NNX takes it by position.
        stream: The stream that NNX takes in the place of a key; empty where it takes the argument.
    """

    linen: str
    nnx: str
    positional: bool = True
    stream: str = ""

    def code(self, given: Given) -> str:
        """Return an argument for it in NNX."""
        if not self.stream or literal_of(given.value) is None:
            return given.code
        return unless_none(given, f"nnx.Rngs({self.stream}={given.code})")


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
    """Return parameters that have one name in both APIs."""
    return (
        *(CallParameter(name, name) for name in names),
        *(CallParameter(name, name, positional=False) for name in keyword),
    )


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A Linen class and how it is written in NNX.

    Attributes:
        linen: Its public name, ``flax.linen.Dense``.
        nnx: The public name of the NNX class, ``nnx.Linear``.
        settings: The fields of the Linen class, in the order of its constructor: ``features!`` for
            one that is required and that NNX takes by position after the widths, ``shape*`` for one
            that is only required.
        calls: The parameters of its methods, in the order of Linen; the arguments of a method
            that is not among them stay as they are.
        movable: Settings that NNX takes at the call too.
        lacking: Settings that NNX does not have.
        replaced: Settings that other arguments stand for.
        explicit: Arguments of NNX to write because its default differs.
        takes_rngs: Whether the NNX class takes ``rngs``.
        definition: The definition of the NNX class, where migrated files have it.
        axes: The setting for the axes of the features, which must be literal; empty where they are
            the last axis.
        same_shape: The argument whose shape the output has; empty where `output` says more.
        fixed: The variables that it always has: the path in Linen and in NNX.
        without: Why NNX has no such layer; empty where it has.
    """

    linen: str
    nnx: str
    settings: str = ""
    calls: Mapping[str, tuple[CallParameter, ...]] = field(default_factory=dict)
    movable: frozenset[str] = frozenset()
    lacking: Mapping[str, Lacking] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    explicit: Mapping[str, str] = field(default_factory=dict)
    takes_rngs: bool = True
    definition: Helper | None = None
    axes: str = ""
    same_shape: str = ""
    fixed: tuple[tuple[str, str], ...] = ()
    without: str = ""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of its settings."""
        return tuple(name.rstrip("!*") for name in self.settings.split())

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The settings without a default."""
        return tuple(name[:-1] for name in self.settings.split() if name[-1] in "!*")

    @cached_property
    def leading(self) -> tuple[str, ...]:
        """The settings that NNX takes by position, after the widths."""
        return tuple(name[:-1] for name in self.settings.split() if name.endswith("!"))

    @property
    def name(self) -> str:
        """Its name as users write it, ``nn.Dense``."""
        return f"nn.{self.linen.rpartition('.')[2]}"

    def build(self, given: Settings, inputs: Inputs | None) -> Building:
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
        passed = self._passed(given)
        added, needed = self.added(given, inputs)
        own = () if self.definition is None else (self.definition,)
        return Built(
            self.nnx,
            (*widths, *passed, *added),
            self.takes_rngs,
            helpers=tuple(dict.fromkeys((*needed, *own))),
        )

    def call(
        self, given: Settings, arguments: Settings, method: str = "__call__"
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
            if parameter is None:
                return Refused(
                    f"`{self.name}.{method}` is called with `{name}`, which NNX does not have.",
                    "Write by hand what it is for.",
                )
            in_place = parameter == next(expected, None) and not argument.keyword
            keyword = "" if in_place and parameter.positional else parameter.nnx
            written.append(Argument(keyword, parameter.code(argument)))
        return tuple(written)

    def refused(self, given: Settings, inputs: Inputs | None) -> Refused | None:
        """Return why NNX has no such layer with these settings; None where it has."""
        del inputs
        if not self.axes or integers(literal(given, self.axes, -1)) is not None:
            return None
        return Refused(
            f"`{self.name}({self.axes}={given[self.axes].code})` does not say which axes of the "
            "inputs give the number of features.",
            f"Write `{self.axes}` with literal axes.",
        )

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the sizes that NNX wants and Linen reads off the inputs."""
        del given, inputs
        return ()

    def added(self, given: Settings, inputs: Inputs | None) -> Added:
        """Return arguments that follow from the settings, and the helpers in them."""
        del given, inputs
        return (), ()

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return what a method returns."""
        return Array(shape_of(inputs, self.same_shape)) if self.same_shape else UNKNOWN

    def variables(self, given: Settings) -> tuple[LayerVariable, ...]:
        """Return where its variables are; all that it may have where that is not literal."""
        return tuple(LayerVariable(*paths) for paths in self.fixed)

    def _unsupported(self, given: Settings) -> Refused | None:
        if self.without:
            return Refused(
                f"`{self.name}` is not migrated: {self.without}",
                "Keep the layer with `nnx.bridge.ToNNX`, or write it by hand.",
            )
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

    def _passed(self, given: Settings) -> tuple[Argument, ...]:
        arguments = [Argument("", given[name].code) for name in self.leading if name in given]
        skipped = {*self.leading, *self.lacking, *self.replaced, *_OF_THE_MODULE}
        for name in given:
            if name in skipped:
                continue
            code = given[name].code
            if name == "promote_dtype":
                code = f"lambda arrays, **options: ({code})(*arrays, **options)"
            arguments.append(Argument(name, code))
        arguments.extend(
            Argument(name, code) for name, code in self.explicit.items() if name not in given
        )
        return tuple(arguments)


@dataclass(frozen=True, kw_only=True)
class KernelLayer(Layer):
    """A layer with a kernel for the last axis of its inputs, and a bias."""

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the size of the last axis."""
        width = last_axis(inputs, "inputs")
        return MissingWidth("in_features") if width is None else (Argument("", width),)

    def variables(self, given: Settings) -> tuple[LayerVariable, ...]:
        """Return kernel and bias."""
        kernel = LayerVariable("params/kernel", "kernel")
        if literal(given, "use_bias", True) is False:
            return (kernel,)
        return (kernel, LayerVariable("params/bias", "bias"))
