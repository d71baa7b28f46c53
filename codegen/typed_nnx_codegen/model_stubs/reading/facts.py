"""What mypy does not keep of a class by itself: the types of all that is assigned to an attribute.

For an attribute without an annotation mypy has one type, that of its first assignment, and of a
mixed list of layers it says that they are Modules. The types found here are kept in the metadata of
the class, so in mypy's cache, and hold exactly as long as that does. All else that a class says of
its attributes is what the plugin finds: `typed_nnx_mypy.models.fields`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, TypeAlias

from mypy.nodes import TypeInfo

from typed_nnx_codegen.model_stubs import models
from typed_nnx_codegen.model_stubs.models import Type

Json: TypeAlias = Any  # what mypy's cache gives is not known to be of any type

_KEY: Final = "typed_nnx_assigned"


def keep(info: TypeInfo, order: int, types: Mapping[str, Type]) -> None:
    """Keep the types of what a class assigns to its attributes.

    Args:
        info: The class.
        order: Its place among the classes of the file. No line: other files would be checked anew
            whenever one is added above.
        types: The types, by the names of the attributes.
    """
    found = {name: _to_json(each) for name, each in types.items()}
    info.metadata[_KEY] = {"order": order, "types": found}


def order_of(info: TypeInfo) -> int:
    """Return the place of a class among those of its file."""
    order: int = info.metadata.get(_KEY, {}).get("order", 0)
    return order


def assigned_to(info: TypeInfo, name: str) -> Type | None:
    """Return the type of all that a class assigns to an attribute; None where it assigns nothing."""
    found = info.metadata.get(_KEY, {}).get("types", {}).get(name)
    return None if found is None else _from_json(found)


def _to_json(found: Type) -> Json:
    """Return a type as lists and texts."""
    values = [getattr(found, each.name) for each in fields(found)]
    return [
        type(found).__name__,
        *(list(map(_to_json, each)) if isinstance(each, tuple) else each for each in values),
    ]


def _from_json(data: Json) -> Type:
    kind, *values = data
    found: Type = getattr(models, kind)(
        *(tuple(map(_from_json, each)) if isinstance(each, list) else each for each in values)
    )
    return found
