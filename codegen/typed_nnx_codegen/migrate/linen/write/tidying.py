"""Takes out of rewritten functions what they no longer need, and keeps the comments that were there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    children,
    code_of,
    descendants,
    dotted,
    read_names,
)
from typed_nnx_codegen.migrate.linen.domain.code import comments_of, with_left_comments, with_only
from typed_nnx_codegen.migrate.markers import marked_codes

# -- comments --------------------------------------------------------------------------------------


def with_comments(before: cst.CSTNode, after: cst.CSTNode) -> cst.CSTNode:
    """Return a statement with the comments above it that its code lost.

    Args:
        before: The statement as it was.
        after: It with what is written differently.
    """
    leading: Sequence[cst.EmptyLine] | None = getattr(after, "leading_lines", None)
    lost = Counter(comments_of(before)) - Counter(comments_of(after))
    texts = [text for text in comments_of(before) if text in lost]
    if leading is None or not texts:
        return after
    lines = [cst.EmptyLine(comment=cst.Comment(text)) for text in dict.fromkeys(texts)]
    return after.with_changes(leading_lines=[*leading, *lines])


# -- names that nothing reads any more -------------------------------------------------------------

# Functions without effects: the results of the others may be unread, and still be asked for.
_PURE: Final = re.compile(
    r"(jax\.(?!debug|experimental|profiler|device_put|config)|numpy\.(?!random)|math\.|itertools\."
    r"|functools\.partial$|operator\."
    r"|(flax\.linen|flax\.nnx|typed_nnx|nnx)\.initializers\.)"
)
_BUILTINS: Final = frozenset(
    {
        *("abs", "bool", "dict", "divmod", "enumerate", "float", "getattr", "hasattr", "int"),
        *("isinstance", "issubclass", "len", "list", "max", "min", "range", "reversed", "round"),
        *("set", "sorted", "str", "sum", "tuple", "type", "zip"),
    }
)
_DYNAMIC: Final = frozenset({"locals", "vars", "eval", "exec"})
_PLAIN: Final = (
    *(cst.Name, cst.BaseNumber, cst.BaseString, cst.Tuple, cst.List, cst.Dict, cst.Set),
    *(cst.UnaryOperation, cst.BinaryOperation, cst.BooleanOperation, cst.Comparison, cst.IfExp),
    *(cst.Attribute, cst.Subscript, cst.Lambda, cst.ListComp, cst.DictComp, cst.SetComp),
    *(cst.GeneratorExp, cst.Call),
)


def pure_in(analysis: Analysis) -> Callable[[cst.BaseExpression], bool]:
    """Return what says of expressions of a file whether they have no effect."""
    imports = analysis.scope.imports

    def is_pure_call(node: cst.Call) -> bool:
        name = dotted(node.func)
        first, _, rest = name.partition(".")
        binding = imports.get(first)
        if binding is None:
            is_builtin = name in _BUILTINS and name not in analysis.scope.seen
            return is_builtin or (first == "nnx" and _PURE.match(name) is not None)
        full = binding.full if binding.is_from or binding.has_alias else first
        return _PURE.match(f"{full}.{rest}" if rest else full) is not None

    def is_pure(node: cst.BaseExpression) -> bool:
        for one in (node, *descendants(node)):
            if isinstance(one, cst.Call) and not is_pure_call(one):
                return False
            if isinstance(one, cst.BaseExpression) and not isinstance(one, _PLAIN):
                return False
        return True

    return is_pure


def without_unread(
    node: cst.FunctionDef,
    names: Iterable[str],
    is_pure: Callable[[cst.BaseExpression], bool],
) -> cst.FunctionDef:
    """Return a function without assignments of local names that nothing reads.

    Args:
        node: The function.
        names: The names that it may do without.
        is_pure: Whether an expression has no effect.
    """
    names = frozenset(names)
    while True:
        read = read_in(node)
        if read & _DYNAMIC or any(isinstance(one, _SHARED) for one in descendants(node)):
            return node
        unread = _Unread(names - read, is_pure)
        body = node.body.visit(unread)
        assert isinstance(body, cst.BaseSuite)
        if not unread.count:
            return node
        node = node.with_changes(body=body)


_SHARED: Final = (cst.Global, cst.Nonlocal)


def read_in(node: cst.FunctionDef) -> frozenset[str]:
    """Return the names that a function reads."""
    return frozenset(reads_of(node.body))


def reads_of(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that code reads; those that it only binds are not among them."""
    waiting = [node]
    while waiting:
        match waiting.pop():
            case cst.Name(value=name):
                yield name
            case cst.Assign(targets=targets, value=value):
                waiting += [value, *(one for each in targets for one in _read_to_bind(each.target))]
            case cst.AnnAssign(target=target, annotation=annotation, value=value):
                waiting += [annotation, *_read_to_bind(target)]
                waiting += [] if value is None else [value]
            case cst.For(target=target, iter=iterable, body=body, orelse=orelse):
                waiting += [*_read_to_bind(target), iterable, body]
                waiting += [] if orelse is None else [orelse]
            case cst.SimpleString() as text:
                yield from read_names(text)
            case cst.Attribute(value=value):
                waiting.append(value)
            case cst.Arg(value=value):
                waiting.append(value)
            case cst.FunctionDef() as function:
                waiting += [one for one in children(function) if one is not function.name]
            case other:
                waiting += children(other)


