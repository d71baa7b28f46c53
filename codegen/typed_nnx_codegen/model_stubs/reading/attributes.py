"""The attributes of a class with those of its base classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mypy.nodes import TypeInfo

from typed_nnx_codegen.model_stubs.models import Named, Parameter, Tuple, Type, Union, Unknown
from typed_nnx_codegen.model_stubs.reading.facts import AttributeFacts, ClassFacts
from typed_nnx_codegen.model_stubs.reading.type_facts import united


@dataclass(frozen=True)
class Found:
    """An attribute, with all that the classes said about it so far.

    Attributes:
        name: Its name.
        type: Its type, in facts.
        line: Where the last class speaks of it first.
        mark: ``data``, ``static`` or nothing.
        owner: The class that spoke last.
        is_declared: Whether the type is that of an annotation.
    """

    name: str
    type: Type
    line: int
    mark: str
    owner: TypeInfo
    is_declared: bool


def substitute(found: Type, arguments: Mapping[str, Type]) -> Type:
    """Return a type with type arguments in the place of type parameters."""
    match found:
        case Parameter(name):
            return arguments.get(name, found)
        case Named(name, own):
            return Named(name, tuple(substitute(each, arguments) for each in own))
        case Union(items):
            return united(substitute(each, arguments) for each in items)
        case Tuple(items):
            return Tuple(tuple(substitute(each, arguments) for each in items))
        case _:
            return found


class Inherited:
    """Collects attributes from the farthest base class to the class itself."""

    def __init__(self) -> None:
        self._found: dict[str, Found] = {}

    def take(self, facts: ClassFacts, owner: TypeInfo, arguments: Mapping[str, Type]) -> None:
        """Take in what a class says.

        Args:
            facts: What it says.
            owner: The class.
            arguments: Its type arguments as a base class, by type parameter.
        """
        for fact in facts.attributes:
            before = self._found.get(fact.name)
            said = self._said(fact, owner, arguments)
            self._found[fact.name] = said if before is None else _together(before, said, fact)

    @staticmethod
    def _said(fact: AttributeFacts, owner: TypeInfo, arguments: Mapping[str, Type]) -> Found:
        types = fact.assigned if fact.declared is None else (fact.declared,)
        found = united(substitute(each, arguments) for each in types)
        if not types:
            found = Unknown("nothing is assigned to it")
        is_declared = fact.declared is not None
        return Found(fact.name, found, fact.line, fact.mark, owner, is_declared)

    def all(self) -> list[Found]:
        """Return the attributes, inherited ones first."""
        return list(self._found.values())


def _together(before: Found, said: Found, fact: AttributeFacts) -> Found:
    """Return an attribute of a base class after a class said something about it, too."""
    mark = said.mark or before.mark
    if said.is_declared or (fact.direct and not before.is_declared):
        return replace(said, mark=mark)
    if before.is_declared:
        return replace(before, mark=mark)
    return replace(said, mark=mark, type=united((before.type, said.type)))
