"""What plain containers hold, as far as the analysis knows: what TN110 decides by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import ancestry, derives
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import (
    NOTHING,
    UNKNOWN,
    Array,
    Collection,
    Constant,
    Instance,
    Plain,
    ProjectClass,
    Value,
    options_of,
)

_CONTAINERS: Final = frozenset({"dict", "list", "tuple"})
# Keys that hide the methods of an `nnx.Dict`.
_TAKEN: Final = frozenset(
    {
        *("clear", "eval", "get", "items", "iter_children", "iter_modules", "keys", "perturb"),
        *("pop", "popitem", "set_attributes", "setdefault", "sow", "train", "update", "values"),
    }
)


def is_data(value: Value) -> bool | None:
    """Whether a value is data or holds some; None where that is not sure."""
    if value == UNKNOWN:
        return None
    answers = [_is_data(option) for option in options_of(value)]
    if any(answers):
        return True
    return None if None in answers else False


def _is_data(value: Value) -> bool | None:
    if isinstance(value, Array):
        return True
    if isinstance(value, Collection):
        return is_data(value.element) if value.kind in _CONTAINERS else False
    if isinstance(value, Instance):
        found = derives(value, "Pytree", "Variable", "State", "ArrayRef")
        if found:
            return True
        # An object of another package may be anything, and so may one that a decorator changes.
        is_ours = isinstance(value.cls, ProjectClass) and not value.cls.decorators
        return False if is_ours and found is False else None
    return None if value == UNKNOWN else False


def containers_in(value: Value) -> list[Collection]:
    """Return the plain containers that a value may be."""
    return [
        option
        for option in options_of(value)
        if isinstance(option, Collection) and option.kind in _CONTAINERS
    ]


def only_containers(value: Value, kind: str) -> bool:
    """Whether a value is surely a plain container of one kind."""
    found = containers_in(value)
    return len(found) == len(options_of(value)) and {each.kind for each in found} == {kind}


def holds_nodes_only(elements: Iterable[Value]) -> bool:
    """Whether Modules or Variables are among items, and neither containers nor unknown ones."""
    options = [option for element in elements for option in options_of(element)]
    known = [option for option in options if option != NOTHING]
    if any(isinstance(option, Collection) or option == UNKNOWN for option in known):
        return False
    return any(derives(option, "Pytree", "Variable") is True for option in known)


def holds_others_too(elements: Iterable[Value]) -> bool:
    """Whether something that is no Module and no Variable is among items."""
    options = [option for element in elements for option in options_of(element)]
    return any(
        option != NOTHING and derives(option, "Pytree", "Variable") is not True
        for option in options
    )


def are_names(keys: Iterable[Value]) -> bool:
    """Whether keys are surely texts that an `nnx.Dict` takes."""
    return all(
        isinstance(key.value, str) and key.value not in _TAKEN
        if isinstance(key, Constant)
        else key == Plain("str")
        for key in keys
    )


def takes_plain_containers(value: Value) -> bool:
    """Whether objects take plain containers as they are: those of a class that is no pytree."""
    return any(
        each.keyword is not None
        and each.keyword.value == "pytree"
        and isinstance(each.value, cst.Name)
        and each.value.value == "False"
        for cls in project_classes(value)
        for each in cls.node.keywords
    )


def project_classes(value: Value) -> list[ProjectClass]:
    """Return the classes of the project that objects are of, with those above them."""
    return [
        cls
        for option in options_of(value)
        if isinstance(option, Instance)
        for cls in ancestry(option.cls)[0]
        if isinstance(cls, ProjectClass)
    ]


def is_given_rngs(node: cst.BaseExpression) -> bool:
    """Whether an expression calls something with ``rngs=``, which gives a Module or an array."""
    return any(
        isinstance(below, cst.Call)
        and any(arg.keyword is not None and arg.keyword.value == "rngs" for arg in below.args)
        for below in descendants(node)
    )
