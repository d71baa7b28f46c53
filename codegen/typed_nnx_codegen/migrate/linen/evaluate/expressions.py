"""Evaluates expressions and comprehensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.members import is_enum
from typed_nnx_codegen.migrate.analysis.syntax import code_of, literal
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOT_KNOWN
from typed_nnx_codegen.migrate.analysis.values import (
    Collection,
    Constant,
    External,
    ProjectClass,
    ProjectFunction,
)
from typed_nnx_codegen.migrate.analysis.values import Value as AnalysisValue
from typed_nnx_codegen.migrate.linen import shapes
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClasses, public_linen
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, bound_by
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Assign,
    Block,
    Compound,
    Evaluate,
    Frame,
    FunctionRef,
)
from typed_nnx_codegen.migrate.linen.domain.references import (
    ArrayMethod,
    BoundMethod,
    Choice,
    ClassRef,
    EnumMember,
    FieldModule,
    ModuleValue,
    PlainClass,
    Ref,
    Repeated,
    SelfValue,
    SizedList,
    VariableValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    UNKNOWN,
    Array,
    Code,
    CodeList,
    Const,
    Holds,
    Lead,
    OfShapes,
    Position,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Slice,
    Table,
    Unknown,
    Value,
    is_text,
    made_by,
)
from typed_nnx_codegen.migrate.linen.evaluate.branches import Choices
from typed_nnx_codegen.migrate.linen.evaluate.calls import Calls
from typed_nnx_codegen.migrate.linen.evaluate.conditions import decided, truth_of
from typed_nnx_codegen.migrate.linen.evaluate.entries import VariableReads, is_scope
from typed_nnx_codegen.migrate.linen.evaluate.functions import (
    MappedFunctions,
    is_number_or_text,
    spelled,
)
from typed_nnx_codegen.migrate.linen.evaluate.lists import (
    added,
    element_of,
    head_of,
    is_dropping_none,
    is_regular,
    item_of,
    number_of_items,
    numbered_field,
    starred_tuple,
    with_ends,
    with_starred,
    without_none,
)
from typed_nnx_codegen.migrate.linen.evaluate.loops import Loops
from typed_nnx_codegen.migrate.linen.evaluate.merging import (
    Merging,
    header_of,
    is_known_function,
    is_of_callables,
    mark_classes,
    note_residual,
    unrolled,
)
from typed_nnx_codegen.migrate.linen.evaluate.sized_lists import (
    SizedLists,
    any_item,
    is_followed,
    last_size,
    with_last,
)
from typed_nnx_codegen.migrate.linen.evaluate.submodules import Members, Submodules
from typed_nnx_codegen.migrate.linen.evaluate.variables import Variables
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

ARRAY_MEMBERS: Final = frozenset(
    {
        *("T", "mT", "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "at"),
        *("choose", "clip", "compress", "conj", "conjugate", "copy", "cumprod", "cumsum", "device"),
        *("devices", "diagonal", "dot", "dtype", "flat", "flatten", "imag", "item", "itemsize"),
        *("max", "mean", "min", "nbytes", "ndim", "nonzero", "prod", "ptp", "ravel", "real"),
        *("repeat", "reshape", "round", "searchsorted", "shape", "sharding", "size", "sort"),
        *("squeeze", "std", "sum", "swapaxes", "take", "to_device", "tobytes", "tolist", "trace"),
        *("transpose", "var", "view", "value", "addressable_shards", "block_until_ready"),
    }
)


@dataclass(frozen=True, eq=False)
class Comprehensions:
    """Goes through comprehensions."""

    code: ConstructorCode
    evaluate: Evaluate
    assign: Assign
    loops: Loops

    def comprehension(
        self, node: cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.SetComp, frame: Frame
    ) -> Value:
        """Return what a comprehension stands for."""
        part = node.for_in
        values = self.evaluate(part.iter, frame)
        header = header_of(part.iter, self.code, frame)
        kept = dict(frame.names)
        items = unrolled(values, header)
        if items is None and not frame.records and isinstance(values, Seq):
            items = list(values.items)  # a submodule: nothing is written about it
        if is_dropping_none(node) and (isinstance(values, Seq) or head_of(values)):
            return without_none(values)
        if items is None or part.inner_for_in or part.ifs or isinstance(node, cst.SetComp):
            value = self._general(node, header, values, frame)
        else:
            value = self._one_by_one(node, items, frame)
        frame.names = kept
        return value

    def _one_by_one(
        self,
        node: cst.ListComp | cst.GeneratorExp | cst.DictComp,
        items: Iterable[Value],
        frame: Frame,
    ) -> Value:
        """Return what a comprehension makes of items that are known."""
        keys: list[Value] = []
        found: list[Value] = []
        for item in items:
            self.assign(node.for_in.target, item, None, frame)
            if isinstance(node, cst.DictComp):
                keys.append(self.evaluate(node.key, frame))
            made = node.value if isinstance(node, cst.DictComp) else node.elt
            found.append(self.evaluate(made, frame))
        if not isinstance(node, cst.DictComp):
            return Seq(tuple(found), is_list=True)
        known = [key.value for key in keys if isinstance(key, Const)]
        return Table(dict(zip(known, found, strict=True))) if len(known) == len(found) else UNKNOWN

    def _general(
        self,
        node: cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.SetComp,
        header: str | None,
        values: Value,
        frame: Frame,
    ) -> Value:
        recorder = frame.recorder
        number = self.loops.number_of(node, frame)
        outer = recorder.block
        body: Block = []
        recorder.block = body
        header, levels = self._entered(node, header, values, number, frame)
        recorder.loops.append(number)
        if isinstance(node, cst.DictComp):
            self.evaluate(node.key, frame)
            element = self.evaluate(node.value, frame)
        else:
            element = self.evaluate(node.elt, frame)
        is_each = isinstance(element, Array) and levels == 1 and not node.for_in.ifs
        followed = header is not None and is_each and is_followed(frame)
        size = last_size(self.code, element, frame) if followed else None
        recorder.loops.pop()
        recorder.block = outer
        if body:
            if header is None or levels > 1 or node.for_in.ifs:
                recorder.mark(node, "submodules are built in a comprehension that is not simple")
            line = f"for {code_of(node.for_in.target)} in {header or '()'}:"
            outer.append(Compound(line, body, number=number))
        if not isinstance(element, (ModuleValue, Array, Choice)) and made_by(element) is None:
            whole = node
            if isinstance(node, cst.GeneratorExp) and not node.lpar:
                whole = node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            found = self.code.or_code(UNKNOWN, whole, frame)
            count = self._count(node, frame)
            if isinstance(found, Code) and count is not None:
                return CodeList(found.code, found.binders, count=count)
            if not isinstance(found, Unknown) or isinstance(found, OfShapes):
                return found
        sizes = "" if size is None else self._sizes(node, header, size, element, frame)
        count = number_of_items(header, recorder) if is_each else None
        if sizes:
            return SizedList(with_last(element, None), number, count=count, sizes=sizes)
        return Repeated(element, number, count=count)

    def _entered(
        self,
        node: cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.SetComp,
        header: str | None,
        values: Value,
        number: int,
        frame: Frame,
    ) -> tuple[str | None, int]:
        """Bind what the loops of a comprehension do.

        Returns:
            What the innermost one goes over in the constructor, if that can say it, and how many
            there are.
        """
        recorder = frame.recorder
        part: cst.CompFor | None = node.for_in
        levels = 0
        while part is not None:
            if header is not None and levels == 0:
                self.loops.note_end(part.target, part.iter, header, number, frame)
            if header is not None and not frame.records and levels == 0:
                self.loops.bind_inner(part.target, number, frame)
            elif header is not None:
                self.loops.bind(part.target, number, frame)
            if header is not None:
                recorder.headers[number] = (code_of(part.target), header)
                if part.ifs or levels:
                    recorder.filtered.add(number)
            else:
                element = any_item(element_of(values)[0], values)
                self.assign(part.target, element, None, frame)
            for condition in part.ifs:
                self.evaluate(condition.test, frame)
            part = part.inner_for_in
            levels += 1
            if part is not None:
                values = self.evaluate(part.iter, frame)
                header = None if header is None else self.code.of(part.iter, frame)
        return header, levels

    def _sizes(
        self,
        node: cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.SetComp,
        header: str | None,
        size: str,
        element: Value,
        frame: Frame,
    ) -> str:
        """Return the expression for the last sizes of a list of arrays; empty if all have one."""
        if last_size(self.code, element, frame) is not None:
            return ""
        target = code_of(node.for_in.target)
        return header or "" if size == target else f"[{size} for {target} in {header}]"

    def _count(
        self, node: cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.SetComp, frame: Frame
    ) -> Dim | None:
        """Return how many items a list over a range has; None where that is not known."""
        match node:
            case cst.ListComp(
                for_in=cst.CompFor(
                    iter=cst.Call(func=cst.Name(value="range"), args=args),
                    ifs=[],
                    inner_for_in=None,
                )
            ) if frame.lookup("range") is None and not any(arg.star for arg in args):
                ends = [dim_of(frame.seen(arg.value) or UNKNOWN) for arg in args]
                known = [one for one in ends if one is not None]
                if len(known) == len(ends) and len(known) in (1, 2):
                    return known[-1] - (known[0] if len(known) == 2 else 0)
        return None


OPERATORS: Final[dict[type[cst.CSTNode], str]] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.Minus: "-",
    cst.Plus: "+",
    cst.Not: "not",
    cst.BitInvert: "~",
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}


# What nothing but an array has: something unknown with it is an array.
_OF_ARRAYS: Final = frozenset({"shape", "reshape"})


_NEW_AXES: Final = frozenset({"jax.numpy.newaxis", "numpy.newaxis"})


@dataclass(frozen=True, eq=False)
class Expressions:
    """Goes through expressions.

    Attributes:
        code: Writes expressions for the constructor.
        merging: Joins values.
        classes: The Linen modules of the project.
        submodules: Constructs submodules.
        members: Finds attributes of modules.
        variables: Declares variables.
        variable_reads: Finds reads of variables through modules.
        calls: Goes through calls.
        choices: Goes through branches.
        comprehensions: Goes through comprehensions.
        mapped_functions: Goes through functions that JAX maps.
        sized_lists: Goes through lists of arrays whose sizes are known.
        value_of: Goes through a part of an expression, and remembers what it stands for.
        assign: Binds a target to a value.
        constant_of_file: Gives the literal that a file binds to a name.
        partial_elsewhere: Gives the partial that another file binds to a name.
        analysis_with: Gives the analysis of the file that defines a function.
    """

    code: ConstructorCode
    merging: Merging
    classes: LinenClasses
    submodules: Submodules
    members: Members
    variables: Variables
    variable_reads: VariableReads
    calls: Calls
    choices: Choices
    comprehensions: Comprehensions
    mapped_functions: MappedFunctions
    sized_lists: SizedLists
    value_of: Evaluate
    assign: Assign
    constant_of_file: Callable[[str, Frame], Value | None]
    partial_elsewhere: Callable[[cst.BaseExpression, str, Frame], Value | None]
    analysis_with: Callable[[cst.CSTNode], Analysis | None]

    def evaluate(self, node: cst.BaseExpression, frame: Frame) -> Value:
        """Return what an expression stands for."""
        reader = self._readers.get(type(node))
        return reader(self, node, frame) if reader is not None else UNKNOWN

    # -- names --------------------------------------------------------------------------------

    def _name(self, node: cst.Name, frame: Frame) -> Value:
        found = frame.lookup(node.value)
        return found if found is not None else self.of_file(node, frame)

    def of_file(self, node: cst.BaseExpression, frame: Frame) -> Value:
        """Return what a name of the file, or of a module that it imports, stands for."""
        value = frame.analysis.values.get(node, NOT_KNOWN)
        code = code_of(node)
        if isinstance(value, External):
            name = public_linen(value.name)
            is_alias = code.rpartition(".")[2] != name.rpartition(".")[2] and name[:5] != "flax."
            alias = Code(code, frame.binders) if is_alias else None
            return NONE if value.name in _NEW_AXES else Ref(name, alias=alias)
        match value:
            case ProjectClass():
                cls = self.classes.of(value)
                if cls is not None:
                    layer = self.submodules.subclass(cls, code)
                    return ClassRef(cls, code, frame.binders) if layer is None else layer
                return PlainClass(value, code, frame.binders)
            case ProjectFunction(node=function):
                analysis = self.analysis_with(function)
                if analysis is None:
                    return Code(code, frame.binders)  # its file is not read
                inner = Frame(frame.recorder, analysis, records=False)
                return FunctionRef(function, inner, code, frame.binders)
            case Constant() if isinstance(node, cst.Name) and _is_around(node.value, frame):
                return Code(code, frame.binders)  # a caller of the function around may give another
            case Constant(value=bool()) if code not in ("True", "False"):
                return Code(code, frame.binders)
            case Constant(value=literal) if _is_imported(node, frame):
                # Programs set such settings to other values.
                kind = _HOLDS.get(type(literal), "")
                return Const(literal) if literal is None else Code(code, frame.binders, kind)
            case Constant(value=literal):
                is_shown = is_number_or_text(literal)
                return Const(literal, code, frame.binders) if is_shown else Const(literal)
            case Collection(kind="dict", items=tuple() as items, keys=tuple() as keys):
                values = [self._of_table(one, frame) for one in items]
                table = Table(dict(zip(keys, values, strict=True)), None, code, frame.binders)
                if is_of_callables(table):
                    return table
        elsewhere = self.partial_elsewhere(node, code, frame)
        if elsewhere is not None:
            return elsewhere
        if isinstance(node, cst.Name):
            known = self.constant_of_file(node.value, frame)
            if known is None:
                known = self.mapped_functions.decorated(node.value, frame)
            if known is not None:
                return known
            return Code(code, frame.binders)
        return UNKNOWN

    def _of_table(self, value: AnalysisValue, frame: Frame) -> Value:
        """Return what an item of a table of a file stands for; UNKNOWN for what is no callable."""
        match value:
            case External(name=name):
                return Ref(public_linen(name))
            case ProjectClass():
                cls = self.classes.of(value)
                return UNKNOWN if cls is None else ClassRef(cls, "", (cls.home,))
            case ProjectFunction(node=function):
                analysis = self.analysis_with(function)
                if analysis is not None:
                    return FunctionRef(function, Frame(frame.recorder, analysis, records=False))
            case Constant(value=None):
                return NONE
        return UNKNOWN

    def _attribute(self, node: cst.Attribute, frame: Frame) -> Value:
        name = node.attr.value
        outer: cst.BaseExpression = node
        while isinstance(outer, cst.Attribute):
            outer = outer.value
        if isinstance(outer, cst.Name) and frame.lookup(outer.value) is None:
            known = self.of_file(node, frame)
            if not isinstance(known, Unknown):
                return known
        base = self.value_of(node.value, frame)
        return self.code.or_code(self.member(base, name, node, frame), node, frame)

    def member(self, base: Value, name: str, node: cst.Attribute, frame: Frame) -> Value:
        """Return an attribute of a value."""
        match base:
            case SelfValue():
                return self.members.of_self(base, name, node, frame)
            case Array(origin=origin) if origin and name not in ARRAY_MEMBERS:
                path = f"{origin}.{name}"
                return Array(Shape((), Lead(path, None)), origin=path)
            case Array():
                return shapes.attribute(base, name) or ArrayMethod(base, name)
            case ModuleValue() | FieldModule():
                return self.members.of_module(base, name, frame, node)
            case PlainClass(cls=cls, code=code, binders=binders) if is_enum(cls):
                return EnumMember(f"{code}.{name}", binders, cls=cls, name=name)
            case Code(code=code, binders=binders):
                return Code(f"{code}.{name}", binders)
            case ArrayMethod(array=array, name="at"):
                return ArrayMethod(array, f"at.{name}")
            case Table(items=items):
                return items.get(name, BoundMethod(base, name))
            case VariableValue():
                if name == "value":
                    return self.variables.read(base, node, frame)
                return BoundMethod(base, name)
            case Ref(name="jax.numpy" | "numpy") if name == "newaxis":
                return NONE
            case Ref(name=public):
                return Ref(f"{public}.{name}") if not base.code else UNKNOWN
            case Seq() | Repeated() | Const():
                return BoundMethod(base, name)
            case Unknown() if name in _OF_ARRAYS:
                return self.member(Array(ANY_SHAPE), name, node, frame)
        return UNKNOWN

    # -- literals -----------------------------------------------------------------------------

    def _literal(self, node: cst.BaseExpression, frame: Frame) -> Value:
        del frame
        value = literal(code_of(node))
        return Const(value) if not isinstance(value, bytes) else UNKNOWN

    def _ellipsis(self, node: cst.BaseExpression, frame: Frame) -> Value:
        del node, frame
        return Const(...)

    def _formatted(self, node: cst.BaseExpression, frame: Frame) -> Value:
        for part in getattr(node, "parts", ()):
            if isinstance(part, cst.FormattedStringExpression):
                self.value_of(part.expression, frame)
        code = self.code.expression(node, frame)
        return UNKNOWN if code is None else replace(code, holds="text")

    def _items(self, node: cst.Tuple | cst.List, frame: Frame) -> Value:
        values = [self.value_of(element.value, frame) for element in node.elements]
        items: list[Value] = []
        for element, value in zip(node.elements, values, strict=True):
            if not isinstance(element, cst.StarredElement):
                items.append(value)
            elif isinstance(value, ShapeOf) and value.shape.lead is None:
                items += [UNKNOWN if one is None else Size(one) for one in value.shape.dims]
            elif isinstance(value, Seq):
                items += value.items
            else:
                found = starred_tuple(node, values)
                if found is not None:
                    return found
                return with_starred(self.code.or_code(UNKNOWN, node, frame), node, values)
        return Seq(tuple(items), isinstance(node, cst.List))

    def _dict(self, node: cst.Dict, frame: Frame) -> Value:
        items: dict[object, Value] = {}
        is_known = True
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                key = self.value_of(element.key, frame)
                value = self.value_of(element.value, frame)
                if isinstance(key, Const):
                    items[key.value] = value
                else:
                    is_known = False
            else:
                other = self.value_of(element.value, frame)
                is_known = is_known and isinstance(other, Table)
                if isinstance(other, Table):
                    items.update(other.items)
        return Table(items) if is_known else self.code.or_code(UNKNOWN, node, frame)

    # -- operations ---------------------------------------------------------------------------

    def _binary(self, node: cst.BinaryOperation, frame: Frame) -> Value:
        left = self.value_of(node.left, frame)
        right = self.value_of(node.right, frame)
        operator = OPERATORS[type(node.operator)]
        note_residual(operator, left, right, frame)
        if operator == "+":
            total = self.sized_lists.total(left, right, frame)
            joined = added(left, right) if total is None else total
            if joined is not None:
                return joined
        found = shapes.binary(operator, left, right)
        if any(isinstance(one, Const) and one.code for one in (left, right)):
            found = spelled(self.code, found, node, frame)
        value = self.code.or_code(found, node, frame)
        if isinstance(value, Code) and (is_text(left) or (operator == "+" and is_text(right))):
            return replace(value, holds="text")
        return with_ends(value, left, right) if operator == "+" else value

    def _unary(self, node: cst.UnaryOperation, frame: Frame) -> Value:
        value = self.value_of(node.expression, frame)
        operator = OPERATORS[type(node.operator)]
        found = shapes.unary(operator, value)
        if isinstance(value, Const) and value.code:
            found = spelled(self.code, found, node, frame)
        return self.code.or_code(found, node, frame)

    def _comparison(self, node: cst.Comparison, frame: Frame) -> Value:
        left = self.value_of(node.left, frame)
        rights = [self.value_of(one.comparator, frame) for one in node.comparisons]
        if len(rights) == 1:
            operator = OPERATORS.get(type(node.comparisons[0].operator), "")
            outcome = decided(operator, left, rights[0])
            if outcome is None and rights[0] == NONE and is_scope(node.left, frame):
                outcome = operator in ("is not", "!=")  # methods run where a module has one
            if outcome is not None:
                return Const(outcome)
            value = shapes.binary(operator, left, rights[0]) if operator[:1] in "<>=!" else UNKNOWN
            return self.code.or_code(value, node, frame)
        return self.code.or_code(UNKNOWN, node, frame)

    def _boolean(self, node: cst.BooleanOperation, frame: Frame) -> Value:
        left = self.value_of(node.left, frame)
        truth = truth_of(left)
        is_and = isinstance(node.operator, cst.And)
        if truth is not None:
            return self.value_of(node.right, frame) if truth == is_and else left
        right = self.value_of(node.right, frame)
        if left == right:
            return left
        known = self.code.or_code(UNKNOWN, node, frame)
        if not is_and and is_known_function(right) and isinstance(left, Code | Choice):
            joined = self.merging.joined(left, right, frame)
            code = known.code if isinstance(known, Code) else ""
            return replace(joined, code=code) if isinstance(joined, Choice) else known
        if isinstance(known, Unknown) and isinstance(left, Array) and isinstance(right, Array):
            return self.merging.joined(left, right, frame)
        return known

    def _choice(self, node: cst.IfExp, frame: Frame) -> Value:
        test = self.value_of(node.test, frame)
        truth = truth_of(test)
        if truth is not None:
            return self.value_of(node.body if truth else node.orelse, frame)
        return self.choices.expression(node, test, frame)

    def _subscript(self, node: cst.Subscript, frame: Frame) -> Value:
        read = self.variable_reads.read(node, frame)
        if read is not None:
            return read
        base = self.value_of(node.value, frame)
        indices = [self._index(one.slice, frame) for one in node.slice]
        index = indices[0] if len(indices) == 1 else Seq(tuple(indices))
        if isinstance(base, SizedList):
            item = self.sized_lists.item(base, node, frame)
            if item is not None:
                return item
        match base:
            case Repeated():
                if isinstance(index, Position) and base.loop is not None and is_regular(base):
                    frame.recorder.join_step(index.loop, base.loop)
                return item_of(base, index)
            case ArrayMethod(name="at"):
                return base
            case Table(cls=cls) if cls is not None and isinstance(index, Slice):
                return Repeated(UNKNOWN)
            case Table(cls=cls) if cls is not None and isinstance(index, Const):
                return numbered_field(base, index.value)
            case Table(items=items) if isinstance(index, Const):
                return items.get(index.value, UNKNOWN)
            case Table(items=items):
                values = list(items.values())
                same = values and all(one == values[0] for one in values)
                if not same:
                    choice = self.merging.one_of_callables(values, node, frame)
                    if choice is not None:
                        return choice
                if not same and any(map(_is_module_class, values)):
                    mark_classes(node, frame)
                return self.code.or_code(values[0] if same else UNKNOWN, node, frame)
            case Code(binders=binders):
                found = self.code.expression(node, frame)
                if found is None:
                    return UNKNOWN
                return replace(found, binders=bound_by(binders, found.binders))
        if isinstance(base, Array) and isinstance(index, Array) and base.shape.rank != 1:
            # Rows at positions: the last size stays.
            return Array(Shape(base.shape.expanded(1).dims[-1:], Lead("", None)), base.dtype)
        return self.code.or_code(shapes.subscript(base, index), node, frame)

    def _index(self, node: cst.BaseSlice, frame: Frame) -> Value:
        if isinstance(node, cst.Index):
            return self.value_of(node.value, frame)
        assert isinstance(node, cst.Slice)
        parts = [
            NONE if part is None else self.value_of(part, frame)
            for part in (node.lower, node.upper, node.step)
        ]
        return Slice(*parts)

    # -- the rest -----------------------------------------------------------------------------

    def _lambda(self, node: cst.Lambda, frame: Frame) -> Value:
        return FunctionRef(node, frame)

    def _call(self, node: cst.Call, frame: Frame) -> Value:
        value = self.calls.call(node, frame)
        match value:
            case Repeated(element=Unknown(), also=()) if frame.records:
                known = self.code.or_code(UNKNOWN, node, frame)
                is_known = not isinstance(known, Unknown) or isinstance(known, OfShapes)
                return known if is_known else value
        known = self.code.or_code(value, node, frame)
        if not isinstance(known, Code):
            return known
        is_text = frame.seen(node.func) == Ref("builtins.str")
        return replace(known, made=made_by(value), holds="text" if is_text else known.holds)

    def _comprehension(
        self, node: cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.SetComp, frame: Frame
    ) -> Value:
        return self.comprehensions.comprehension(node, frame)

    def _named(self, node: cst.NamedExpr, frame: Frame) -> Value:
        value = self.value_of(node.value, frame)
        self.assign(node.target, value, node.value, frame)
        return value

    _readers: ClassVar[dict[type[cst.CSTNode], Callable[..., Value]]] = {
        cst.Name: _name,
        cst.Attribute: _attribute,
        cst.Integer: _literal,
        cst.Float: _literal,
        cst.SimpleString: _literal,
        cst.ConcatenatedString: _formatted,
        cst.FormattedString: _formatted,
        cst.Ellipsis: _ellipsis,
        cst.Tuple: _items,
        cst.List: _items,
        cst.Dict: _dict,
        cst.BinaryOperation: _binary,
        cst.UnaryOperation: _unary,
        cst.Comparison: _comparison,
        cst.BooleanOperation: _boolean,
        cst.IfExp: _choice,
        cst.Subscript: _subscript,
        cst.Lambda: _lambda,
        cst.Call: _call,
        cst.ListComp: _comprehension,
        cst.GeneratorExp: _comprehension,
        cst.DictComp: _comprehension,
        cst.SetComp: _comprehension,
        cst.NamedExpr: _named,
    }


_HOLDS: Final[dict[type, Holds]] = {int: "number", str: "text"}


def _is_imported(node: cst.BaseExpression, frame: Frame) -> bool:
    """Whether a name, or an attribute, is one of another file."""
    return code_of(node).partition(".")[0] in frame.analysis.scope.imports


def _is_around(name: str, frame: Frame) -> bool:
    """Whether a function around a class binds a name, or has it as a parameter."""
    scope = None if frame.method is None else frame.analysis.scopes.get(frame.method.node)
    while scope is not None and (scope.kind == "class" or name not in scope.seen):
        scope = scope.parent
    return scope is not None and scope.kind != "module"


def _is_module_class(value: Value) -> bool:
    """Whether a value is a class of modules."""
    return isinstance(value, ClassRef) or (
        isinstance(value, Ref) and find_layer(value.name) is not None
    )
