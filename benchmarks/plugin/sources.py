"""A file of a package, taken apart so that an error can be planted into it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

NNX_MODULES = ("flax.nnx", "typed_nnx")
# What makes an object whose leaves are arrays, of the names of NNX.
LAYERS = frozenset(
    {
        "BatchNorm",
        "Conv",
        "ConvTranspose",
        "Einsum",
        "Embed",
        "GroupNorm",
        "LayerNorm",
        "Linear",
        "LinearGeneral",
        "MultiHeadAttention",
        "RMSNorm",
    }
)
VARIABLES = frozenset({"BatchStat", "Cache", "Param", "Variable"})
BASES = frozenset({"Module", "Pytree"})
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Edit:
    """A replacement in the text of a file; offsets count characters."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Mutant:
    """A file with one error in it.

    Attributes:
        code: The error code that is expected.
        planter: What planted it, in words.
        path: The file, in the folder of the packages.
        text: The file with the error.
        lines: The first and the last line where the error may be reported.
        probe: The file with `reveal_type` in those lines around what has to have a type for the
            error to be one; empty where the file itself shows the types.
    """

    code: str
    planter: str
    path: Path
    text: str
    lines: tuple[int, int]
    probe: str = ""


@dataclass(frozen=True)
class Attribute:
    """An assignment ``self.name = value`` of a class.

    Attributes:
        owner: The class.
        method: The method with the assignment.
        statement: The assignment.
        name: The attribute.
        value: What is assigned.
    """

    owner: ast.ClassDef
    method: ast.FunctionDef
    statement: ast.Assign
    name: str
    value: ast.expr


class Source:
    """A file of a package.

    Args:
        path: The file, in the folder of the packages.
        text: What is in it.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    @cached_property
    def nnx(self) -> str:
        """The name under which the file imports the runtime; empty where it does not."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found = [each.asname for each in node.names if each.name in NNX_MODULES]
            elif isinstance(node, ast.ImportFrom) and node.module == "flax":
                found = [each.asname or each.name for each in node.names if each.name == "nnx"]
            else:
                continue
            if found and found[0]:
                return found[0]
        return ""

    def imports(self, line: str) -> bool:
        """Tell whether the file has an import statement at its top, as it is spelled."""
        return any(
            isinstance(node, ast.Import | ast.ImportFrom) and ast.unparse(node) == line
            for node in self.tree.body
        )

    # -- what there is ------------------------------------------------------------------------

    def walk(self) -> Iterator[ast.AST]:
        """Yield all nodes."""
        return ast.walk(self.tree)

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """Yield the calls of functions by their spelling; ``nnx.`` is whatever the file calls it."""
        wanted = {
            f"{self.nnx}.{each.removeprefix('nnx.')}" if each.startswith("nnx.") else each
            for each in names
        }
        for node in self.walk():
            if isinstance(node, ast.Call) and ast.unparse(node.func) in wanted:
                yield node

    def of_nnx(self, node: ast.AST | None) -> str:
        """Return the name after ``nnx.``, or nothing."""
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == self.nnx
        ):
            return node.attr
        return ""

    @cached_property
    def models(self) -> list[ast.ClassDef]:
        """The classes at the top of the file whose bases are all known to be Modules."""
        known: dict[str, ast.ClassDef] = {}
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and self._is_model(node, known):
                known[node.name] = node
        return list(known.values())

    def _is_model(self, node: ast.ClassDef, known: dict[str, ast.ClassDef]) -> bool:
        if node.decorator_list or node.keywords or not node.bases:
            return False
        return all(
            self.of_nnx(base) in BASES or (isinstance(base, ast.Name) and base.id in known)
            for base in node.bases
        )

    @cached_property
    def attributes(self) -> list[Attribute]:
        """The attributes that the models' ``__init__`` set once, at its top level."""
        found: list[Attribute] = []
        for owner in self.models:
            for method in owner.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    found += self._set_in(owner, method)
        return found

    def _set_in(self, owner: ast.ClassDef, method: ast.FunctionDef) -> Iterator[Attribute]:
        every = [_target(each) for each in ast.walk(method) if isinstance(each, ast.Assign)]
        for statement in method.body:
            name = _target(statement) if isinstance(statement, ast.Assign) else ""
            if every.count(name) == 1 and ast.unparse(owner).count(f"self.{name} =") == 1:
                assert isinstance(statement, ast.Assign)
                yield Attribute(owner, method, statement, name, statement.value)

    def made(self, value: ast.expr) -> str:
        """Return which layer or Variable of NNX an expression makes, or nothing."""
        name = self.of_nnx(value.func) if isinstance(value, ast.Call) else ""
        return name if name in LAYERS | VARIABLES else ""

    # -- scopes -------------------------------------------------------------------------------

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.walk() for child in ast.iter_child_nodes(node)}

    def scope_of(self, node: ast.AST) -> ast.AST | None:
        """Return the function around a node; None at the top of the file."""
        found = self._parents.get(node)
        while found is not None and not isinstance(found, SCOPES):
            found = self._parents.get(found)
        return found

    def bound(self, scope: ast.AST, name: str) -> list[ast.AST]:
        """Return what binds a name in a function or file: definitions, targets, parameters."""
        inside = scope if isinstance(scope, SCOPES) else None
        return [
            node for node in ast.walk(scope) if _binds(node, name) and self.scope_of(node) is inside
        ]

    # -- changing it --------------------------------------------------------------------------

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Return where a node starts and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._offset(node.lineno, node.col_offset)
        return start, self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        """Return an offset in the text; `ast` counts columns in bytes."""
        start, end = self._starts[line - 1], self._starts[line]
        return start + len(self.text[start:end].encode()[:column].decode())

    def replaced(self, node: ast.expr | ast.stmt | ast.keyword, text: str) -> Edit:
        """Return the edit that puts text in the place of a node."""
        return Edit(*self.span(node), text)

    def after(self, statement: ast.stmt, lines: Sequence[str]) -> Edit:
        """Return the edit that puts statements behind one that starts its own line."""
        indent = " " * statement.col_offset
        end = self.span(statement)[1]
        return Edit(end, end, "".join(f"\n{indent}{line}" for line in lines))

    def mutant(self, code: str, planter: str, edit: Edit, around: ast.AST | None = None) -> Mutant:
        """Return the file with an edit.

        Args:
            code: The error code that is expected.
            planter: What is planted, in words.
            edit: The change.
            around: The node in whose lines the error is reported; by default the new text's.
        """
        text = self.text[: edit.start] + edit.text + self.text[edit.end :]
        first = self.text.count("\n", 0, edit.start) + 1
        last = first + edit.text.count("\n")
        if around is not None:
            grown = edit.text.count("\n") - self.text.count("\n", edit.start, edit.end)
            first = min(first, getattr(around, "lineno", first))
            last = max(last, (getattr(around, "end_lineno", None) or last) + grown)
        return Mutant(code, planter, self.path, text, (first, last))


def _binds(node: ast.AST, name: str) -> bool:
    match node:
        case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
            return node.name == name
        case ast.Name():
            return node.id == name and isinstance(node.ctx, ast.Store)
        case ast.arg():
            return node.arg == name
        case ast.alias():
            return (node.asname or node.name) == name
        case _:
            return False


def _target(statement: ast.Assign) -> str:
    target = statement.targets[0] if len(statement.targets) == 1 else None
    if (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    ):
        return target.attr
    return ""
