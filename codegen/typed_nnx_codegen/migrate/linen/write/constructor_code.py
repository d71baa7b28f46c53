"""Expressions of methods as they are written in the new constructor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_fields, code_of, descendants, is_node
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOT_KNOWN
from typed_nnx_codegen.migrate.analysis.values import External
from typed_nnx_codegen.migrate.linen.domain.class_plan import Need
from typed_nnx_codegen.migrate.linen.domain.classes import public_linen
from typed_nnx_codegen.migrate.linen.domain.code import closed, enclosed, operand, parsed
from typed_nnx_codegen.migrate.linen.domain.dims import Binders, Dim, bound_by, loops_of
from typed_nnx_codegen.migrate.linen.domain.frames import Declare, Evaluate, Frame, FunctionRef
from typed_nnx_codegen.migrate.linen.domain.names import bound_in, is_plain, targets_of
from typed_nnx_codegen.migrate.linen.domain.references import (
    ArrayMethod,
    BoundMethod,
    Choice,
    ClassRef,
    EnumMember,
    FieldModule,
    ModuleValue,
    Partial,
    PlainClass,
    Ref,
    Repeated,
    SelfValue,
    VariableValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Code,
    CodeList,
    CodeTuple,
    Const,
    Lead,
    OfRank,
    OfShapes,
    Passed,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Slice,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.conditions import asked_for_none
from typed_nnx_codegen.migrate.linen.layers import Layer, find_layer
from typed_nnx_codegen.migrate.linen.layers.layer import literal_of
from typed_nnx_codegen.migrate.linen.project.fields import FieldFacts
from typed_nnx_codegen.migrate.linen.project.rewriting import is_same_name


def is_setup_local(node: cst.Name, frame: Frame) -> bool:
    """Whether a name is a local of `setup`, which is one of the constructor as well."""
    return frame.verbatim and frame.records and node.value in frame.names


def is_own_item(node: cst.Subscript, value: Value | None, frame: Frame) -> bool:
    """Whether a subscript is a submodule in a list that `setup` has built before: `self.blocks[k]`."""
    match node.value:
        case cst.Attribute(value=cst.Name(value="self" as name)):
            owner = frame.lookup(name)
            is_own = owner is not None and owner is frame.recorder.instance and frame.records
            return is_own and isinstance(value, ModuleValue) and value.site.is_verbatim
    return False


def read_of_parameter(node: cst.CSTNode, frame: Frame) -> str:
    """Return the code of a parameter that `setup` made before, for the first value of another one.

    Empty for any other expression.
    """
    recorder = frame.recorder
    match node:
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=attribute)):
            is_own = frame.verbatim and frame.lookup(owner) is recorder.instance
            if is_own and recorder.params.get(attribute, False):
                return f"self.{attribute}[...]"
    return ""


def has_made(attribute: str, frame: Frame) -> bool:
    """Whether the constructor has made a variable of the object before."""
    made = (one for one in frame.recorder.log.of(Declare) if not one.later)
    return attribute.isidentifier() and any(one.attribute == attribute for one in made)


_INITIALIZERS: Final = frozenset(
    {
        "flax.linen.with_partitioning",
        "flax.linen.with_logical_partitioning",
    }
)


def is_partitioning(public: str) -> bool:
    """Whether a function of Linen gives an initializer names of axes."""
    return public in _INITIALIZERS


def is_partitioning_in(node: cst.Call, analysis: Analysis) -> bool:
    """Whether a call in a file is one of such a function."""
    callee = analysis.values.get(node.func, NOT_KNOWN)
    return isinstance(callee, External) and is_partitioning(public_linen(callee.name))


def placed_later(node: cst.Call) -> cst.Call:
    """Return the call of `nnx.with_partitioning` that only names the axes, as Linen does.

    NNX would place the parameter where it is made, which needs a mesh.
    """
    if any(arg.keyword is not None and arg.keyword.value == "eager_sharding" for arg in node.args):
        return node
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    before = [
        arg.with_changes(comma=comma) if position == len(node.args) - 1 else arg
        for position, arg in enumerate(node.args)
    ]
    later = cst.Arg(cst.Name("False"), keyword=cst.Name("eager_sharding"), equal=equal)
    return node.with_changes(args=[*before, later])


# What NNX calls the number of features that a layer makes, where Linen has `features`.
_FEATURES: Final = {
    "nnx.Linear": "out_features",
    "nnx.LinearGeneral": "out_features",
    "nnx.Conv": "out_features",
    "nnx.ConvTranspose": "out_features",
    "nnx.LSTMCell": "hidden_features",
    "nnx.OptimizedLSTMCell": "hidden_features",
    "nnx.GRUCell": "hidden_features",
    "LinenGRUCell": "hidden_features",
    "LinenMGUCell": "hidden_features",
    "LinenConvLSTMCell": "hidden_features",
    "nnx.SimpleCell": "hidden_features",
}


def partial_arguments(value: Partial, facts: FieldFacts) -> list[str] | None:
    """Return the arguments of a partial; None where the constructor cannot say them."""
    layer = _layer_of(value.function)
    if layer is not None:
        return _of_layer(layer, value)
    if any(one.code is None for one in value.args):
        return None
    found = [str(one.code) for one in value.args]
    for name, one in value.keywords.items():
        if one.code is not None:
            found.append(f"{name}={one.code}")
        elif not facts.is_movable(value.function, name):
            return None
    return found


def _layer_of(function: Value) -> Layer | None:
    while isinstance(function, Partial):
        function = function.function
    return find_layer(function.name) if isinstance(function, Ref) else None


def _of_layer(layer: Layer, value: Partial) -> list[str] | None:
    found: list[str] = []
    for name, one in _by_name(layer, value):
        if one.code is None and name in layer.movable:
            continue
        if name in layer.lacking and literal_of(one.value) == layer.lacking[name].default:
            continue
        is_same = name in layer.parameters and not (
            name in layer.lacking or name in layer.replaced or name == "promote_dtype"
        )
        if one.code is None or not is_same:
            return None
        keyword = _FEATURES.get(layer.nnx, name) if name == "features" else name
        found.append(f"{keyword}={one.code}")
    return found


def _by_name(layer: Layer, value: Partial) -> Iterator[tuple[str, Passed]]:
    yield from zip(layer.parameters, value.args, strict=False)
    yield from value.keywords.items()


_COMPUTES: Final = ("jax.numpy.", "jax.nn.", "jax.lax.", "jax.random.", "numpy.", "math.")


class _NotThere(Exception):
    """An expression that depends on what a method is called with."""


class ConstructorCode:
    """Writes expressions for the constructor."""

    def __init__(
        self,
        analyses: Iterable[Analysis],
        facts: FieldFacts,
        evaluate: Evaluate,
        refer: Callable[[str], str],
    ) -> None:
        self._analyses = analyses
        self._facts = facts
        self._evaluate = evaluate
        self._refer = refer
        self._has_shapes = False
        # What calls of functions ask that ask for None.
        self.asked: dict[cst.Call, cst.BaseExpression] = {}
        # The loops of the constructor that bind names of what was written.
        self._read: set[str | int] = set()

    @property
    def makes_first_values(self) -> bool:
        """Whether the expressions are those of first values, which are computed only once."""
        return self._has_shapes

    @contextmanager
    def with_shapes(self) -> Iterator[None]:
        """Let expressions have whole shapes of arguments in them, which the constructor is told.

        The dtype of an argument is what it mostly is: float32.
        """
        before, self._has_shapes = self._has_shapes, True
        try:
            yield
        finally:
            self._has_shapes = before

    def of_value(self, value: Value, frame: Frame) -> str | None:
        """Return code for a value, a template; None where the constructor cannot say it."""
        writer = self._writers.get(type(value))
        code = writer(self, value, frame) if writer is not None else None
        self._read.update(() if code is None else loops_of(_binders_of(value)))
        return code

    def is_visible(self, binders: Binders, frame: Frame, code: str) -> bool:
        """Whether names can be read in the constructor where it is written now.

        Args:
            binders: What binds them.
            frame: The frame.
            code: What is read, where it is one name or attributes of it.
        """
        recorder = frame.recorder
        name = code.partition(".")[0]
        left = [one for one in binders if not isinstance(one, int)]
        if not recorder.are_bound(code, binders, recorder.loops_in_step):
            return False
        if not left:
            return True  # a loop of the constructor binds it, the name of a field too
        if name in {one.name for one in recorder.plan.cls.fields()}:
            return False  # in the constructor it is the parameter
        if left == [recorder.plan.cls.home]:
            return True
        there = next((one for one in self._analyses if [str(one.path)] == left), None)
        if there is None or not name.isidentifier():
            return False
        return is_same_name(name, there, recorder.plan.cls.analysis)

    def sizes_are_visible(self, dim: Dim, frame: Frame) -> bool:
        """Whether all that a size is made of can be said in the constructor."""
        return all(self.is_visible(one.binders, frame, one.code) for one in dim.pieces())

    def of(self, node: cst.BaseExpression, frame: Frame) -> str | None:
        """Return code for an expression that has been gone through; None as for a value."""
        try:
            return closed(code_of(self._converted(node, frame, frozenset())).strip())
        except _NotThere:
            return None

    def expression(self, node: cst.BaseExpression, frame: Frame) -> Code | None:
        """Return an expression that has been gone through as a value; None as for code."""
        around, self._read = self._read, set()
        try:
            code = self.of(node, frame)
            binders = bound_by(tuple(self._read))
        finally:
            self._read |= around
        return None if code is None else Code(operand(code), binders)

    def or_code(self, value: Value, node: cst.BaseExpression, frame: Frame) -> Value:
        """Return code for the expression where nothing is known of its value."""
        if not isinstance(value, Unknown):
            return value
        return self.expression(node, frame) or self._with_shapes_in(value, node, frame)

    def _with_shapes_in(self, value: Value, node: cst.BaseExpression, frame: Frame) -> Value:
        """Return code that may read shapes of arguments where they decide all of an expression."""
        if not frame.records or any(one.is_of_call for one in frame.recorder.conditions):
            return value
        with self.with_shapes():
            found = self.expression(node, frame)
        if found is None:
            return value
        known = value if isinstance(value, OfShapes) else OfShapes()
        return replace(known, code=found.code, binders=found.binders)

    def of_function(self, node: cst.FunctionDef, frame: Frame) -> str | None:
        """Return the code of a function that a method defines; None as for a value."""
        bound = frozenset(bound_in(node))
        try:
            comments = [one for one in node.leading_lines if one.comment is not None]
            after = self._rebuilt(node.with_changes(leading_lines=comments), frame, bound)
        except _NotThere:
            return None
        return code_of(after)

    def of_shape(self, shape: Shape, frame: Frame) -> str | None:
        """Return code for a shape, a template; None where some of it is not known."""
        lead = shape.lead
        if lead is not None and not lead.argument:
            return None
        front = [self._of_dim(dim, frame) for dim in (lead.front if lead is not None else ())]
        last = [self._of_dim(dim, frame) for dim in shape.dims]
        if lead is not None and not front and not last:
            return frame.recorder.slots.name(lead.sizes)
        middle = [] if lead is None else [f"*{frame.recorder.slots.name(lead.sizes)}"]
        parts = [code for code in (*front, *middle, *last) if code is not None]
        if len(parts) != len(front) + len(middle) + len(last):
            return None
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"

    def _of_dim(self, dim: Dim | None, frame: Frame) -> str | None:
        return None if dim is None else self._size(Size(dim), frame)

    # -- values -------------------------------------------------------------------------------

    def _size(self, value: Size, frame: Frame) -> str | None:
        if not self.sizes_are_visible(value.dim, frame):
            return None
        return frame.recorder.slots.name(value.dim)

    def _shape_of(self, value: ShapeOf, frame: Frame) -> str | None:
        return self.of_shape(value.shape, frame) if self._has_shapes else None

    def _of_sizes(self, value: Array | OfShapes, frame: Frame) -> str | None:
        if isinstance(value, OfRank) and not value.code and self._has_shapes:
            whole = self.of_shape(Shape((), Lead(value.argument, None)), frame)
            return f"(len({whole}) + {value.plus})" if value.plus else f"len({whole})"
        reads_shapes = isinstance(value, OfShapes) or value.of_shapes
        code = value.code if isinstance(value, OfShapes) else value.made
        return code if code and (self._has_shapes or not reads_shapes) else None

    def _code(self, value: Code, frame: Frame) -> str | None:
        return value.code if self.is_visible(value.binders, frame, value.code) else None

    def _sequence(self, value: Seq, frame: Frame) -> str | None:
        codes = [self.of_value(item, frame) for item in value.items]
        known = [code for code in codes if code is not None]
        if len(known) != len(codes):
            return None
        inner = ", ".join(known)
        if value.is_list:
            return f"[{inner}]"
        return f"({inner},)" if len(known) == 1 else f"({inner})"

    def _ref(self, value: Ref, frame: Frame) -> str | None:
        alias = value.alias
        if alias is not None and not value.code and self._code(alias, frame) is not None:
            return alias.code
        return value.code or self._name_of(value.name, frame)

    def _name_of(self, public: str, frame: Frame) -> str:
        """Return the expression for a public name; for some layers, of a class of the file."""
        layer = find_layer(public)
        if layer is None or layer.definition is None:
            return self._refer(public)
        frame.recorder.log.append(Need(layer.definition))
        return layer.nnx

    def _partial(self, value: Partial, frame: Frame) -> str | None:
        if value.code:
            return value.code
        function = self._class_of_partial(value.function, frame)
        arguments = partial_arguments(value, self._facts)
        if function is None or arguments is None:
            return None
        if not arguments:
            return function
        return f"{self._refer('functools.partial')}({', '.join([function, *arguments])})"

    def _class_of_partial(self, value: Value, frame: Frame) -> str | None:
        """Return the class in a partial: a layer of Linen is one of NNX."""
        if isinstance(value, Ref) and not value.code:
            layer = find_layer(value.name)
            if layer is not None and layer.nnx:
                is_here = layer.definition is None
                return self._refer(layer.nnx) if is_here else self._ref(value, frame)
        return self.of_value(value, frame)

    def _named(self, value: ClassRef | PlainClass | Table, frame: Frame) -> str | None:
        is_there = bool(value.code) and self.is_visible(value.binders, frame, value.code)
        return value.code if is_there else None

    def _function(self, value: FunctionRef, frame: Frame) -> str | None:
        if value.code:
            return value.code if self.is_visible(value.binders, frame, value.code) else None
        if isinstance(value.node, cst.Lambda):
            return self.of(value.node, value.frame)
        return None

    def _constant(self, value: Const, frame: Frame) -> str | None:
        if value.code and self.is_visible(value.binders, frame, value.code):
            fields = {one.name for one in frame.recorder.plan.cls.fields()}
            nodes = descendants(parsed(value.code))
            # A field hides a name of the file in the constructor; after `self.` it does not.
            if not any(isinstance(one, cst.Name) and one.value in fields for one in nodes):
                return value.code
        return "..." if value.value is Ellipsis else repr(value.value)

    def _module(self, value: ModuleValue, frame: Frame) -> str | None:
        is_here = set(value.site.loops) <= set(frame.recorder.loops)
        if not is_here or value.site.is_made_in_call:
            return None
        local = frame.recorder.built_locals.get(value.site)
        return local or frame.recorder.slots.name(value.site)

    def _field_module(self, value: FieldModule, frame: Frame) -> str | None:
        del frame
        return f"self.{value.name}"

    def _choice(self, value: Choice, frame: Frame) -> str | None:
        del frame
        return value.code or None

    _writers: Final[dict[type[Value], Callable[..., str | None]]] = {
        Size: _size,
        Code: _code,
        EnumMember: _code,
        CodeTuple: _code,
        CodeList: _code,
        Seq: _sequence,
        ShapeOf: _shape_of,
        OfShapes: _of_sizes,
        OfRank: _of_sizes,
        Array: _of_sizes,
        Ref: _ref,
        Partial: _partial,
        ClassRef: _named,
        PlainClass: _named,
        Table: _named,
        FunctionRef: _function,
        Const: _constant,
        ModuleValue: _module,
        FieldModule: _field_module,
        Choice: _choice,
    }

    # -- expressions --------------------------------------------------------------------------

    def _converted(self, node: cst.CSTNode, frame: Frame, bound: frozenset[str]) -> cst.CSTNode:
        if type(node) not in _READ:
            return self._rebuilt(node, frame, bound)
        if isinstance(node, cst.Name):
            return node if node.value in bound else self._name(node, frame)
        if isinstance(node, cst.Call) and node in self.asked:
            return self._converted(self.asked[node], frame, bound)
        if isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
            return self._composed(node, frame, bound)
        if isinstance(node, cst.Lambda):
            bound |= {one.name.value for one in (*node.params.params, *node.params.kwonly_params)}
            return self._rebuilt(node, frame, bound)
        if isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.SetComp)):
            bound |= targets_of(node.for_in)
            return self._rebuilt(node, frame, bound)
        if isinstance(node, cst.Comparison):
            given = asked_for_none(node, frame)
            return self._rebuilt(node, frame, bound) if given is None else given
        raise _NotThere

    def _name(self, node: cst.Name, frame: Frame) -> cst.CSTNode:
        value = frame.seen(node)
        if value is None:
            return node  # a name of the file, or of Python
        if value is frame.recorder.instance and frame.records:
            return node.with_changes(value="self")
        text = self.of_value(value, frame)
        if (
            text is None
            and is_setup_local(node, frame)
            and self._is_there(node.value, value, frame)
        ):
            return node
        if text is None:
            raise _NotThere
        return parsed(text)

    def _is_there(self, name: str, value: Value, frame: Frame) -> bool:
        """Whether a local of `setup` is one of the constructor, and no computation on variables."""
        is_there = self._has_shapes or name not in frame.recorder.stale
        return _is_made(value) or (isinstance(value, Array) and is_there)

    def _is_of_call(self, node: cst.CSTNode, frame: Frame) -> bool:
        """Whether a node is a field that calls say."""
        match node:
            case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=field)):
                owner = frame.lookup(name)
                is_self = isinstance(owner, SelfValue) and owner is frame.recorder.instance
                return is_self and self._facts.is_of_call(frame.recorder.plan.cls, field)
        return False

    def _composed(
        self,
        node: cst.Attribute | cst.Subscript | cst.Call,
        frame: Frame,
        bound: frozenset[str],
    ) -> cst.CSTNode:
        if self._is_of_call(node, frame):
            raise _NotThere
        read = self._read_first(node, frame) if self._has_shapes else ""
        if read:
            return parsed(read)
        value = frame.seen(node)
        if value is None and is_plain(node, bound):
            # Within a lambda: it has not been gone through.
            frame.values[node] = UNKNOWN  # asked for again while it is gone through
            value = self._evaluate(node, frame)
        text = self._known(node, value, frame)
        if text is not None:
            return parsed(text)
        if isinstance(value, Array) and self._is_computed(node, frame):
            return self._rebuilt(node, frame, bound)
        if isinstance(node, cst.Subscript) and is_own_item(node, value, frame):
            slices = [self._converted(one, frame, bound) for one in node.slice]
            return node.with_changes(slice=slices)
        if isinstance(value, (Array, ShapeOf, Slice, ModuleValue, Repeated)):
            raise _NotThere
        if isinstance(node, cst.Attribute):
            return node.with_changes(value=self._converted(node.value, frame, bound))
        if isinstance(node, cst.Subscript):
            return self._rebuilt(node, frame, bound)
        callee = frame.seen(node.func)
        if _is_of_linen(callee) or (callee is None and _names_linen(node.func, frame)):
            raise _NotThere
        after = self._rebuilt(node, frame, bound)
        assert isinstance(after, cst.Call)
        is_named = isinstance(callee, Ref) and is_partitioning(callee.name)
        return placed_later(after) if is_named else after

    def _read_first(self, node: cst.BaseExpression, frame: Frame) -> str:
        """Return what a first value reads of the object: a variable, or a key of a stream."""
        match node:
            case cst.Call(
                func=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value="make_rng")),
                args=[cst.Arg(value=cst.SimpleString(evaluated_value=str(stream)))],
            ) if frame.lookup(owner) is frame.recorder.instance and stream.isidentifier():
                return f"{frame.recorder.rngs}.{stream}()"
            case cst.Attribute(value=inner, attr=cst.Name(value="value")):
                variable = self._evaluate(inner, frame)
                if isinstance(variable, VariableValue) and has_made(variable.attribute, frame):
                    return f"self.{variable.attribute}[...]"
        return read_of_parameter(node, frame)

    def _known(self, node: cst.BaseExpression, value: Value | None, frame: Frame) -> str | None:
        """Return code for what an expression stands for; None where only its parts have some."""
        if isinstance(value, ShapeOf) or (isinstance(value, OfShapes) and value.code):
            return self.of_value(value, frame)
        if isinstance(value, Array) and value.made:
            return self.of_value(value, frame)
        match node:
            case cst.Attribute(value=inner, attr=cst.Name(value="ndim")) if self._has_shapes:
                array = frame.seen(inner)
                text = self.of_shape(array.shape, frame) if isinstance(array, Array) else None
                if text is not None:
                    return f"len({text})"
            case cst.Attribute(attr=cst.Name(value="dtype")) if isinstance(value, Unknown):
                return self._refer("jax.numpy.float32") if self._has_shapes else None
        if value is None or isinstance(value, (Unknown, Array, Slice)):
            return None
        return self.of_value(value, frame)

    def _is_computed(self, node: cst.BaseExpression, frame: Frame) -> bool:
        """Whether an array is a part of another one, or what jax, numpy or a method makes of others."""
        if isinstance(node, (cst.Attribute, cst.Subscript)):
            return isinstance(frame.seen(node.value), Array)
        if not isinstance(node, cst.Call):
            return False
        callee = frame.seen(node.func)
        is_function = isinstance(callee, Ref) and callee.name.startswith(_COMPUTES)
        return is_function or isinstance(callee, ArrayMethod)

    def _rebuilt(self, node: cst.CSTNode, frame: Frame, bound: frozenset[str]) -> cst.CSTNode:
        changes: dict[str, object] = {}
        for name in code_fields(type(node)):
            value: object = getattr(node, name)
            if name in ("keyword", "operator") or value is None:
                continue
            if isinstance(value, (tuple, list)):
                items = [self._converted(one, frame, bound) for one in value]
                if any(new is not old for new, old in zip(items, value, strict=True)):
                    changes[name] = items
            elif is_node(value) and not isinstance(value, cst.MaybeSentinel):
                item = self._converted(value, frame, bound)
                if item is not value:
                    changes[name] = item
        try:
            after = node.with_changes(**changes) if changes else node
        except cst.CSTValidationError:
            # Parentheses are what parts `not(x)` and `a if(b)else c`.
            return node.with_changes(**{name: enclosed(one) for name, one in changes.items()})
        return _in_one(after) if isinstance(after, cst.FormattedString) else after

    def of_argument(self, node: cst.BaseExpression, value: Value, frame: Frame) -> str | None:
        """Return code for an expression that has been gone through, or for its value; None as above."""
        code = self.of_value(value, frame)
        if code is None and not (isinstance(value, Array) and isinstance(node, cst.Name)):
            code = self.of(node, frame)
        return code


# Of other nodes just the parts are converted.
_READ: Final = frozenset(
    {
        *(cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.Lambda, cst.Comparison),
        *(cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.SetComp),
        *(cst.Await, cst.Yield, cst.NamedExpr),
    }
)


def _in_one(text: cst.FormattedString) -> cst.FormattedString:
    """Return an f-string with the parts of those within it: before Python 3.12 quotes do not nest."""
    parts: list[cst.BaseFormattedStringContent] = []
    for part in text.parts:
        match part:
            case cst.FormattedStringExpression(
                expression=cst.FormattedString(quote=text.quote, prefix="f", parts=inner),
                conversion=None,
                format_spec=None,
            ):
                parts += inner
            case _:
                parts.append(part)
    return text.with_changes(parts=parts)


def _binders_of(value: Value) -> Binders:
    """Return what binds the names in the code of a value, without those of its items."""
    match value:
        case Size(dim=dim):
            return bound_by(*(one.binders for one in dim.pieces()))
        case Code() | OfShapes() | Const() | ClassRef() | PlainClass() | FunctionRef():
            return value.binders
    return ()


def _names_linen(func: cst.BaseExpression, frame: Frame) -> bool:
    """Whether a call in a lambda, which is not gone through, is one of Linen's Module: `self.make_rng`."""
    match func:
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)):
            instance = frame.lookup(owner)
            if isinstance(instance, SelfValue):
                fields = {one.name for one in instance.cls.fields()}
                own = {*instance.attributes, *instance.cls.methods(), *fields}
                return name not in own and instance.cls.constant(name) is None
    return False


def _is_of_linen(callee: Value | None) -> bool:
    """Whether a call is one of those that Linen's Module offers: it asks about the call."""
    return (
        isinstance(callee, BoundMethod)
        and callee.method is None
        and isinstance(callee.receiver, SelfValue)
    )


def _is_made(value: Value) -> bool:
    """Whether a value is a list that loops fill, or what another function returns."""
    is_function = isinstance(value, FunctionRef) and not value.frame.records
    return is_function or isinstance(value, Repeated | Unknown | Choice)
