"""What calls of Python's own functions give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from typed_nnx_codegen.migrate.analysis.members import element_of
from typed_nnx_codegen.migrate.analysis.values import (
    NOTHING,
    UNKNOWN,
    Collection,
    Instance,
    Plain,
    ProjectClass,
    Scope,
    Value,
    collection,
)

_PLAIN: Final = {
    "bool": "bool",
    "float": "float",
    "hash": "int",
    "id": "int",
    "int": "int",
    "isinstance": "bool",
    "issubclass": "bool",
    "len": "int",
    "repr": "str",
    "str": "str",
}
_SAME_ITEMS: Final = {
    "filter": (1, "list"),
    "iter": (0, "list"),
    "list": (0, "list"),
    "reversed": (0, "list"),
    "set": (0, "set"),
    "sorted": (0, "list"),
    "tuple": (0, "tuple"),
}


def builtin_result(
    name: str, values: Sequence[Value], scope: Scope, named: Mapping[str, Value]
) -> Value:
    """Return what a call of a function of Python gives.

    Args:
        name: The function.
        values: The arguments by position.
        scope: The scope of the call.
        named: The arguments by keyword; those that are unpacked have an empty one.
    """
    if name in _PLAIN:
        return Plain(_PLAIN[name])
    if name in _SAME_ITEMS:
        return _same_items(name, values)
    match name, list(values):
        case "range", _:
            return Collection("list", None, Plain("int"))
        case "enumerate", [items, *_]:
            pair = Collection("tuple", (Plain("int"), element_of(items)), UNKNOWN)
            return Collection("list", None, pair)
        case "zip", _:
            pair = Collection("tuple", tuple(element_of(value) for value in values), UNKNOWN)
            return Collection("list", None, pair)
        case "next", [items, *_]:
            return element_of(items)
        case "dict", [] if "" not in named:
            return collection("dict", named.values(), tuple(named))
        case "dict", [Collection() as items]:
            return items if items.kind == "dict" else UNKNOWN
        case "super", []:
            return _super(scope)
        case "type", [Instance(cls=ProjectClass() as cls)]:
            return cls
        case _:
            return UNKNOWN


def _same_items(name: str, values: Sequence[Value]) -> Value:
    position, kind = _SAME_ITEMS[name]
    if not values:
        return Collection(kind, (), NOTHING)
    if len(values) <= position:
        return UNKNOWN
    items = values[position]
    known = items.items if isinstance(items, Collection) and items.kind != "dict" else None
    if name in {"filter", "reversed", "set", "sorted"}:
        known = None
    return Collection(kind, known, element_of(items))


def _super(scope: Scope) -> Value:
    """Return an object of the bases of the class around."""
    inner: Scope | None = scope
    while inner is not None and (inner.function is None or inner.function.owner is None):
        inner = inner.parent
    if inner is None or inner.function is None or inner.function.owner is None:
        return UNKNOWN
    owner = inner.function.owner
    above = ProjectClass(owner.name, owner.module, owner.node, owner.bases)
    return Instance(above)
