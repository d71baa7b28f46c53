"""Lists and dicts of submodules and arrays: what functions and methods make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.linen.lists.container_changes import changed_by, rebind
from typed_nnx_codegen.migrate.linen.lists.grown_lists import with_part
from typed_nnx_codegen.migrate.linen.lists.size_lists import SizedList
from typed_nnx_codegen.migrate.linen.lists.sized_lists import SizedLists
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.iteration import (
    as_key,
    element_of,
)
from typed_nnx_codegen.migrate.linen.running.merging import Merging
from typed_nnx_codegen.migrate.linen.running.passed import Passed
from typed_nnx_codegen.migrate.linen.running.references import (
    BoundMethod,
    Grown,
    Headed,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.running.values import (
    NONE,
    UNKNOWN,
    Const,
    Position,
    Seq,
    Table,
    Value,
)


class HeldItems:
    """Goes through calls on lists and dicts.

    Args:
        sized_lists: Goes through lists of arrays whose sizes are known.
        merging: Joins values.
    """

    def __init__(
        self,
        sized_lists: SizedLists,
        merging: Merging,
    ) -> None:
        self._sized_lists = sized_lists
        self._merging = merging

    def over_values(
        self, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value | None:
        """Return what `zip`, `enumerate` and `reversed` make of lists with submodules; else None."""
        del keywords
        if not any(isinstance(arg, Repeated) for arg in args):
            return None
        repeated = next(arg for arg in args if isinstance(arg, Repeated))
        elements = tuple(element_of(arg)[0] for arg in args)
        if name == "builtins.zip":
            return Repeated(Seq(elements), repeated.loop, also=repeated.also)
        if name == "builtins.enumerate":
            loop = repeated.loop
            number = UNKNOWN if loop is None or len(args) > 1 else Position("", loop)
            return Repeated(Seq((number, elements[0])), loop, also=repeated.also)
        if name in ("builtins.list", "builtins.tuple") and isinstance(repeated, Headed):
            return repeated
        if name in ("builtins.reversed", "builtins.list", "builtins.tuple", "builtins.iter"):
            return Repeated(elements[0], repeated.loop if name != "builtins.reversed" else None)
        return None

    def container_method(
        self, callee: BoundMethod, passed: Sequence[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what a method of a list or dict returns; lists in local names change."""
        receiver = callee.receiver
        values = [one.value for one in passed]
        if isinstance(receiver, SizedList):
            found = self._sized_lists.method(receiver, callee.name, node, frame)
            if found is not None:
                return found
            receiver = Repeated(receiver.element)
        match callee.name, receiver:
            case ("append", Seq(items=items)) if len(values) == 1:
                self._rebind(node, Seq((*items, *values), is_list=True), frame)
                return NONE
            case ("append", Grown()) if len(values) == 1:
                self._rebind(node, with_part(receiver, *values), frame)
                return NONE
            case ("extend", Grown()) if isinstance(values[0], Seq):
                self._rebind(node, with_part(receiver, *values[0].items), frame)
                return NONE
            case ("append", Repeated(element=element)) if len(values) == 1:
                joined = self._merging.joined(element, values[0], frame)
                self._rebind(node, replace(receiver, element=joined), frame)
                return NONE
            case ("pop", Seq(items=items)) if items and not values:
                self._rebind(node, Seq(items[:-1], is_list=True), frame)
                return items[-1]
            case ("pop", Repeated(element=element)):
                return element
            case ("items", Table(items=table)):
                return Seq(tuple(Seq((as_key(key), value)) for key, value in table.items()))
            case ("values", Table(items=table)):
                return Seq(tuple(table.values()))
            case ("keys", Table(items=table)):
                return Seq(tuple(as_key(key) for key in table))
            case ("get", Table(items=table)) if values and isinstance(values[0], Const):
                return table.get(values[0].value, values[1] if len(values) > 1 else NONE)
            case ("items", Repeated(element=element)):
                return Repeated(Seq((UNKNOWN, element)), receiver.loop)
            case ("values", Repeated()):
                return receiver
            case ("copy", Seq() | Table(cls=None)):
                return replace(receiver)
        keywords = {one.keyword: one.value for one in passed if one.keyword}
        is_open = any(one.star for one in passed)
        args = [one.value for one in passed if not one.keyword]
        changed = changed_by(receiver, callee.name, args, keywords)
        if changed is None:
            return UNKNOWN
        rebind(receiver, UNKNOWN if is_open else changed[0], frame)
        return changed[1]

    @staticmethod
    def _rebind(node: cst.Call, value: Value, frame: Frame) -> None:
        match node.func:
            case cst.Attribute(value=cst.Name(value=name)) if name in frame.names:
                frame.names[name] = value
