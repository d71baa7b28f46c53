"""Small readings of the tree: children, dotted names, literals, the shape of arguments."""

from __future__ import annotations

import ast
import dataclasses
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import cache, lru_cache
from typing import Final, TypeGuard, TypeVar

import libcst as cst
from libcst._nodes.internal import CodegenState

N = TypeVar("N", bound=cst.CSTNode)
_WORD = re.compile(r"[^\W\d]\w*")
# Fields that hold layout, never code.
_LAYOUT = frozenset(
    {
        *("asynchronous", "colon", "comma", "dot", "equal", "first_colon", "footer", "header"),
        *("indent", "lbrace", "lbracket", "leading_lines", "lines_after_decorators", "lpar"),
        *("newline", "rbrace", "rbracket", "relative", "rpar", "second_colon", "semicolon"),
        *("trailing_comma", "trailing_whitespace"),
    }
)
# The order of the text where it is not that of the fields.
_ORDERS: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.Arg: ("keyword", "value"),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.FunctionDef: ("decorators", "name", "type_parameters", "params", "returns", "body"),
    cst.IfExp: ("body", "test", "orelse"),
    cst.MatchCase: ("pattern", "guard", "body"),
    cst.Parameters: ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
    cst.TypeAlias: ("name", "type_parameters", "value"),
}


@cache
def code_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """Return the fields of a type of nodes that hold code, in the order of the text."""
    if kind in _ORDERS:
        return _ORDERS[kind]
    fields = [field for field in dataclasses.fields(kind) if field.type is not str]
    names = [field.name for field in fields]
    return tuple(name for name in names if "whitespace" not in name and name not in _LAYOUT)


@cache
def is_kind(kind: type, *of: type[cst.CSTNode]) -> bool:
    """Whether a type of nodes is one of some types; quicker than `isinstance` for libcst's bases."""
    return issubclass(kind, of)


_nodes: dict[type, bool] = {}


def is_node(value: object) -> TypeGuard[cst.CSTNode]:
    """Whether a value is a node; quicker than `isinstance` for libcst's bases."""
    kind = type(value)
    known = _nodes.get(kind)
    if known is None:
        known = _nodes[kind] = issubclass(kind, cst.CSTNode)
    return known


