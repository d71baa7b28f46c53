"""Whether objects of NNX hold random keys."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.analysis import nnx_classes
from typed_nnx_codegen.migrate.analysis.members import ancestry, nnx_name
from typed_nnx_codegen.migrate.analysis.values import (
    Array,
    Collection,
    Constant,
    Instance,
    Method,
    OneOf,
    Plain,
    ProjectClass,
    Value,
)

# Classes that say nothing of what their objects hold, and those that hold other objects.
_ANYTHING: Final = frozenset({"Module", "Object", "Pytree"})
_CONTAINERS: Final = frozenset({"Dict", "List", "Sequential"})
_KEYS: Final = "Rng"
_MOST_STEPS: Final = 4


def holds_keys(value: Value) -> bool | None:
    """Whether an object holds Rngs or a stream of keys; None where that is not sure."""
    return _holds(value, _MOST_STEPS)


def _holds(value: Value, depth: int) -> bool | None:
    match value:
        case OneOf():
            return _any([_holds(option, depth) for option in value.options])
        case Array() | Plain() | Constant() | Method():
            return False
        case Collection():
            items = value.items if value.items is not None else (value.element,)
            return _any([_holds(item, depth) for item in items])
        case Instance(cls=ProjectClass() as cls) if depth:
            return _of_project(cls, value, depth - 1)
        case Instance(cls=str() as name):
            return _of_nnx(nnx_name(name), value, depth)
        case _:
            return None


def _of_nnx(name: str, value: Instance, depth: int) -> bool | None:
    above = nnx_classes.mro(name)
    if name not in nnx_classes.CLASSES or name in _ANYTHING:
        return None
    if _CONTAINERS.intersection(above):
        return _holds(value.of, depth)
    if name.startswith(_KEYS):
        return True
    texts = [
        text
        for base in above
        if base in nnx_classes.CLASSES
        for text in nnx_classes.CLASSES[base].attributes.values()
    ]
    return any(_KEYS in text for text in texts)


def _of_project(cls: ProjectClass, value: Instance, depth: int) -> bool | None:
    found, is_complete = ancestry(cls)
    answers: list[bool | None] = [None] if not is_complete else []
    for base in found:
        if isinstance(base, ProjectClass):
            held = {**base.annotated, **base.attributes}.values()
            answers += [_holds(one, depth) for one in held]
        elif base not in _ANYTHING:
            answers.append(_of_nnx(base, value, depth))
    return _any(answers)


def _any(answers: list[bool | None]) -> bool | None:
    if True in answers:
        return True
    return None if None in answers else False
