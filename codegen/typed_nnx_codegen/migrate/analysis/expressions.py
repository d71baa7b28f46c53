"""Evaluates expressions: what each stands for where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import libcst as cst

from typed_nnx_codegen.migrate.analysis.annotations import Annotations
from typed_nnx_codegen.migrate.analysis.calls import Calls
from typed_nnx_codegen.migrate.analysis.members import element_of, is_data, item_of, member_of
from typed_nnx_codegen.migrate.analysis.narrowing import narrowings
from typed_nnx_codegen.migrate.analysis.object_contents import Argument
from typed_nnx_codegen.migrate.analysis.syntax import (
    children,
    dotted,
    number_of,
    parameters_of,
    text_of,
)
from typed_nnx_codegen.migrate.analysis.values import (
    ARRAY,
    NONE,
    UNKNOWN,
    Array,
    Collection,
    Constant,
    External,
    Instance,
    Plain,
    ProjectClass,
    Scope,
    Value,
    collection,
    join,
    options_of,
    without_none,
)

_LITERAL_NAMES = {"None": NONE, "True": Constant(True, "bool"), "False": Constant(False, "bool")}


class Expressions:
    """Evaluates the expressions of one module.

    Args:
        values: What expressions stand for, which is remembered here.
        module: The scope of the module.
        names: Gives what ``from flax.nnx import *`` brings, by name.
        scope_for: Gives the scope of a comprehension.
        function_for: Gives the function of a lambda.
    """

    def __init__(
        self,
        values: dict[cst.CSTNode, Value],
        module: Scope,
        names: Callable[[str], Value | None],
        scope_for: Callable[[cst.CSTNode, Literal["comprehension"], Scope], Scope],
        function_for: Callable[[cst.Lambda, str, Scope], Value],
    ) -> None:
        self._values = values
        self._names = names
        self._scope_for = scope_for
        self._function_for = function_for
        self.annotations = Annotations(self.evaluate)
        self._calls = Calls(module, self.evaluate, self.annotations)
        self._by_type: dict[type[cst.CSTNode], Callable[..., Value]] = {
            cst.Name: self._name,
            cst.Attribute: self._attribute,
            cst.Call: self._call,
            cst.Subscript: self._subscript,
            cst.SimpleString: self._text,
            cst.ConcatenatedString: self._concatenated,
            cst.FormattedString: self._formatted,
            cst.Integer: self._number,
            cst.Float: self._number,
            cst.List: self._elements("list"),
            cst.Tuple: self._elements("tuple"),
            cst.Set: self._elements("set"),
            cst.Dict: self._dict,
            cst.ListComp: self._comprehension("list"),
            cst.SetComp: self._comprehension("set"),
            cst.GeneratorExp: self._comprehension("list"),
            cst.DictComp: self._dict_comprehension,
            cst.Lambda: self._lambda,
            cst.IfExp: self._conditional,
            cst.BooleanOperation: self._boolean,
            cst.BinaryOperation: self._binary,
            cst.UnaryOperation: self._unary,
            cst.Comparison: self._comparison,
            cst.NamedExpr: self._named,
            cst.Await: self._opaque,
        }

    def evaluate(self, node: cst.CSTNode, scope: Scope) -> Value:
        """Return what an expression stands for, and remember it."""
        handler = self._by_type.get(type(node), self._opaque)
        value = handler(node, scope)
        self._values[node] = value
        return value

    def bind(self, target: cst.CSTNode, value: Value, scope: Scope) -> None:
        """Bind the targets of an assignment, a loop, ``with`` or a comprehension."""
        match target:
            case cst.Name():
                scope.bind(target.value, value)
            case cst.Tuple() | cst.List():
                self._bind_elements(target.elements, value, scope)
            case cst.StarredElement():
                self.bind(target.value, UNKNOWN, scope)
            case cst.Attribute():
                self._bind_attribute(target, value, scope)
            case cst.Subscript():
                self.evaluate(target, scope)
                self._add_item(target.value, value, scope)
            case _:
                self.evaluate(target, scope)

    def _bind_elements(
        self, elements: Sequence[cst.BaseElement], value: Value, scope: Scope
    ) -> None:
        starred = any(isinstance(element, cst.StarredElement) for element in elements)
        for index, element in enumerate(elements):
            if isinstance(element, cst.StarredElement):
                rest = Collection("list", None, element_of(value))
                self.bind(element.value, rest, scope)
            elif starred:
                self.bind(element.value, self._around_star(elements, index, value), scope)
            else:
                self.bind(element.value, item_of(value, index, len(elements)), scope)

    @staticmethod
    def _around_star(elements: Sequence[cst.BaseElement], index: int, value: Value) -> Value:
        star = next(
            place
            for place, element in enumerate(elements)
            if isinstance(element, cst.StarredElement)
        )
        return item_of(value, index if index < star else index - len(elements), None)

    def _bind_attribute(self, target: cst.Attribute, value: Value, scope: Scope) -> None:
        receiver = self.evaluate(target.value, scope)
        self._values[target] = value
        name = target.attr.value
        for option in options_of(receiver):
            if isinstance(option, Instance) and isinstance(option.cls, ProjectClass):
                option.cls.assign(name, value)
            elif isinstance(option, ProjectClass):
                option.rebound.add(name)
        path = dotted(target)
        if path:
            for key in [key for key in scope.narrowed if (key + ".").startswith(path + ".")]:
                del scope.narrowed[key]

    # -- names --------------------------------------------------------------------------------

    def _name(self, node: cst.Name, scope: Scope) -> Value:
        narrowed = scope.narrowed.get(node.value)
        if narrowed is not None:
            return narrowed
        value = scope.lookup(node.value)
        if value is not None:
            return value
        if node.value in _LITERAL_NAMES:
            return _LITERAL_NAMES[node.value]
        return self._names(node.value) or External(f"builtins.{node.value}")

    def _attribute(self, node: cst.Attribute, scope: Scope) -> Value:
        receiver = self.evaluate(node.value, scope)
        path = dotted(node)
        if path in scope.narrowed:
            return scope.narrowed[path]
        return member_of(receiver, node.attr.value)

    # -- literals -----------------------------------------------------------------------------

    def _text(self, node: cst.SimpleString, scope: Scope) -> Value:
        del scope
        text = text_of(node)
        return Constant(text, "str") if text is not None else Plain("bytes")

    def _concatenated(self, node: cst.ConcatenatedString, scope: Scope) -> Value:
        self._opaque(node, scope)
        text = text_of(node)
        return Constant(text, "str") if text is not None else Plain("str")

    def _formatted(self, node: cst.FormattedString, scope: Scope) -> Value:
        self._opaque(node, scope)
        return Plain("str")

    def _number(self, node: cst.BaseExpression, scope: Scope) -> Value:
        del scope
        value = number_of(node)
        return Constant(value, type(value).__name__) if value is not None else Plain("int")

    def _elements(self, kind: str) -> Callable[[cst.List | cst.Tuple | cst.Set, Scope], Value]:
        def evaluate(node: cst.List | cst.Tuple | cst.Set, scope: Scope) -> Value:
            values: list[Value] = []
            starred = False
            for element in node.elements:
                value = self.evaluate(element.value, scope)
                if isinstance(element, cst.StarredElement):
                    if isinstance(value, Collection) and value.items is not None:
                        values.extend(value.items)
                        continue
                    starred, value = True, element_of(value)
                values.append(value)
            if starred:
                return Collection(kind, None, join(*values))
            return collection(kind, values)

        return evaluate

    def _dict(self, node: cst.Dict, scope: Scope) -> Value:
        keys: list[object] = []
        values: list[Value] = []
        exact = True
        for element in node.elements:
            value = self.evaluate(element.value, scope)
            if isinstance(element, cst.DictElement):
                key = self.evaluate(element.key, scope)
                exact = exact and isinstance(key, Constant)
                keys.append(key.value if isinstance(key, Constant) else None)
                values.append(value)
            else:
                exact = False
                values.append(element_of(value))
        if exact:
            return collection("dict", values, tuple(keys))
        return Collection("dict", None, join(*values))

    # -- comprehensions and functions ---------------------------------------------------------

    def _comprehension(self, kind: str) -> Callable[..., Value]:
        def evaluate(node: cst.ListComp | cst.SetComp | cst.GeneratorExp, scope: Scope) -> Value:
            inner = self._comprehension_scope(node, node.for_in, scope)
            return Collection(kind, None, self.evaluate(node.elt, inner))

        return evaluate

    def _dict_comprehension(self, node: cst.DictComp, scope: Scope) -> Value:
        inner = self._comprehension_scope(node, node.for_in, scope)
        self.evaluate(node.key, inner)
        return Collection("dict", None, self.evaluate(node.value, inner))

    def _comprehension_scope(self, node: cst.CSTNode, loop: cst.CompFor, scope: Scope) -> Scope:
        inner = self._scope_for(node, "comprehension", scope)
        outer = scope
        clause: cst.CompFor | None = loop
        while clause is not None:
            items = self.evaluate(clause.iter, outer)
            self.bind(clause.target, element_of(items), inner)
            for condition in clause.ifs:
                self.evaluate(condition.test, inner)
                self.narrow(condition.test, inner, holds=True)
            outer, clause = inner, clause.inner_for_in
        return inner

    def _lambda(self, node: cst.Lambda, scope: Scope) -> Value:
        for parameter in parameters_of(node.params):
            if parameter.default is not None:
                self.evaluate(parameter.default, scope)
        return self._function_for(node, "<lambda>", scope)

    # -- operations ---------------------------------------------------------------------------

    def _conditional(self, node: cst.IfExp, scope: Scope) -> Value:
        self.evaluate(node.test, scope)
        with self.narrowed(node.test, scope, holds=True):
            body = self.evaluate(node.body, scope)
        with self.narrowed(node.test, scope, holds=False):
            orelse = self.evaluate(node.orelse, scope)
        return join(body, orelse)

    def _boolean(self, node: cst.BooleanOperation, scope: Scope) -> Value:
        is_and = isinstance(node.operator, cst.And)
        left = self.evaluate(node.left, scope)
        with self.narrowed(node.left, scope, holds=is_and):
            right = self.evaluate(node.right, scope)
        return right if is_and else join(without_none(left), right)

    def _binary(self, node: cst.BinaryOperation, scope: Scope) -> Value:
        left, right = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        if is_data(left) or is_data(right):
            return ARRAY
        match left, right:
            case Collection(kind=one), Collection(kind=other) if one == other:
                return Collection(one, None, join(left.element, right.element))
            case Collection(), Plain() | Constant() if isinstance(node.operator, cst.Multiply):
                return Collection(left.kind, None, left.element)
            case ((Plain() | Constant()), (Plain() | Constant())):
                return (
                    Plain(left.type_name) if left.type_name == right.type_name else Plain("number")
                )
            case _:
                return UNKNOWN

    def _unary(self, node: cst.UnaryOperation, scope: Scope) -> Value:
        value = self.evaluate(node.expression, scope)
        if isinstance(node.operator, cst.Not):
            return Plain("bool")
        number = number_of(node)
        if number is not None:
            return Constant(number, type(number).__name__)
        return ARRAY if is_data(value) else (value if isinstance(value, Plain) else UNKNOWN)

    def _comparison(self, node: cst.Comparison, scope: Scope) -> Value:
        values = [self.evaluate(node.left, scope)]
        values += [self.evaluate(part.comparator, scope) for part in node.comparisons]
        return ARRAY if any(isinstance(value, Array) for value in values) else Plain("bool")

    def _named(self, node: cst.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        target = scope
        while target.kind == "comprehension" and target.parent is not None:
            target = target.parent
        self.bind(node.target, value, target)
        return value

    def _subscript(self, node: cst.Subscript, scope: Scope) -> Value:
        receiver = self.evaluate(node.value, scope)
        keys: list[Value] = []
        for element in node.slice:
            if isinstance(element.slice, cst.Index):
                keys.append(self.evaluate(element.slice.value, scope))
            else:
                self._opaque(element.slice, scope)
                keys.append(Plain("slice"))
        return self._calls.subscript(receiver, keys)

    def _call(self, node: cst.Call, scope: Scope) -> Value:
        callee = self.evaluate(node.func, scope)
        arguments = [
            Argument(
                self.evaluate(arg.value, scope),
                arg.keyword.value if arg.keyword is not None else "",
                arg.star,
                arg.value,
            )
            for arg in node.args
        ]
        if isinstance(node.func, cst.Attribute) and arguments:
            self._note_mutation(node.func, arguments, scope)
        return self._calls.result(callee, arguments, node, scope)

    def _note_mutation(
        self, function: cst.Attribute, arguments: list[Argument], scope: Scope
    ) -> None:
        """Note what `append` and the like add to a list."""
        match function.attr.value:
            case "append" | "add":
                self._add_item(function.value, arguments[0].value, scope)
            case "insert" if len(arguments) > 1:
                self._add_item(function.value, arguments[1].value, scope)
            case "extend":
                self._add_item(function.value, element_of(arguments[0].value), scope)

    def _add_item(self, node: cst.BaseExpression, item: Value, scope: Scope) -> None:
        """Note that a list or dict, which has a name, has one more item."""
        held = self._values.get(node, UNKNOWN)
        if isinstance(held, Collection):
            grown: Value = Collection(held.kind, None, join(held.element, item))
        elif isinstance(held, Instance) and held.cls in {"nnx.List", "nnx.Dict"}:
            grown = Instance(held.cls, join(held.of, item), held.origin)
        else:
            return
        if isinstance(node, cst.Name):
            scope.bind(node.value, grown)
        elif isinstance(node, cst.Attribute):
            self._bind_attribute(node, grown, scope)

    def call(
        self, callee: Value, values: list[Value], node: cst.Call | None, scope: Scope
    ) -> Value:
        """Return what a call with positional values stands for; decorators are such calls."""
        return self._calls.result(callee, [Argument(value) for value in values], node, scope)

    def _opaque(self, node: cst.CSTNode, scope: Scope) -> Value:
        for child in children(node):
            if isinstance(child, cst.BaseExpression):
                self.evaluate(child, scope)
            else:
                self._opaque(child, scope)
        return UNKNOWN

    # -- narrowing ----------------------------------------------------------------------------

    def narrow(self, test: cst.BaseExpression, scope: Scope, *, holds: bool) -> None:
        """Note what a condition says of names, for the code that follows."""
        for path, value in narrowings(self.evaluate, test, scope, holds=holds):
            scope.narrowed[path] = value

    @contextmanager
    def narrowed(self, test: cst.BaseExpression, scope: Scope, *, holds: bool) -> Iterator[None]:
        """Note what a condition says of names, for the code within."""
        before = dict(scope.narrowed)
        self.narrow(test, scope, holds=holds)
        try:
            yield
        finally:
            scope.narrowed = before
