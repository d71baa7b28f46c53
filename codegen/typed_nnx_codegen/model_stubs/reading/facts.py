"""What a module says by itself about the attributes of its classes, and how that is written down.

Facts are what must be remembered of a module: they come from the bodies of its methods, which
mypy does not keep. All else (base classes, library classes) mypy keeps itself.

Names in facts are those of the defining module (``jax._src.basearray:Array``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from typed_nnx_codegen.model_stubs.models import (
    Absent,
    Named,
    Parameter,
    Static,
    Tuple,
    Type,
    Union,
    Unknown,
)

Json: TypeAlias = Any  # what `json` gives is not known to be of any type


@dataclass(frozen=True)
class AttributeFacts:
    """What one class says about one attribute.

    Attributes:
        name: Its name.
        line: The first line that says something.
        declared: The type of its annotation.
        assigned: The types of what is assigned to it.
        mark: ``data``, ``static`` or nothing.
        direct: Whether ``__init__`` assigns it in any case, so that what a base class assigned
            is gone.
    """

    name: str
    line: int
    declared: Type | None = None
    assigned: tuple[Type, ...] = ()
    mark: str = ""
    direct: bool = False


@dataclass(frozen=True)
class ClassFacts:
    """What the body of a class says.

    Attributes:
        line: The line of the class.
        attributes: In the order of the source.
        plain: Whether it says ``pytree=False``.
        is_open: Whether its methods make attributes by names that they compute or pass on.
    """

    line: int
    attributes: tuple[AttributeFacts, ...] = ()
    plain: bool = False
    is_open: bool = False


ModuleFacts: TypeAlias = dict[str, ClassFacts]
"""The classes of a module by their qualified name, in the order of the source."""


def type_to_json(found: Type) -> Json:
    """Return a type as lists and texts."""
    match found:
        case Named(name, arguments):
            return ["named", name, *map(type_to_json, arguments)]
        case Union(items):
            return ["union", *map(type_to_json, items)]
        case Tuple(items):
            return ["tuple", *map(type_to_json, items)]
        case Parameter(name):
            return ["parameter", name]
        case Static(text):
            return ["static", text]
        case Unknown(reason):
            return ["unknown", reason]
        case Absent():
            return ["absent"]


def type_from_json(data: Json) -> Type:  # one line per type
    """Return the type that `type_to_json` wrote.

    Raises:
        ValueError: It did not write this.
    """
    match data:
        case ["named", str(name), *arguments]:
            return Named(name, tuple(map(type_from_json, arguments)))
        case ["union", *items]:
            return Union(tuple(map(type_from_json, items)))
        case ["tuple", *items]:
            return Tuple(tuple(map(type_from_json, items)))
        case ["parameter", str(name)]:
            return Parameter(name)
        case ["static", str(text)]:
            return Static(text)
        case ["unknown", str(reason)]:
            return Unknown(reason)
        case ["absent"]:
            return Absent()
    raise ValueError(f"no type: {data!r}")


def _attribute_to_json(fact: AttributeFacts) -> Json:
    declared = None if fact.declared is None else type_to_json(fact.declared)
    assigned = [type_to_json(each) for each in fact.assigned]
    return [fact.name, fact.line, declared, assigned, fact.mark, fact.direct]


def _attribute_from_json(data: Json) -> AttributeFacts:
    name, line, declared, assigned, mark, direct = data
    return AttributeFacts(
        name,
        line,
        None if declared is None else type_from_json(declared),
        tuple(map(type_from_json, assigned)),
        mark,
        direct,
    )


def facts_to_json(facts: ModuleFacts) -> Json:
    """Return the facts of a module as lists and texts."""
    return {name: _class_to_json(each) for name, each in facts.items()}


def _class_to_json(facts: ClassFacts) -> Json:
    attributes = [_attribute_to_json(fact) for fact in facts.attributes]
    return [facts.line, attributes, facts.plain, facts.is_open]


def facts_from_json(data: Json) -> ModuleFacts:
    """Return the facts that `facts_to_json` wrote.

    Raises:
        ValueError, TypeError, AttributeError: It did not write this.
    """
    return {
        name: ClassFacts(line, tuple(map(_attribute_from_json, attributes)), plain, is_open)
        for name, (line, attributes, plain, is_open) in data.items()
    }