class Transformer(cst.CSTTransformer):
    """Changes code; handlers are those of libcst, whose `visit` copies layout and what stays, too."""

    def applied(self, node: N) -> N:
        """Return a node with its changes."""
        after = self._applied(node)
        assert isinstance(after, cst.CSTNode)
        return after  # type: ignore[return-value]  # handlers keep what stands in a place

    def _applied(
        self, node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        if not self.on_visit(node):
            return self.on_leave(node, node)
        changes: dict[str, object] = {}
        for name in code_fields(type(node)):
            value: object = getattr(node, name)
            if isinstance(value, (tuple, list)):
                items = [new for old in value for new in self._in_place_of(old)]
                if len(items) != len(value) or any(map(operator.is_not, items, value)):
                    changes[name] = items
            elif is_node(value):
                new = self._applied(value)
                if new is not value:
                    changes[name] = None if isinstance(new, cst.RemovalSentinel) else new
        return self.on_leave(node, node.with_changes(**changes) if changes else node)

    def _in_place_of(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield what a list has in the place of an item; not a line whose statements went."""
        after = self._applied(node)
        if isinstance(after, cst.RemovalSentinel):
            return
        for one in after if isinstance(after, cst.FlattenSentinel) else (after,):
            if not isinstance(one, cst.SimpleStatementLine) or one.body or one is node:
                yield one


def is_docstring(node: cst.CSTNode) -> bool:
    """Whether a statement is a docstring, or another string that stands alone."""
    match node:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString())]):
            return True
    return False


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the parts of a node that hold code, in the order of the text."""
    yield from parts_of(node)


def parts_of(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the parts of a node that hold code, in the order of the text."""
    found: list[cst.CSTNode] = []
    for name in code_fields(type(node)):
        # Or a sentinel, which is no node.
        value: cst.CSTNode | tuple[cst.CSTNode, ...] | list[cst.CSTNode] | None = getattr(
            node, name
        )
        if value is None:
            continue
        if isinstance(value, (tuple, list)):
            found += value
        elif _nodes.get(type(value)) or is_node(value):
            found.append(value)
    return found


def descendants(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all below it that hold code, in the order of the text."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        below = parts_of(current)
        below.reverse()
        stack += below


def of_kinds(nodes: Iterable[cst.CSTNode], *kinds: type[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """Yield the nodes of exactly some types: quicker than `isinstance` or `match` on each node."""
    wanted = frozenset(kinds)
    return (node for node in nodes if type(node) in wanted)


def dotted(node: cst.CSTNode) -> str:
    """Return ``a.b.c`` for a name or a chain of attributes of a name; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    parts.append(node.value)
    return ".".join(reversed(parts))


def text_of(node: cst.CSTNode) -> str | None:
    """Return the text of a string literal; None for anything else."""
    value: object = None
    if isinstance(node, cst.SimpleString):
        value = literal(node.value)
    elif isinstance(node, cst.ConcatenatedString):
        value = node.evaluated_value
    return value if isinstance(value, str) else None


@cache
def literal(code: str) -> object:
    """Return the value of a literal; each round of the analysis asks for the same ones.

    Raises:
        SyntaxError: It is none, such as a number with a digit too many.
        ValueError: The same.
    """
    return ast.literal_eval(code)


def number_of(node: cst.CSTNode) -> int | float | None:
    """Return the value of a number, with a sign or without; None for anything else."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = number_of(node.expression)
        return -inner if inner is not None else None
    if isinstance(node, (cst.Integer, cst.Float)):
        try:
            value = literal(node.value)
        except (SyntaxError, ValueError):
            return None
        return value if isinstance(value, (int, float)) else None
    return None


def is_repeatable(node: cst.BaseExpression) -> bool:
    """Whether an expression may be evaluated twice: names, attributes, literals, items by literals."""
    match node:
        case cst.Attribute():
            return is_repeatable(node.value)
        case cst.Subscript():
            indices = [one.slice.value for one in node.slice if isinstance(one.slice, cst.Index)]
            parts = [node.value, *indices]
            return len(indices) == len(node.slice) and all(map(is_repeatable, parts))
        case cst.Tuple() | cst.List():
            return all(
                isinstance(one, cst.Element) and is_repeatable(one.value) for one in node.elements
            )
        case cst.Name() | cst.SimpleString() | cst.Ellipsis():
            return True
        case _:
            return number_of(node) is not None


def argument(call: cst.Call, position: int | None, keyword: str) -> cst.Arg | None:
    """Return the argument at a position or with a keyword; None where it is not surely there.

    Args:
        call: The call.
        position: Its position, from 0; None where only the keyword names it.
        keyword: Its name; empty for arguments that have a position only.
    """
    for index, arg in enumerate(call.args):
        if arg.star:
            return None if arg.star == "*" else _keyword_after(call, index, keyword)
        if arg.keyword is None:
            if position is not None and index == position:
                return arg
        elif keyword and arg.keyword.value == keyword:
            return arg
    return None


def _keyword_after(call: cst.Call, index: int, keyword: str) -> cst.Arg | None:
    for arg in call.args[index:]:
        if keyword and arg.keyword is not None and arg.keyword.value == keyword:
            return arg
    return None


def has_star(call: cst.Call) -> bool:
    """Whether a call has ``*args`` or ``**kwargs``."""
    return any(arg.star for arg in call.args)


def is_name(node: cst.CSTNode, name: str) -> bool:
    """Whether a node is this very name: ``x``, ``None``."""
    return isinstance(node, cst.Name) and node.value == name


class CodeState(CodegenState):
    """Writes code; for each node, libcst's own makes a context manager that nothing needs."""

    def record_syntactic_position(  # type: ignore[override]  # any context manager will do
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> nullcontext[None]:
        """Begin a node itself, behind the layout before it."""
        del start_node, end_node
        self.before_codegen(node)
        return _NOTHING


_NOTHING: Final = nullcontext()


@lru_cache(maxsize=65_536)
def code_of(node: cst.CSTNode) -> str:
    """Return the text of a node."""
    return _code_in(_MODULE, node)


def text_of_module(tree: cst.Module) -> str:
    """Return the text of a module."""
    return _code_in(tree, tree)


def _code_in(module: cst.Module, node: cst.CSTNode) -> str:
    state = CodeState(module.default_indent, module.default_newline)
    node._codegen(state)
    return "".join(state.tokens)


_MODULE: Final = cst.Module(body=[])


def key_of(node: cst.Subscript) -> str | None:
    """Return the text that a subscript has as its key: ``variables["params"]``."""
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return None
    return text_of(node.slice[0].slice.value)


def targets_of(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the single targets that an assignment to an expression has."""
    if isinstance(node, (cst.Tuple, cst.List)):
        for element in node.elements:
            yield from targets_of(element.value)
    elif isinstance(node, cst.StarredElement):
        yield from targets_of(node.value)
    else:
        yield node


def parameters_of(parameters: cst.Parameters) -> Iterator[cst.Param]:
    """Yield all parameters of a function, in the order of the text."""
    yield from parameters.posonly_params
    yield from parameters.params
    if isinstance(parameters.star_arg, cst.Param):
        yield parameters.star_arg
    yield from parameters.kwonly_params
    if parameters.star_kwarg is not None:
        yield parameters.star_kwarg


def _is_prose(docstring: cst.BaseExpression) -> bool:
    """Whether an expression that is a statement is a docstring without examples, which are code."""
    return isinstance(docstring, cst.SimpleString) and ">>>" not in docstring.value


def read_names(node: cst.CSTNode) -> frozenset[str]:
    """Return the names that code reads or binds; not those in import statements."""
    names: set[str] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind is cst.Name:
            names.add(cst.ensure_type(current, cst.Name).value)
        elif kind is cst.Attribute:
            stack.append(cst.ensure_type(current, cst.Attribute).value)
        elif kind is cst.Arg:
            stack.append(cst.ensure_type(current, cst.Arg).value)
        elif kind is cst.Expr and _is_prose(cst.ensure_type(current, cst.Expr).value):
            continue
        elif kind is cst.SimpleString:
            # It may be an annotation in quotes.
            names.update(_WORD.findall(cst.ensure_type(current, cst.SimpleString).value))
        elif kind is not cst.Import and kind is not cst.ImportFrom:
            stack.extend(children(current))
    return frozenset(names)


def name_nodes(node: cst.CSTNode) -> Iterator[cst.Name]:
    """Yield the names in code, without those of attributes and keywords."""
    found = list(of_kinds(descendants(node), cst.Name, cst.Attribute, cst.Arg))
    aside = {one.attr for one in found if isinstance(one, cst.Attribute)}
    aside |= {one.keyword for one in found if isinstance(one, cst.Arg) and one.keyword is not None}
    return (one for one in found if isinstance(one, cst.Name) and one not in aside)


def names_of(node: cst.CSTNode) -> Iterator[str]:
    """Yield what `name_nodes` are called."""
    return (one.value for one in name_nodes(node))


def free_name(name: str, taken: set[str]) -> str:
    """Return a name, with a number where it is taken; it is taken from then on."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate


Parents = Mapping[cst.CSTNode, cst.CSTNode]


def parents_of(tree: cst.CSTNode) -> Parents:
    """Return the node above each node that holds code."""
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    stack = [tree]
    while stack:
        node = stack.pop()
        for child in children(node):
            found[child] = node
            stack.append(child)
    return found
