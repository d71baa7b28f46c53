"""Names of submodules in strings of callers: `params["Dense_0"]` is another one in NNX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import text_of
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.callers.caller_plan import CallerPlan
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.marker_codes import NAME
from typed_nnx_codegen.migrate.linen.modules.classes import LINEN
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Entry, Mark
from typed_nnx_codegen.migrate.linen.writing.replacing import code_with

_COLLECTIONS: Final = frozenset({"params", "batch_stats", "cache", "intermediates"})
_AUTO: Final = re.compile(r"([A-Z]\w*)_(\d+|\{\w+\})")
_VARIABLE: Final = re.compile(r"\{(\w+)\}")
_WORD: Final = re.compile(r"[A-Za-z]\w*")


class PathNames:
    """Where the variables of Linen are in the new models, by path.

    Args:
        plans: What becomes of the modules of a project.
    """

    def __init__(self, plans: Iterable[ClassPlan]) -> None:
        self._paths: list[tuple[list[str], list[tuple[str, ...]]]] = []
        self._changed: set[str] = set()
        for plan in plans:
            for entry in plan.entries:
                if not plan.stays:
                    self._read(entry)

    def new(self, keys: Sequence[str]) -> list[str] | None:
        """Return the keys of a path as they are now; None where that is not sure."""
        first = [keys[0]] if keys[0] in _COLLECTIONS else []
        rest = keys[len(first) :]
        found = {
            translated
            for old, new in self._paths
            if (translated := _translated(rest, old, new)) is not None
        }
        return [*first, *found.pop()] if len(found) == 1 else None

    def is_old(self, text: str) -> bool:
        """Whether a string names a submodule of Linen by its class."""
        for word in _WORD.findall(text):
            if word in self._changed:
                return True
            match = _AUTO.fullmatch(word)
            if match is not None and f"{match[1]}_" in self._changed:
                return True
        return False

    def _read(self, entry: Entry) -> None:
        if entry.to is None:
            return
        old = entry.linen.split("/")
        old = old[1:] if old[0] in _COLLECTIONS and len(old) > 1 else old
        for part in old:
            match = _AUTO.fullmatch(part)
            if match is not None:
                self._changed.add(f"{match[1]}_")
                if find_layer(f"{LINEN}.{match[1]}") is not None:
                    self._changed.add(match[1])
        new = _aligned(old, entry.to.split("."))
        if new is not None:
            self._paths.append((old, new))


def _aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, ...]] | None:
    """Return the new parts of each part of a path; None where that is not sure."""
    found: list[tuple[str, ...]] = []
    place = 0
    for part in old:
        if place >= len(new):
            return None
        take = 1
        for name in _VARIABLE.findall(part):
            is_next = place + 1 < len(new) and new[place + 1] == f"{{{name}}}"
            if f"{{{name}}}" not in new[place] and is_next:
                take = 2
        found.append(tuple(new[place : place + take]))
        place += take
    return found if place == len(new) else None


def _translated(
    keys: Sequence[str], old: Sequence[str], new: Sequence[tuple[str, ...]]
) -> tuple[str, ...] | None:
    if len(keys) > len(old):
        return None
    found: list[str] = []
    for key, part, parts in zip(keys, old, new, strict=False):
        pattern = _VARIABLE.sub(r"(?P<\1>\\d+)", part)
        match = re.fullmatch(pattern, key)
        if match is None:
            return None
        for each in parts:
            for name, value in match.groupdict().items():
                each = each.replace(f"{{{name}}}", value)
            found.append(each)
    return None if any("{" in each for each in found) else tuple(found)


def write_path_names(
    file: File, constructions: Constructions, names: PathNames, plan: CallerPlan
) -> None:
    """Write the keys of parameters as they are now; mark other strings that name submodules.

    Args:
        file: The file.
        constructions: What the callers of the project do.
        names: Where variables are now.
        plan: What is written.
    """
    places = constructions.places(file.analysis)
    done: set[cst.CSTNode] = set()
    for subscript in file.analysis.nodes.of(cst.Subscript):
        if subscript in places and not isinstance(places.parent(subscript), cst.Subscript):
            done |= _write_chain(subscript, places, names, plan)
    for node in file.analysis.nodes.of(cst.SimpleString):
        text = text_of(node)
        if node in done or node not in places or text is None or not names.is_old(text):
            continue
        if not isinstance(places.parent(node), cst.Expr):
            message = f"`{text}` may name a submodule, which has another name now"
            plan.marks.append(Mark(node, message, NAME))


def _write_chain(
    subscript: cst.Subscript, places: Places, names: PathNames, plan: CallerPlan
) -> set[cst.CSTNode]:
    """Write `params["Dense_0"]["kernel"]`; return the strings that need no more."""
    strings: list[cst.BaseExpression] = []
    current: cst.BaseExpression = subscript
    while isinstance(current, cst.Subscript):
        key = _key(current)
        if key is None:
            return set()
        strings.append(key)
        current = current.value
    strings.reverse()
    keys = [text_of(one) or "" for one in strings]
    if not any(map(names.is_old, keys)):
        return set()
    new = names.new(keys)
    is_written = any(one in plan.code for one in (subscript, *places.around(subscript)))
    if new is None or is_written:
        return set()
    base = code_with(current, plan.code)
    plan.code[subscript] = base + "".join(f'["{key}"]' for key in new)
    return set(strings)


def _key(node: cst.Subscript) -> cst.BaseExpression | None:
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return None
    value = node.slice[0].slice.value
    return value if text_of(value) is not None else None
