"""Expressions of methods as they are written in the new constructor.

There, fields are `self.name` as before, sizes of arrays are what the constructor is told, and what
depends on the values of a call cannot be said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_fields, code_of, is_node
from typed_nnx_codegen.migrate.linen.dims import Dim, Piece
from typed_nnx_codegen.migrate.linen.frames import Frame
from typed_nnx_codegen.migrate.linen.plan import Bound
from typed_nnx_codegen.migrate.linen.references import (
    ClassRef,
    FieldModule,
    FunctionRef,
    ModuleValue,
    Partial,
    PlainClass,
    Ref,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.values import (
    UNKNOWN,
    Array,
    Code,
    Const,
    Sequence,
    ShapeOf,
    Size,
    Slice,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.executor import Executor

_ATOM: Final = re.compile(r"[\w.]+(\[-?\w+\])*")


class _NotThere(Exception):
    """An expression that depends on what a method is called with."""


class ConstructorCode:
    """Writes expressions for the constructor.

    Args:
        executor: What goes through the methods.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def of_value(self, value: Value, frame: Frame) -> str | None:
        """Return code for a value, a template; None where the constructor cannot say it."""
        writer = self._writers.get(type(value))
        return writer(self, value, frame) if writer is not None else None

    def is_visible(self, home: str, frame: Frame) -> bool:
        """Whether names of a home can be read in the constructor where it is written now."""
        recorder = frame.recorder
        return (
            home in ("", recorder.plan.cls.home)
            or home in (f"loop{number}" for number in recorder.loops)
        )

    def sizes_are_visible(self, dim: Dim, frame: Frame) -> bool:
        """Whether all that a size is made of can be said in the constructor."""
        return all(
            not isinstance(atom, Piece) or self.is_visible(atom.home, frame) for atom in dim.atoms()
        )

    def of(self, node: cst.BaseExpression, frame: Frame) -> str | None:
        """Return code for an expression that has been gone through; None as for a value."""
        try:
            return code_of(self._converted(node, frame, frozenset())).strip()
        except _NotThere:
            return None

    # -- values -------------------------------------------------------------------------------

    def _size(self, value: Size, frame: Frame) -> str | None:
        if not self.sizes_are_visible(value.dim, frame):
            return None
        return frame.recorder.templates.token(value.dim)

    def _code(self, value: Code, frame: Frame) -> str | None:
        return value.code if self.is_visible(value.home, frame) else None

    def _sequence(self, value: Sequence, frame: Frame) -> str | None:
        codes = [self.of_value(item, frame) for item in value.items]
        known = [code for code in codes if code is not None]
        if len(known) != len(codes):
            return None
        inner = ", ".join(known)
        if value.is_list:
            return f"[{inner}]"
        return f"({inner},)" if len(known) == 1 else f"({inner})"

    def _ref(self, value: Ref, frame: Frame) -> str | None:
        return value.code or self._executor.refer(value.name)

    def _partial(self, value: Partial, frame: Frame) -> str | None:
        if value.code:
            return value.code
        function = self.of_value(value.function, frame)
        codes = [*(bound.code for bound in value.args)]
        codes += [
            None if bound.code is None else f"{name}={bound.code}"
            for name, bound in value.keywords.items()
        ]
        known = [code for code in codes if code is not None]
        if function is None or len(known) != len(codes):
            return None
        return f"{self._executor.refer('functools.partial')}({', '.join([function, *known])})"

    def _class(self, value: ClassRef | PlainClass, frame: Frame) -> str | None:
        return value.code if self.is_visible(value.home, frame) else None

    def _function(self, value: FunctionRef, frame: Frame) -> str | None:
        if value.code:
            return value.code if self.is_visible(value.home, frame) else None
        if isinstance(value.node, cst.Lambda):
            return self.of(value.node, value.frame)
        return None

    def _constant(self, value: Const, frame: Frame) -> str | None:
        del frame
        return "..." if value.value is Ellipsis else repr(value.value)

    def _module(self, value: ModuleValue, frame: Frame) -> str | None:
        return frame.recorder.templates.site_token(value.site)

    def _field_module(self, value: FieldModule, frame: Frame) -> str | None:
        del frame
        return f"self.{value.name}"

    def _repeated(self, value: Repeated, frame: Frame) -> str | None:
        del frame
        return value.code or None

    _writers: Final[dict[type[Value], Callable[..., str | None]]] = {
        Size: _size,
        Code: _code,
        Sequence: _sequence,
        Ref: _ref,
        Partial: _partial,
        ClassRef: _class,
        PlainClass: _class,
        FunctionRef: _function,
        Const: _constant,
        ModuleValue: _module,
        FieldModule: _field_module,
        Repeated: _repeated,
    }

    # -- expressions --------------------------------------------------------------------------

    def _converted(self, node: cst.CSTNode, frame: Frame, bound: frozenset[str]) -> cst.CSTNode:
        if isinstance(node, cst.Name):
            return node if node.value in bound else self._name(node, frame)
        if isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
            return self._composed(node, frame, bound)
        if isinstance(node, cst.Lambda):
            bound |= {one.name.value for one in (*node.params.params, *node.params.kwonly_params)}
            return self._rebuilt(node, frame, bound)
        if isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.SetComp)):
            bound |= _targets(node.for_in)
            return self._rebuilt(node, frame, bound)
        if isinstance(node, cst.Comparison):
            given = self._given(node, frame)
            if given is not None:
                return given
        if isinstance(node, (cst.Await, cst.Yield, cst.NamedExpr)):
            raise _NotThere
        return self._rebuilt(node, frame, bound)

    def _given(self, node: cst.Comparison, frame: Frame) -> cst.BaseExpression | None:
        """Return `x is None` for an argument that may be None: its size tells the constructor."""
        match node:
            case cst.Comparison(
                left=cst.Name() as left,
                comparisons=[
                    cst.ComparisonTarget(
                        operator=(cst.Is() | cst.IsNot()) as operator,
                        comparator=cst.Name(value="None"),
                    )
                ],
            ):
                value = self._executor.seen(left, frame)
                if isinstance(value, Array) and value.is_optional and frame.records:
                    token = frame.recorder.templates.given_token(value.origin)
                    word = "is not" if isinstance(operator, cst.IsNot) else "is"
                    return cst.parse_expression(f"{token} {word} None")
        return None

    def _name(self, node: cst.Name, frame: Frame) -> cst.CSTNode:
        value = self._executor.seen(node, frame)
        if value is None:
            return node  # a name of the file, or of Python
        if value is frame.recorder.instance and frame.records:
            return node.with_changes(value="self")
        text = self.of_value(value, frame)
        if text is None:
            raise _NotThere
        return _parsed(text)

    def _composed(
        self,
        node: cst.Attribute | cst.Subscript | cst.Call,
        frame: Frame,
        bound: frozenset[str],
    ) -> cst.CSTNode:
        value = self._executor.seen(node, frame)
        if value is None and is_plain(node, bound):
            # Within a lambda: it has not been gone through.
            frame.values[node] = UNKNOWN  # asked for again while it is gone through
            value = self._executor.evaluate(node, frame)
        if value is not None and not isinstance(value, (Unknown, Array, ShapeOf, Slice)):
            text = self.of_value(value, frame)
            if text is not None:
                return _parsed(text)
        if isinstance(value, (Array, ShapeOf, Slice, ModuleValue, Repeated)):
            raise _NotThere
        if isinstance(node, cst.Attribute):
            below = self._converted(node.value, frame, bound)
            return node.with_changes(value=below)
        return self._rebuilt(node, frame, bound)

    def _rebuilt(self, node: cst.CSTNode, frame: Frame, bound: frozenset[str]) -> cst.CSTNode:
        changes: dict[str, object] = {}
        for name in code_fields(type(node)):
            value: object = getattr(node, name)
            if name in ("keyword", "operator") or value is None:
                continue
            if isinstance(value, (tuple, list)):
                changes[name] = [self._converted(one, frame, bound) for one in value]
            elif is_node(value) and not isinstance(value, cst.MaybeSentinel):
                changes[name] = self._converted(value, frame, bound)
        return node.with_changes(**changes) if changes else node

    def bound(self, node: cst.BaseExpression, value: Value, frame: Frame) -> Bound:
        """Return an argument with its code."""
        code = self.of_value(value, frame)
        if code is None:
            code = self.of(node, frame)
        return Bound(value, code, node)


def is_plain(node: cst.CSTNode, bound: frozenset[str]) -> bool:
    """Whether an expression is a chain of attributes of a name that is not bound in it."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name) and node.value not in bound


def _targets(comprehension: cst.CompFor) -> frozenset[str]:
    names = {
        one.value
        for one in _names(comprehension.target)
    }
    inner = comprehension.inner_for_in
    return frozenset(names) | (_targets(inner) if inner is not None else frozenset())


def _names(node: cst.BaseExpression) -> list[cst.Name]:
    if isinstance(node, cst.Name):
        return [node]
    if isinstance(node, (cst.Tuple, cst.List)):
        return [name for element in node.elements for name in _names(element.value)]
    return []


def _parsed(text: str) -> cst.BaseExpression:
    node = cst.parse_expression(text)
    if _ATOM.fullmatch(text) or isinstance(
        node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.List, cst.SimpleString)
    ):
        return node
    if getattr(node, "lpar", None):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
