"""Finds the names of a module that nothing defines, by reading it as Python runs it.

Unlike `symtable`, this sees names in annotations that are text, and names that are read before the
first statement that binds them. It is never wrong about a name that may be defined: a star import
defines all names, and a deleted name counts as defined.
"""

from __future__ import annotations

import ast
import builtins
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

_OF_MODULES: Final = frozenset(dir(builtins)) | {
    "__annotations__",
    "__builtins__",
    "__file__",
    "__path__",
    "WindowsError",
}
_OF_CLASSES: Final = frozenset({"__module__", "__qualname__", "__class__"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True, order=True)
class Undefined:
    """A name that nothing defines.

    Attributes:
        line: The line that reads it, from 1.
        name: The name.
    """

    line: int
    name: str


def undefined_names(text: str) -> tuple[Undefined, ...]:
    """Return the names that a module reads and nothing defines, by line.

    Raises:
        SyntaxError: The text is not valid Python.
    """
    return tuple(sorted(_Reader(ast.parse(text)).undefined))


def newly_undefined(before: str, after: str) -> tuple[Undefined, ...]:
    """Return the names that nothing defines in a new text, and that were defined in the old one.

    Raises:
        SyntaxError: One of the texts is not valid Python.
    """
    found = undefined_names(after)
    known = {one.name for one in undefined_names(before)} if found else set()
    return tuple(one for one in found if one.name not in known)


def defined_names(text: str) -> frozenset[str] | None:
    """Return the names that a module has for those who import it; None where that is not known.

    Raises:
        SyntaxError: The text is not valid Python.
    """
    module = _Reader(ast.parse(text)).module
    return None if module.has_star else frozenset(module.names)


def imported_names(text: str, module: str, is_package: bool) -> Iterator[tuple[str, str]]:
    """Yield the names that a module takes from others: the other module, and the name in it.

    Args:
        text: The module.
        module: Its dotted name.
        is_package: Whether it is a package.

    Raises:
        SyntaxError: The text is not valid Python.
    """
    tree = ast.parse(text)
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                modules[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom):
            package = _absolute(node, module, is_package)
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{package}.{alias.name}".strip(".")
                yield package, alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
            owner = modules.get(ast.unparse(node.value))
            if owner is not None:
                yield owner, node.attr


def _absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """Return the dotted name of the module that ``from ... import`` names."""
    if not node.level:
        return node.module or ""
    around = module.split(".")
    around = around[: len(around) - node.level + is_package]
    return ".".join([*around, *([node.module] if node.module else [])])


@dataclass
class _Scope:
    """Names that belong together.

    Attributes:
        kind: What the scope is of; names of a class are not seen by the functions in it.
        names: The names that have been bound so far.
        annotated: The names that have an annotation only.
        elsewhere: The scopes of names that ``global`` and ``nonlocal`` declare.
        has_star: Whether a star import binds names that are not known.
    """

    kind: Literal["module", "class", "function", "comprehension", "types"]
    names: set[str] = field(default_factory=set)
    annotated: set[str] = field(default_factory=set)
    elsewhere: dict[str, _Scope] = field(default_factory=dict)
    has_star: bool = False


class _Reader(ast.NodeVisitor):
    """Reads a module in the order in which Python runs it: bodies of functions come last.

    Args:
        tree: The module.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.undefined: set[Undefined] = set()
        self.module = _Scope("module")
        for one in ast.walk(tree):
            if isinstance(one, ast.Global):
                self.module.names.update(one.names)
        self._scopes = [self.module]
        self._later: deque[tuple[list[_Scope], bool, Callable[[], None]]] = deque()
        self._has_text_annotations = any(
            isinstance(one, ast.ImportFrom)
            and one.module == "__future__"
            and any(alias.name == "annotations" for alias in one.names)
            for one in tree.body
        )
        self._in_annotation = False
        self._expects_errors = False
        self._visit_all(tree.body)
        while self._later:
            self._scopes, self._expects_errors, run = self._later.popleft()
            run()
        self._read_exported(tree)

    def _visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _postpone(self, run: Callable[[], None]) -> None:
        self._later.append(([*self._scopes], self._expects_errors, run))

    @contextmanager
    def _inside(self, kind: Literal["class", "function", "comprehension"]) -> Iterator[None]:
        self._scopes = [*self._scopes, _Scope(kind)]
        yield
        self._scopes = self._scopes[:-1]

    # -- names --------------------------------------------------------------------------------

    def _bind(self, name: str) -> None:
        scope = self._scopes[-1]
        scope.elsewhere.get(name, scope).names.add(name)

    def _read(self, name: str, line: int) -> None:
        if not (self._expects_errors or self._is_defined(name)):
            self.undefined.add(Undefined(line, name))

    def _is_defined(self, name: str) -> bool:
        for scope in self._visible():
            declared = scope.elsewhere.get(name, scope)
            if name in declared.names or scope.has_star:
                return True
            if self._in_annotation and name in scope.annotated:
                return True
        is_in_class = any(scope.kind == "class" for scope in self._scopes)
        return name in _OF_MODULES or (is_in_class and name in _OF_CLASSES)

    def _visible(self) -> Iterator[_Scope]:
        """Yield the scopes whose names are seen, the innermost first."""
        is_direct = True
        for scope in reversed(self._scopes):
            if scope.kind != "class" or is_direct:
                yield scope
            is_direct = is_direct and scope.kind == "types"

    def _read_exported(self, tree: ast.Module) -> None:
        """Read the names in ``__all__``: others may import them."""
        self._scopes = [self.module]
        self._expects_errors = False
        for node in tree.body:
            if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {one.id for one in targets if isinstance(one, ast.Name)}
            if "__all__" in names and isinstance(node.value, (ast.List, ast.Tuple)):
                for one in node.value.elts:
                    if isinstance(one, ast.Constant) and isinstance(one.value, str):
                        self._read(one.value, one.lineno)

    def visit_Name(self, node: ast.Name) -> None:
        """Read or bind a name; a deleted one counts as defined."""
        if isinstance(node.ctx, ast.Load):
            self._read(node.id, node.lineno)
        else:
            self._bind(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """Bind a name outside of the comprehensions around it."""
        self.visit(node.value)
        around = [scope for scope in self._scopes if scope.kind != "comprehension"][-1]
        around.elsewhere.get(node.target.id, around).names.add(node.target.id)

    def visit_Global(self, node: ast.Global) -> None:
        """Take names from the module, which has them: whoever declares one assigns it."""
        self._scopes[-1].elsewhere |= dict.fromkeys(node.names, self.module)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """Take names from a function around this one."""
        for name in node.names:
            for scope in reversed(self._scopes[:-1]):
                if scope.kind == "function" and name in scope.names:
                    self._scopes[-1].elsewhere[name] = scope
                    break

    # -- statements ---------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        """Bind what is imported."""
        for alias in node.names:
            self._bind(alias.asname or alias.name.partition(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Bind what is imported; a star binds names that are not known."""
        for alias in node.names:
            if alias.name == "*":
                self._scopes[-1].has_star = True
            else:
                self._bind(alias.asname or alias.name)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Read the value before the targets are bound."""
        self._visit_all([node.value, *node.targets])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Read the target, too."""
        if isinstance(node.target, ast.Name):
            self._read(node.target.id, node.target.lineno)
        self._visit_all([node.value, node.target])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Bind the target where it has a value."""
        self._annotation(node.annotation)
        self._visit_all([node.value])
        if node.value is None and isinstance(node.target, ast.Name):
            self._scopes[-1].annotated.add(node.target.id)
        else:
            self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        """Read what is iterated over before the target is bound."""
        self._visit_all([node.iter, node.target, *node.body, *node.orelse])

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        """Read what is iterated over before the target is bound."""
        self._visit_all([node.iter, node.target, *node.body, *node.orelse])

    def visit_Try(self, node: ast.Try) -> None:
        """Expect undefined names where they are caught."""
        around = self._expects_errors
        self._expects_errors |= any(_catches_names(one.type) for one in node.handlers)
        self._visit_all(node.body)
        self._expects_errors = around
        self._visit_all([*node.handlers, *node.orelse, *node.finalbody])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """Bind the exception."""
        self._visit_all([node.type])
        if node.name:
            self._bind(node.name)
        self._visit_all(node.body)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        """Bind what a pattern captures."""
        self._captured(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        """Bind what a pattern captures."""
        self._captured(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        """Bind what a pattern captures."""
        if node.rest:
            self._bind(node.rest)
        self.generic_visit(node)

    def _captured(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self._bind(node.name)
        self.generic_visit(node)

    # -- scopes -------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Read what runs at the definition; the body runs later."""
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """Read what runs at the definition; the body runs later."""
        self._function(node)

    def _function(self, node: _Function) -> None:
        self._visit_all(node.decorator_list)
        self._visit_all([*node.args.defaults, *node.args.kw_defaults])
        self._bind(node.name)
        around = self._scopes
        self._type_parameters(node)
        for one in _parameters(node.args):
            self._annotation(one.annotation)
        self._annotation(node.returns)
        self._body(node.args, node.body)
        self._scopes = around

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Read the defaults; the body runs later."""
        self._visit_all([*node.args.defaults, *node.args.kw_defaults])
        self._body(node.args, [node.body])

    def _body(self, arguments: ast.arguments, body: Iterable[ast.AST]) -> None:
        def run() -> None:
            with self._inside("function"):
                for one in _parameters(arguments):
                    self._bind(one.arg)
                self._visit_all(body)

        self._postpone(run)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Read the body in its own scope."""
        self._visit_all(node.decorator_list)
        around = self._scopes
        self._type_parameters(node)
        self._visit_all([*node.bases, *node.keywords])
        with self._inside("class"):
            self._visit_all(node.body)
        self._scopes = around
        self._bind(node.name)

    def visit_TypeAlias(self, node: ast.AST) -> None:
        """Bind an alias, whose value is read later."""
        name: ast.Name = node.name  # type: ignore[attr-defined]  # ast.TypeAlias is of Python 3.12
        value: ast.expr = node.value  # type: ignore[attr-defined]  # as above
        self._bind(name.id)
        around = self._scopes
        self._type_parameters(node)
        self._postpone(lambda: self.visit(value))
        self._scopes = around

    def _type_parameters(self, node: ast.AST) -> None:
        """Open a scope with the type parameters of a definition, where it has any."""
        parameters: list[ast.AST] = getattr(node, "type_params", [])
        if parameters:
            self._scopes = [*self._scopes, _Scope("types")]
        for one in parameters:
            self._bind(getattr(one, "name", ""))
            bound = [getattr(one, "bound", None), getattr(one, "default_value", None)]
            self._postpone(lambda given=bound: self._visit_all(given))  # type: ignore[misc]  # mypy infers no default of a lambda

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """Read a comprehension in its own scope."""
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        """Read a comprehension in its own scope."""
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        """Read a comprehension in its own scope."""
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        """Read a comprehension in its own scope."""
        self._comprehension(node)

    def _comprehension(self, node: _Comprehension) -> None:
        self.visit(node.generators[0].iter)
        with self._inside("comprehension"):
            for number, one in enumerate(node.generators):
                self._visit_all([one.iter] if number else [])
                self._visit_all([one.target, *one.ifs])
            parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            self._visit_all(parts)

    # -- annotations --------------------------------------------------------------------------

    def _annotation(self, node: ast.expr | None) -> None:
        """Read an annotation: now, or at the end where it is text."""
        if node is None:
            return
        if self._has_text_annotations:
            self._postpone(lambda: self._read_annotation(node))
        else:
            self._read_annotation(node)

    def _read_annotation(self, node: ast.expr) -> None:
        around, self._in_annotation = self._in_annotation, True
        self.visit(node)
        self._in_annotation = around

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Read the items; texts in ``Literal`` and behind the first of ``Annotated`` are no types."""
        name = node.value.attr if isinstance(node.value, ast.Attribute) else ""
        name = node.value.id if isinstance(node.value, ast.Name) else name
        self.visit(node.value)
        around = self._in_annotation
        items = [node.slice]
        if name == "Annotated" and isinstance(node.slice, ast.Tuple):
            items = node.slice.elts
        for number, item in enumerate(items):
            self._in_annotation = around and name != "Literal" and not number
            self.visit(item)
        self._in_annotation = around

    def visit_Call(self, node: ast.Call) -> None:
        """Read the arguments, whose texts are no types."""
        around, self._in_annotation = self._in_annotation, False
        self.generic_visit(node)
        self._in_annotation = around

    def visit_Constant(self, node: ast.Constant) -> None:
        """Read a type that is text, at the end: by then all is defined."""
        if not (self._in_annotation and isinstance(node.value, str)):
            return
        try:
            parsed = ast.parse(node.value.strip(), mode="eval").body
        except SyntaxError:
            return  # it is a text after all, such as the shape of an array
        for one in ast.walk(parsed):
            if isinstance(one, (ast.expr, ast.keyword)):
                one.lineno = node.lineno
        self._postpone(lambda: self._read_annotation(parsed))


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    stars = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *stars]


def _catches_names(node: ast.expr | None) -> bool:
    """Whether an ``except`` is for names that are not defined."""
    if isinstance(node, ast.Tuple):
        return any(_catches_names(one) for one in node.elts)
    return isinstance(node, ast.Name) and node.id == "NameError"
