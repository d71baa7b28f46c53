"""The attributes of a class: as the plugin finds them, with more precise types."""

from __future__ import annotations

from collections.abc import Mapping

from mypy.nodes import TypeInfo, Var

from typed_nnx_codegen.model_stubs.models import Named, Parameter, Tuple, Type, Union
from typed_nnx_codegen.model_stubs.reading.facts import assigned_to
from typed_nnx_codegen.model_stubs.reading.symbols import as_base
from typed_nnx_codegen.model_stubs.reading.type_facts import (
    NOTHING,
    parameters_of,
    type_fact,
    united,
)
from typed_nnx_mypy.models.fields import Field
from typed_nnx_mypy.models.marks import marks_of


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


def type_of_field(field: Field, info: TypeInfo) -> Type:
    """Return the type of an attribute: as declared, or of all that the classes assign to it."""
    found = type_fact(field.type, frozenset(parameters_of(info))) if field.is_ready else NOTHING
    node = field.owner.names[field.name].node
    if isinstance(node, Var) and (node.explicit_self_type or not node.is_inferred):
        return found
    lowest = info.mro.index(field.owner)
    for base in info.mro[lowest::-1]:
        said = assigned_to(base, field.name)
        if said is not None:
            said = substitute(said, as_base(info, base))
            is_new = base is field.owner or _is_always_assigned(base, field.name)
            found = said if is_new else united((found, said))
    return found


def _is_always_assigned(base: TypeInfo, name: str) -> bool:
    """Tell whether ``__init__`` assigns an attribute in any case, so that an earlier value is gone."""
    marks = marks_of(base)
    said = marks.attributes.get(name) if marks is not None else None
    return said is not None and said.is_always
