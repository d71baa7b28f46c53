"""What an editor shows of a State: its tree, for each expression of a file that is one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mypy.build import BuildResult
from mypy.nodes import ClassDef, Expression, TypeInfo
from mypy.types import Instance, Type, get_proper_type
from mypy.typevars import fill_typevars_with_any

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.fields import Model, model_of
from typed_nnx_codegen.facts.filters import Everything, Filter, Unknown, below, describe, passes
from typed_nnx_codegen.facts.kinds import options, short_name
from typed_nnx_codegen.facts.leaves import is_leaf, members_of
from typed_nnx_codegen.facts.marks import QUIET, opening_of
from typed_nnx_codegen.facts.names import runtime_of
from typed_nnx_codegen.facts.states import StateView, view_of

_DEEPEST: Final = 8
_MOST_LINES: Final = 60
_INDENT: Final = "  "


@dataclass(frozen=True)
class Hover:
    """What a State holds that an expression has as its value.

    Attributes:
        start: Where the expression begins: the line, from 1, and the column, from 0.
        end: The place behind it.
        text: The tree.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def hovers_in(result: BuildResult, module: str) -> list[Hover]:
    """Return what the States in a module hold; mypy must have kept its tree and types."""
    state = result.graph.get(module)
    if state is None or state.tree is None or not state.tree.defs:
        return []
    api = state.type_checker()
    trees = _Trees(Checker(api))
    found = []
    with api.tscope.module_scope(module):
        for node in descendants(state.tree):
            type_of = result.types.get(node) if isinstance(node, Expression) else None
            view = view_of(type_of) if type_of is not None else None
            if view is not None and node.end_line is not None:
                end = (node.end_line, node.end_column or 0)
                found.append(Hover((node.line, node.column), end, trees.of(view)))
    return found


def explained_at(result: BuildResult, module: str, line: int) -> list[Hover]:
    """Return what is known of the States and models in a line: what they hold, and what is open."""
    state = result.graph.get(module)
    if state is None or state.tree is None or not state.tree.defs:
        return []
    api = state.type_checker()
    checker = Checker(api)
    trees = _Trees(checker)
    found: dict[str, Hover] = {}
    with api.tscope.module_scope(module):
        for node in descendants(state.tree):
            if node.line != line or node.end_line is None:
                continue
            of: Type | None = None
            if isinstance(node, ClassDef):
                of = fill_typevars_with_any(node.info)
            elif isinstance(node, Expression):
                of = result.types.get(node)
            view = view_of(of) if of is not None else None
            proper = get_proper_type(of)
            if view is not None:
                text = "\n".join([trees.of(view), *_openings(view.model, checker)])
            elif isinstance(proper, Instance) and (model := model_of(proper, checker)) is not None:
                text = "\n".join([short_name(proper), *_fields(model), *_openings(proper, checker)])
            else:
                continue
            place = Hover((node.line, node.column), (node.end_line, node.end_column or 0), text)
            found.setdefault(text, place)
    return list(found.values())


def _fields(model: Model) -> Iterator[str]:
    """Yield a line for each attribute of a model."""
    for name, each in model.fields.items():
        sure = "" if each.is_always else ", not in each object"
        status = (
            "data or static, its type does not say" if each.status == "unknown" else each.status
        )
        yield f"{_INDENT}{name}: {short_name(each.type)}, {status}{sure}"


def _openings(found: Type, checker: Checker) -> Iterator[str]:
    """Yield why the classes of models, and of what is in them, are open; a line that none is."""
    seen: set[TypeInfo] = set()
    said: list[str] = []
    left: list[Type] = [found]
    while left:
        for part in options(left.pop())[0]:
            members = members_of(part, checker)
            if members is None or (isinstance(part, Instance) and part.type in seen):
                continue
            if isinstance(part, Instance):
                seen.add(part.type)
                said += _openings_of(part.type)
            left += [each.type for each in members.fields.values() if each.status != "static"]
            left += [members.other.type] if members.other is not None else []
    yield from said or [
        "closed: what it lacks is reported, unless this file gives it more (report_open)"
    ]


def _openings_of(info: TypeInfo) -> Iterator[str]:
    for base in info.mro:
        reason = "" if runtime_of(base.fullname) else opening_of(base)
        if reason and base.fullname != "builtins.object":
            of = info.name if base is info else f"{info.name}, by its base {base.name},"
            yield f"open: {of} has {reason}; {QUIET} do not report what it lacks"


class _Trees:
    """Writes what States hold.

    Args:
        checker: The type checker of the file.
    """

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._known: dict[tuple[str, Filter], str] = {}

    def of(self, view: StateView) -> str:
        """Return a line about the State and a line for each of its keys."""
        key = (str(view.model), view.filter)
        if key not in self._known:
            head = f"State of {short_name(view.model)}"
            if not isinstance(view.filter, Everything | Unknown):
                head += f", {describe(view.filter)}"
            lines = [head, *self._below(view.model, view.filter, 1)]
            if len(lines) > _MOST_LINES:
                lines[_MOST_LINES:] = [f"{_INDENT}..."]
            self._known[key] = "\n".join(lines)
        return self._known[key]

    def _below(self, model: Type, of: Filter, depth: int) -> Iterator[str]:
        for part in options(model)[0]:
            members = members_of(part, self._checker) if depth <= _DEEPEST else None
            if members is None:
                continue
            for key, member in members.fields.items():
                if member.status != "static":
                    yield from self._line(str(key), member.type, below(of, key), depth)
            if members.other is not None:
                name = "[int]" if members.other_key is int else "[str]"
                yield from self._line(
                    name, members.other.type, below(of, None, members.other_key), depth
                )

    def _line(self, name: str, found: Type, of: Filter, depth: int) -> Iterator[str]:
        """Yield the line of a key and those below it; none where the filter takes nothing there."""
        parts, is_optional = options(found)
        leaves = [each for each in parts if is_leaf(each)]
        lines = list(self._below(found, of, depth + 1))
        if not lines and not any(passes(of, each) is not False for each in leaves):
            return
        yield f"{_INDENT * depth}{name}: {short_name(found)}{' | None' * (is_optional and not parts)}"
        yield from lines
