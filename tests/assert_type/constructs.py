"""What the case files have to show, and the lines of a case file that show it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.assert_type.marks import marks_of

Defined = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Construct:
    """A use of a name of `nnx`.

    Attributes:
        name: The name, called or as a decorator.
        positional: How many positional arguments the call has; None if that does not matter.
        keyword: An option that the call gives, as source; a prefix of it is enough.
        attribute: What is used of the result; "" if that does not matter.
    """

    name: str
    positional: int | None = None
    keyword: str = ""
    attribute: str = ""

    def __str__(self) -> str:
        words = [self.name, self.keyword, self.attribute and f".{self.attribute}"]
        if self.positional is not None:
            words.insert(1, f"{self.positional} arguments")
        return ", ".join(word for word in words if word)

    def is_used_by(self, node: ast.AST) -> bool:
        """Tell whether an expression itself, not a part of it, is such a use."""
        if self.positional is None and not self.keyword:
            return _is_name(node, self.name)
        return (
            isinstance(node, ast.Call)
            and _is_name(node.func, self.name)
            and self.positional in (None, len(node.args))
            and (not self.keyword or any(self._is_given(one) for one in node.keywords))
        )

    def _is_given(self, keyword: ast.keyword) -> bool:
        return f"{keyword.arg}={ast.unparse(keyword.value)}".startswith(self.keyword)


def _is_name(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == "nnx"
    )


GRADIENTS = ("grad", "value_and_grad")
PLAIN = (
    *("merge", "call", "clone", "view", "jit", "vmap", "pmap", "scan", "remat", "shard_map"),
    *("checkify", "cond", "switch", "while_loop", "fori_loop", "eval_shape", "custom_vjp"),
    *("vjp", "jvp", "cached_partial", "jit_partial", "split", "state", "pop", *GRADIENTS),
    *("Optimizer", "DiffState"),
)
# Wanted in a line that is right and in one that is wrong.
BOTH = (
    *(Construct(name) for name in PLAIN),
    *(Construct(name, keyword="has_aux=True") for name in GRADIENTS),
    *(Construct(name, keyword=f"argnums={n}") for name in GRADIENTS for n in (1, 2, 3)),
    *(Construct(name, keyword="argnums=(") for name in GRADIENTS),
    *(Construct(name, keyword="argnums=nnx.DiffState") for name in GRADIENTS),
    Construct("jit", attribute="lower"),
    Construct("jit", attribute="compile"),
    Construct("Optimizer", attribute="update"),
)
# Wanted in a line that is right: what repeats by the number of filters or arguments.
POSITIVE = (
    *(Construct("split", positional=1 + n) for n in range(7)),
    *(Construct("state", positional=1 + n) for n in range(7)),
    *(Construct("pop", positional=1 + n) for n in range(1, 7)),
    *(Construct("cached_partial", positional=1 + n) for n in range(1, 7)),
    *(Construct("jit_partial", positional=1 + n) for n in range(1, 7)),
    *(Construct(name, keyword="argnums=0") for name in GRADIENTS),
    *(
        Construct(name, keyword=f"argnums=({', '.join(map(str, numbers))})")
        for name in GRADIENTS
        for numbers in ((0, 1), (0, 2), (1, 2), (0, 1, 2), (0, 1, 2, 3))
    ),
)


def shown(construct: Construct, source: str) -> tuple[list[int], list[int]]:
    """Return the lines of a case file that show a construct right, and those that show it wrong.

    A line shows it that uses it, or a name that was assigned from it or decorated with it.
    """
    right: list[int] = []
    wrong: list[int] = []
    if f"nnx.{construct.name}" not in source:
        return right, wrong
    tree, wrong_lines = _read(source)
    everywhere = _made_with(construct, tree, in_functions=False)
    for block in tree.body:
        names = everywhere | _made_with(construct, block, in_functions=True)
        for first, last, parts in _lines(block):
            if not any(_shows(construct, names, part) for part in parts):
                continue
            marked = wrong_lines & set(range(first, last + 1))
            if marked:
                wrong += sorted(marked)
            elif any(_is_assertion(node) for part in parts for node in ast.walk(part)):
                right.append(first)
    return right, wrong


@cache
def _read(source: str) -> tuple[ast.Module, set[int]]:
    return ast.parse(source), {mark.line for mark in marks_of(source)}


def _lines(block: ast.stmt) -> Iterator[tuple[int, int, list[ast.expr]]]:
    """Yield the first and last line and the expressions of each statement without a body."""
    for node in ast.walk(block):
        if isinstance(node, Defined):
            for decorator in node.decorator_list:
                yield decorator.lineno, decorator.end_lineno or decorator.lineno, [decorator]
        elif isinstance(node, ast.stmt) and not hasattr(node, "body"):
            parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
            yield node.lineno, node.end_lineno or node.lineno, parts


def _made_with(construct: Construct, tree: ast.AST, *, in_functions: bool) -> set[str]:
    """Return the names that are assigned from the construct, decorated or annotated with it.

    Args:
        construct: What is looked for.
        tree: A file or a part of it.
        in_functions: Whether variables of functions count.
    """
    nodes = list(ast.walk(tree) if in_functions else _outside_functions(tree))
    names: set[str] = set()
    grown = True
    while grown:
        before = len(names)
        for node in nodes:
            if isinstance(node, Defined):
                if any(_uses(construct, names, one) for one in node.decorator_list):
                    names.add(node.name)
            elif isinstance(node, ast.Assign) and _uses(construct, names, node.value):
                names |= {one for target in node.targets for one in _targets(target)}
            elif isinstance(node, ast.arg) and node.annotation is not None:
                names |= {node.arg} if _uses(construct, names, node.annotation) else set()
        grown = len(names) > before
    return names


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a file but for variables of functions; attributes of objects count."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, ast.ClassDef):
            yield from _outside_functions(node)
        elif isinstance(node, ast.FunctionDef):
            yield from (
                one
                for one in ast.walk(node)
                if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Attribute)
            )


def _targets(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _uses(construct: Construct, names: set[str], expression: ast.expr) -> bool:
    return any(
        construct.is_used_by(node)
        or (isinstance(node, ast.Name) and node.id in names)
        or (isinstance(node, ast.Attribute) and node.attr in names)
        for node in ast.walk(expression)
    )


def _shows(construct: Construct, names: set[str], expression: ast.expr) -> bool:
    return _uses(construct, names, expression) and (
        not construct.attribute
        or any(
            isinstance(node, ast.Attribute) and node.attr == construct.attribute
            for node in ast.walk(expression)
        )
    )


def _is_assertion(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "assert_type"
