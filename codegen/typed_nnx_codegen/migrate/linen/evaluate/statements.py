"""Evaluates the statements of methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, dotted, is_name
from typed_nnx_codegen.migrate.linen import shapes
from typed_nnx_codegen.migrate.linen.domain.class_plan import NAME, SIZE, BuildAtCall, Enter
from typed_nnx_codegen.migrate.linen.domain.classes import Method
from typed_nnx_codegen.migrate.linen.domain.code import is_place
from typed_nnx_codegen.migrate.linen.domain.dims import OF_CALL, Piece, as_dim, loops_of
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Evaluate,
    Frame,
    FunctionRef,
    Line,
)
from typed_nnx_codegen.migrate.linen.domain.names import bound_in
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    ClassRef,
    ModuleValue,
    Ref,
    Repeated,
    SelfValue,
    SizedList,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Code,
    Const,
    OfShapes,
    Remaining,
    Shape,
    ShapeOf,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.branches import Choices
from typed_nnx_codegen.migrate.linen.evaluate.conditions import is_submodule, take_told
from typed_nnx_codegen.migrate.linen.evaluate.declaring import defined
from typed_nnx_codegen.migrate.linen.evaluate.entries import is_derived
from typed_nnx_codegen.migrate.linen.evaluate.lifted_calls import LiftedMethods, part_of
from typed_nnx_codegen.migrate.linen.evaluate.lists import (
    added,
    forget_settings,
    note_deleted,
    note_item,
    unpacked,
)
from typed_nnx_codegen.migrate.linen.evaluate.loops import Loops
from typed_nnx_codegen.migrate.linen.evaluate.merging import Merging
from typed_nnx_codegen.migrate.linen.evaluate.sized_lists import SizedLists
from typed_nnx_codegen.migrate.linen.evaluate.variables import Variables
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.project.rewriting import means_another, names_read
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode


def with_function(
    writer: ConstructorCode, name: str, value: Value, source: cst.Call, frame: Frame
) -> Value:
    """Return what a name is bound to; what a call makes of settings is a local of the constructor.

    That is a function, or one of several functions or settings.

    Args:
        writer: Writes expressions for the constructor.
        name: The name.
        value: What it is bound to.
        source: The call that returns it.
        frame: Where it is made.
    """
    recorder = frame.recorder
    if not frame.binds_locals or not _is_returned(value):
        return value
    code = writer.of(source, frame)
    if code is None or any(one.is_of_call for one in recorder.conditions):
        return value
    local = recorder.fresh(name)
    recorder.write(f"{local} = {code}", local)
    assert isinstance(value, FunctionRef | Choice)
    return replace(value, code=local)


def _is_returned(value: Value) -> bool:
    """Whether a value is a function that is defined in another one, or one of several."""
    match value:
        case FunctionRef(frame=frame, code=code):
            return not code and not frame.records
        case Choice(options=options, code=code):
            return not code and all(map(_is_plain, options))
    return False


def _is_plain(value: Value) -> bool:
    """Whether a value is no class and no submodule: a function, a dtype, a setting."""
    match value:
        case Ref(name=name):
            return find_layer(name) is None
        case FunctionRef() | Code() | Const():
            return True
    return False


_numbers: Final = count()


def with_hidden_sizes(array: Array) -> Array:
    """Return an array whose shape is unpacked, with a name for each size that is not known.

    Each name is new, so that sizes of two iterations of a loop are never taken as equal.
    """
    shape = array.shape
    if shape.lead is not None or None not in shape.dims:
        return array
    dims = tuple(
        as_dim(Piece(f"hidden_{next(_numbers)}", (OF_CALL,))) if dim is None else dim
        for dim in shape.dims
    )
    return replace(array, shape=Shape(dims))


_OPERATORS: Final[dict[type[cst.CSTNode], str]] = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.MatrixMultiplyAssign: "@",
}
_Body = cst.BaseSuite


def is_setattr(node: cst.BaseExpression) -> bool:
    """Whether an expression is a call of `setattr`."""
    return isinstance(node, cst.Call) and is_name(node.func, "setattr")


@dataclass(frozen=True, eq=False)
class Statements:
    """Goes through statements."""

    code: ConstructorCode
    merging: Merging
    evaluate: Evaluate
    variables: Variables
    choices: Choices
    loops: Loops
    lifted_methods: LiftedMethods
    sized_lists: SizedLists

    def run(self, body: _Body, frame: Frame) -> bool:
        """Go through a body; return whether it ends there: with return, raise, break or continue."""
        return self.run_all(list(body.body), frame)

    def run_all(
        self, statements: list[cst.BaseStatement | cst.BaseSmallStatement], frame: Frame
    ) -> bool:
        """Go through statements; return whether they end with return or raise."""
        for position, statement in enumerate(statements):
            if frame.records:
                frame.recorder.begin_statement()
            if isinstance(statement, cst.If):
                rest = statements[position + 1 :]
                return self.choices.statement(statement, rest, frame)
            if self._one(statement, frame):
                return True
        return False

    def _one(self, node: cst.BaseStatement | cst.BaseSmallStatement, frame: Frame) -> bool:
        match node:
            case cst.SimpleStatementLine(body=body):
                done = False
                for small in body:
                    done = self._one(small, frame) or done
                if frame.verbatim:
                    self._keep(node, frame)
                return done
            case cst.Assign(targets=targets, value=value):
                self._expect(targets[0].target, value, frame)
                found = self.evaluate(value, frame)
                self.variables.note_write(node, found, frame)
                for target in targets:
                    self.assign(target.target, found, value, frame)
            case cst.AnnAssign(target=target, value=value):
                if value is not None:
                    self._expect(target, value, frame)
                    self.assign(target, self.evaluate(value, frame), value, frame)
            case cst.AugAssign():
                self._augmented(node, frame)
                self.variables.note_write(node, UNKNOWN, frame)
            case cst.Expr(value=value):
                self._expression(value, frame)
            case cst.Return(value=value):
                result = Const(None) if value is None else self.evaluate(value, frame)
                frame.results.append(result)
                frame.ended_by = "return"
                return True
            case cst.Raise():
                return True
            case cst.Assert(test=test):
                take_told(test, outcome=True, frame=frame)
            case cst.Break():
                return self._break(node, frame)
            case cst.Continue():
                frame.ended_by = "continue"
                return True
            case cst.Del(target=cst.Subscript() as target):
                note_deleted(target, frame)
            case cst.For():
                self.loops.statement(node, frame)
            case cst.While():
                self.loops.endless(node, frame)
            case cst.With():
                for item in node.items:
                    self.evaluate(item.item, frame)
                    if item.asname is not None:
                        self.assign(item.asname.name, UNKNOWN, item.item, frame)
                return self.run(node.body, frame)
            case cst.FunctionDef(name=name):
                if frame.records:
                    frame.recorder.note_definition(node)
                frame.names[name.value] = self.lifted_methods.decorated(node, frame)
            case cst.Try(body=body):
                return self.run(body, frame)
            case cst.Match():
                return self.choices.match(node, frame)
            case cst.ClassDef(name=name):
                frame.names[name.value] = UNKNOWN
        return False

    @staticmethod
    def _break(node: cst.Break, frame: Frame) -> bool:
        """Leave a loop: so does the constructor, where it runs the loop and knows when."""
        recorder = frame.recorder
        frame.ended_by = "break"
        if frame.records and node in recorder.breaks and not frame.verbatim:
            if recorder.conditions and recorder.conditions[-1].is_of_call:
                recorder.mark(node, "how often the loop runs depends on the call")
            recorder.block.append(Line("break"))
        return True

    def _keep(self, node: cst.SimpleStatementLine, frame: Frame) -> None:
        """Move a statement of `setup` to the constructor as it is."""
        is_left_out = all(
            isinstance(one, cst.Pass)
            or (isinstance(one, cst.Expr) and self._is_left_out(one.value, frame))
            for one in node.body
        )
        if not is_left_out and not is_derived(node, frame):
            calls = [one for one in descendants(node) if frame.recorder.log.about(BuildAtCall, one)]
            aside = {below for one in calls for below in descendants(one)}
            for one in descendants(node):
                if one in aside or not isinstance(one, cst.Name):
                    continue
                function = frame.lookup(one.value)
                if isinstance(function, FunctionRef):
                    defined(function, self.code, frame)
            frame.recorder.block.append(Line("", statement=node))
            note_setup(node, frame)
            self._check_names(node, frame)

    @staticmethod
    def _check_names(node: cst.SimpleStatementLine, frame: Frame) -> None:
        """Mark a statement of an inherited `setup` whose names mean something else in this file."""
        here = frame.recorder.plan.cls.analysis
        for name in sorted(names_read(node)) if frame.analysis is not here else ():
            if means_another(name, frame.analysis, here):
                message = f"`{name}` is something else in the file of the class that inherits this"
                frame.recorder.mark(node, message, NAME)

    def _is_left_out(self, node: cst.BaseExpression, frame: Frame) -> bool:
        """Whether an expression is a docstring, or the `setup` of a parent: that is here itself."""
        match node:
            case cst.SimpleString() | cst.ConcatenatedString():
                return True
            case cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="setup" | "__post_init__"))
            ):
                is_super = code_of(owner) == "super()"
                return is_super or isinstance(frame.seen(owner), ClassRef)
        return bool(frame.recorder.log.about(BuildAtCall, node))

    def _expect(self, target: cst.BaseExpression, value: cst.BaseExpression, frame: Frame) -> None:
        """Note to which attribute `setup` assigns what an expression makes."""
        if not frame.verbatim:
            return
        match target:
            case cst.Attribute(value=cst.Name(value=name), attr=attr) if isinstance(
                frame.lookup(name), SelfValue
            ):
                frame.recorder.setup_target = (value, attr.value)
            case _:
                frame.recorder.setup_target = None

    def _expression(self, node: cst.BaseExpression, frame: Frame) -> None:
        """Go through an expression that is a statement."""
        if frame.verbatim and is_setattr(node):
            frame.mark(node, "the name of this attribute is computed", NAME)
        if not (frame.verbatim and self._run_helper(node, frame)):
            self.evaluate(node, frame)

    def _run_helper(self, node: cst.BaseExpression, frame: Frame) -> bool:
        """Go through a method that `setup` calls to assign attributes: its statements come here.

        Returns:
            Whether the expression is such a call.
        """
        match node:
            case cst.Call(func=cst.Attribute(cst.Name(value=owner), cst.Name(value=name)), args=[]):
                instance = frame.lookup(owner)
            case _:
                return False
        if not isinstance(instance, SelfValue) or frame.method is None:
            return False
        method = instance.cls.method(name)
        if method is None:
            return False
        params = method.node.params.params
        is_plain = not method.decorators and [one.name.value for one in params] == [owner]
        locals_here = {*bound_in(frame.method.node)} - {owner}
        is_plain = is_plain and not locals_here.intersection(bound_in(method.node.body))
        within = [*descendants(method.node.body)]
        if not is_plain or any(isinstance(one, cst.Return | cst.FunctionDef) for one in within):
            return False
        targets = (
            one.target for one in within if isinstance(one, cst.AssignTarget | cst.AnnAssign)
        )
        if not any(isinstance(one, cst.Attribute) and is_name(one.value, owner) for one in targets):
            return False
        self._run_here(instance, method, frame)
        frame.log(Enter(method.node, frame.method.node, node))
        frame.log(BuildAtCall(node, method.node))
        return True

    def parent_setup(
        self, instance: SelfValue, method: Method, node: cst.Call, frame: Frame
    ) -> Value:
        """Go through the `setup` that another one calls: its statements come here."""
        frame.recorder.plan.setups.append(method.owner)
        self._run_here(instance, method, frame)
        del node
        return Const(None)

    def _run_here(self, instance: SelfValue, method: Method, frame: Frame) -> None:
        inner = Frame(
            frame.recorder,
            method.owner.analysis,
            instance,
            method,
            records=frame.records,
            verbatim=frame.verbatim,
            root="setup",
        )
        params = method.node.params.params
        if params:
            inner.names[params[0].name.value] = instance
        self.run(method.node.body, inner)

    # -- assignments --------------------------------------------------------------------------

    def assign(
        self,
        target: cst.BaseExpression,
        value: Value,
        source: cst.BaseExpression | None,
        frame: Frame,
    ) -> None:
        """Bind a target to a value."""
        match target:
            case cst.Name(value=name):
                frame.names[name] = self._named(target, value, source, frame)
                frame.values[target] = frame.names[name]
                if frame.verbatim and frame.records:
                    frame.recorder.locals.add(name)
                    self._note_submodule(name, value, source, frame)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                self._unpack(target, list(elements), value, source, frame)
            case cst.Attribute(value=cst.Name(value=name), attr=attr):
                owner = frame.lookup(name)
                if isinstance(owner, SelfValue):
                    self.variables.assign_attribute(owner, attr.value, value, target, frame)
            case cst.StarredElement(value=inner):
                self.assign(inner, value, source, frame)
            case cst.Subscript():
                if isinstance(target.value, cst.Name):
                    forget_settings(target.value.value, frame)
                key = self._key(target, frame)
                join = self.merging.joined
                note_item(target, value, frame, key, lambda a, b: join(a, b, frame))

    @staticmethod
    def _note_submodule(
        name: str, value: Value, source: cst.BaseExpression | None, frame: Frame
    ) -> None:
        """Note the local of `setup` that is a submodule: what reads it gets that one, not another."""
        if not isinstance(value, ModuleValue) or frame.method is None:
            return
        bound = list(bound_in(frame.method.node.body))
        if value.site.node is source and bound.count(name) == 1:
            frame.recorder.built_locals[value.site] = name

    def _key(self, target: cst.Subscript, frame: Frame) -> Value:
        """Return the key of an item that is assigned or deleted."""
        match target.slice:
            case [cst.SubscriptElement(slice=cst.Index(value=node))]:
                return self.evaluate(node, frame)
        return UNKNOWN

    def _named(
        self, target: cst.Name, value: Value, source: cst.BaseExpression | None, frame: Frame
    ) -> Value:
        """Return what a name is bound to: computed once in the constructor where that is long."""
        name = target.value
        if isinstance(value, OfShapes) and is_changed(name, frame):
            return UNKNOWN
        if isinstance(value, SizedList) and not value.is_local:
            return self.sized_lists.named(name, value, target, frame)
        if (
            isinstance(value, Code | OfShapes)
            and value.code
            and frame.binds_locals
            and not value.code.replace(".", "").replace("_", "").isalnum()
            and self.code.is_visible(value.binders, frame, value.code)
        ):
            local = frame.recorder.fresh(name)
            frame.recorder.write(f"{local} = {value.code}", local)
            return replace(value, code=local, binders=loops_of(value.binders))
        if isinstance(value, Array) and source is not None:
            return with_local(self.code, name, value, source, frame)
        if isinstance(source, cst.Call):
            return with_function(self.code, name, value, source, frame)
        return value

    def _unpack(
        self,
        target: cst.BaseExpression,
        elements: list[cst.BaseElement],
        value: Value,
        source: cst.BaseExpression | None,
        frame: Frame,
    ) -> None:
        starred = [k for k, one in enumerate(elements) if isinstance(one, cst.StarredElement)]
        values: list[Value] | None = None
        name = dotted(source) if source is not None else ""
        value = self._refine(source, len(elements), bool(starred), frame) or value
        match value:
            case Code() if starred and name and not frame.verbatim:
                values = [
                    self.evaluate(cst.parse_expression(f"{name}[{at}]"), frame)
                    for at in _places(len(elements), starred[0])
                ]
            case Array(origin=origin) if origin and not starred:
                values = [argument_part(value, k) for k in range(len(elements))]
            case Code(code=code, binders=binders) if not starred:
                items = f"[*{code}]" if isinstance(source, cst.GeneratorExp) else code
                values = [Code(f"{items}[{k}]", binders) for k in range(len(elements))]
            case Remaining():
                known = starred[0] if starred else len(elements)
                values = [*map(value.item, range(known)), *[UNKNOWN] * (len(elements) - known)]
            case Repeated() if not starred:
                values = unpacked(value, len(elements))
            case Repeated(element=element):
                if is_submodule(element):
                    frame.recorder.mark(target, _OF_SEVERAL, SIZE)
                values = [element] * len(elements)
            case Table(items=items) if len(items) == len(elements) and not starred:
                values = list(items.values())
            case _:
                values = shapes.unpack(value, len(elements), starred[0] if starred else None)
        parts: list[Value] = [UNKNOWN for _ in elements] if values is None else values
        if source is not None and not starred:
            parts = self._settings(parts, source, frame)
            parts = with_locals(self.code, elements, parts, source, frame)
        for one, part in zip(elements, parts, strict=True):
            self.assign(one.value, part, None, frame)
        del target

    def _settings(
        self, parts: list[Value], source: cst.BaseExpression, frame: Frame
    ) -> list[Value]:
        """Return the items of a tuple, with code for those that fields alone decide."""
        kinds = (Unknown, Const, Code)
        if not any(isinstance(one, Unknown) for one in parts) or not all(
            isinstance(one, kinds) for one in parts
        ):
            return parts
        code = self.code.expression(source, frame)
        if code is None:
            return parts
        return [
            Code(f"{code.code}[{k}]", code.binders) if isinstance(one, Unknown) else one
            for k, one in enumerate(parts)
        ]

    def _refine(
        self, source: cst.BaseExpression | None, count: int, starred: bool, frame: Frame
    ) -> ShapeOf | None:
        """Note the rank of an array whose shape is unpacked: `b, t, d = x.shape`.

        Returns:
            Its shape; None where something else is unpacked.
        """
        match source:
            case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="shape")):
                array = frame.names.get(name)
                if isinstance(array, Array) and not starred:
                    shape = array.shape.with_rank(count)
                    if shape is not None:
                        known = with_hidden_sizes(Array(shape, array.dtype, array.origin))
                        frame.names[name] = known
                        return ShapeOf(known.shape)
        return None

    def _augmented(self, node: cst.AugAssign, frame: Frame) -> None:
        left = self.evaluate(node.target, frame)
        right = self.evaluate(node.value, frame)
        operator = _OPERATORS.get(type(node.operator))
        value: Value = UNKNOWN
        if operator is not None:
            joined = self.sized_lists.added(left, right, frame)
            if joined is None:
                joined = added(left, right) if operator == "+" else None
            value = joined if joined is not None else shapes.binary(operator, left, right)
        if isinstance(value, Unknown) and operator is not None:
            one = self.code.expression(node.target, frame)
            other = self.code.expression(node.value, frame)
            if one is not None and other is not None:
                value = shapes.binary(operator, one, other)
        self.assign(node.target, value, node.value, frame)


def argument_part(array: Array, key: object) -> Value:
    """Return an item of an argument that may be a tuple, a dict or an array."""
    return part_of(array, f"{array.origin}[{key!r}]")


# Of how many functions what was found out is remembered.
_KEPT: Final = 4096


def without_local(value: Array) -> Array:
    """Return an array of which the constructor has no local."""
    return replace(value, made="", of_shapes=False) if value.made else value


def is_made_by(node: cst.BaseExpression, value: Array) -> bool:
    """Whether an expression just names the array: what is computed of it has other numbers."""
    match node:
        case cst.Name():
            return True
        case cst.Attribute(value=cst.Name(), attr=cst.Name(value=name)):
            return value.made == f"self.{name}"
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="param"))):
            return value.made.endswith("[...]")
    return False


def with_local(
    writer: ConstructorCode, name: str, value: Array, source: cst.BaseExpression, frame: Frame
) -> Array:
    """Return an array that a name is bound to, with a local where the constructor can compute it.

    Args:
        writer: Writes expressions for the constructor.
        name: The name.
        value: The array.
        source: The expression that makes it.
        frame: Where it is made.
    """
    if not _is_there(frame):
        return value
    if is_changed(name, frame):
        return without_local(value)
    if isinstance(source, (cst.Name, cst.Attribute)) or value.origin or is_made_by(source, value):
        return value
    code, of_shapes = _code(writer, source, frame)
    if code is None:
        return without_local(value)
    local = frame.recorder.fresh(name)
    frame.recorder.write(f"{local} = {code}", local)
    return replace(value, made=local, of_shapes=of_shapes)


def with_locals(
    writer: ConstructorCode,
    elements: list[cst.BaseElement],
    parts: list[Value],
    source: cst.BaseExpression,
    frame: Frame,
) -> list[Value]:
    """Return what names are bound to that unpack a tuple, with locals as in `with_local`.

    Args:
        writer: Writes expressions for the constructor.
        elements: The names.
        parts: The items of the tuple.
        source: The expression that makes it.
        frame: Where it is made.
    """
    names = [one.value.value for one in elements if isinstance(one.value, cst.Name)]
    arrays = [one for one in parts if isinstance(one, Array)]
    if not arrays or any(one.origin for one in arrays) or len(names) != len(parts):
        return parts
    if not _is_there(frame) or not isinstance(source, cst.Call):
        return parts
    code, of_shapes = _code(writer, source, frame)
    if code is None or any(is_changed(name, frame) for name in names):
        return parts
    locals_ = [frame.recorder.fresh(name) for name in names]
    joined = ", ".join(locals_)
    frame.recorder.write(f"{joined} = {code}", joined)
    return [
        replace(part, made=local, of_shapes=of_shapes) if isinstance(part, Array) else part
        for part, local in zip(parts, locals_, strict=True)
    ]


def _is_there(frame: Frame) -> bool:
    """Whether the constructor can have a line for a statement of a method."""
    is_of_call = any(one.is_of_call for one in frame.recorder.conditions)
    return frame.binds_locals and not is_of_call


def _code(
    writer: ConstructorCode, source: cst.BaseExpression, frame: Frame
) -> tuple[str | None, bool]:
    """Return the code that makes an array, and whether it reads whole shapes; None if there is none."""
    code = writer.of(source, frame)
    if code is not None:
        return code, False
    with writer.with_shapes():
        return writer.of(source, frame), True


def note_setup(node: cst.SimpleStatementLine, frame: Frame) -> None:
    """Note that the constructor can read the arrays that a statement of `setup` binds."""
    recorder = frame.recorder
    for small in node.body:
        targets = [one.target for one in small.targets] if isinstance(small, cst.Assign) else []
        for target in targets:
            match target:
                case cst.Name(value=name):
                    held = frame.names.get(name)
                    if name in recorder.stale or _is_rebound(name, frame):
                        continue
                    if isinstance(held, Array):
                        frame.names[name] = replace(held, made=name)
                    elif isinstance(held, Code) and not is_place(held.code):
                        binders = (*held.binders, *frame.innermost)
                        frame.names[name] = replace(held, code=name, binders=binders)
                case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)):
                    instance = frame.lookup(owner)
                    if not isinstance(instance, SelfValue) or name in recorder.params:
                        continue
                    held = instance.attributes.get(name)
                    if isinstance(held, Array):
                        instance.attributes[name] = replace(held, made=f"self.{name}")


_OF_SEVERAL: Final = "the sizes of the submodules of a list that is taken apart are not told apart"


def _places(count: int, starred: int) -> list[str]:
    """Return the places of what targets are given: `0`, `1:-1`, `-1` where the second has a star."""
    behind = count - starred - 1
    rest = f"{starred or ''}:{-behind or ''}"
    return [*map(str, range(starred)), rest, *map(str, range(-behind, 0))]


def _is_rebound(name: str, frame: Frame) -> bool:
    """Whether a local of `setup` may be bound again after it was bound: not on another side.

    In each iteration of a loop it is bound before it is read.
    """
    if frame.method is None:
        return True
    blocks = [one for one in descendants(frame.method.node) if isinstance(one, cst.IndentedBlock)]
    return any(sum(name in set(bound_in(one)) for one in block.body) > 1 for block in blocks)


def is_changed(name: str, frame: Frame) -> bool:
    """Whether a method changes what a name is bound to in place: ``table[0] = 1``, ``rows.sort()``."""
    return frame.method is not None and name in _changed_in(frame.method.node)


@lru_cache(maxsize=_KEPT)
def _changed_in(function: cst.FunctionDef) -> frozenset[str]:
    """Return the names of which a function may change what they are bound to."""
    found: set[str] = set()
    for node in descendants(function.body):
        match node:
            case cst.AssignTarget(target=cst.Subscript() as item):
                found |= set(_base(item))
            case cst.AugAssign(target=target):
                found |= set(_base(target))
            case cst.Expr(value=cst.Call(func=func, args=args)):
                found |= set(_base(func))
                found |= {name for arg in args for name in _base(arg.value)}
    return frozenset(found)


def _base(node: cst.BaseExpression) -> Iterator[str]:
    """Yield the name that an item, an attribute or a name is of."""
    while isinstance(node, (cst.Subscript, cst.Attribute)):
        node = node.value
    if isinstance(node, cst.Name):
        yield node.value