def _read_to_bind(target: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """Yield what an assignment to a target reads."""
    match target:
        case cst.Name():
            return
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for one in elements:
                yield from _read_to_bind(one.value)
        case _:
            yield target


class _Unread(cst.CSTTransformer):
    """Takes out assignments of names, and the functions, branches and loops that are nothing then."""

    def __init__(
        self, names: frozenset[str], is_pure: Callable[[cst.BaseExpression], bool]
    ) -> None:
        super().__init__()
        self._names = names
        self._is_pure = is_pure
        self.count = 0

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        """Leave names of other scopes as they are."""
        del node
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        """Leave names of other scopes as they are."""
        del node
        return False

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.RemovalSentinel:
        """Take out a function that nothing calls any more."""
        is_plain = not original_node.decorators and original_node.name.value in self._names
        return self._gone(updated_node) if is_plain else updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.RemovalSentinel:
        """Take out an assignment."""
        match original_node.body:
            case [cst.Assign(targets=targets, value=value)]:
                every = [one.target for one in targets]
            case [cst.AnnAssign(target=cst.Name() as target, value=cst.BaseExpression() as value)]:
                every = [target]
            case _:
                return updated_node
        if marked_codes(original_node.leading_lines):
            return updated_node
        if not all(map(self._is_unread, every)) or not self._is_pure(value):
            return updated_node
        return self._gone(updated_node)

    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> cst.BaseStatement | cst.RemovalSentinel:
        """Take out a branch that is empty."""
        orelse = updated_node.orelse
        if isinstance(orelse, cst.Else) and _is_empty(orelse.body):
            updated_node, orelse = updated_node.with_changes(orelse=None), None
        if orelse is None and _is_empty(updated_node.body) and self._is_pure(original_node.test):
            return self._gone(updated_node)
        return updated_node

    def leave_For(
        self, original_node: cst.For, updated_node: cst.For
    ) -> cst.BaseStatement | cst.RemovalSentinel:
        """Take out a loop that is empty."""
        is_unread = updated_node.orelse is None and self._is_unread(original_node.target)
        if is_unread and _is_empty(updated_node.body) and self._is_pure(original_node.iter):
            return self._gone(updated_node)
        return updated_node

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.BaseSuite:
        """Place the comments of what went."""
        del original_node
        block = with_left_comments(updated_node)
        assert isinstance(block, cst.IndentedBlock)
        return block

    def _gone(self, node: cst.BaseStatement) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        self.count += 1
        return with_only(comments_of(node), node)

    def _is_unread(self, target: cst.BaseExpression) -> bool:
        match target:
            case cst.Name(value=name):
                return name in self._names
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                return all(self._is_unread(one.value) for one in elements)
        return False


def _is_empty(node: cst.BaseSuite) -> bool:
    return isinstance(node, cst.IndentedBlock) and not node.body


def is_same(before: cst.CSTNode, after: cst.CSTNode) -> bool:
    """Whether two nodes have the same text."""
    return code_of(before) == code_of(after)
