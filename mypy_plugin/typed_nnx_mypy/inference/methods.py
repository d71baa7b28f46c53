"""What mypy takes for something else: static methods of transforms, empty containers as data."""

from __future__ import annotations

from mypy.nodes import Decorator, TypeInfo
from mypy.plugin import AttributeContext
from mypy.types import AnyType, Instance, Type, get_proper_type

from typed_nnx_codegen.facts.names import runtime_of
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.registry import infers


def is_static_transform(info: TypeInfo, name: str) -> bool:
    """Tell whether an attribute of a class is a static method that a runtime's object makes."""
    return _transform(info, name) is not None


def static_transform(context: AttributeContext) -> Type:
    """Return what a transform made: mypy binds it to the object, as a method without the mark."""
    owner, name = get_proper_type(context.type), getattr(context.context, "name", "")
    found = _transform(owner.type, name) if isinstance(owner, Instance) else None
    return found if found is not None else context.default_attr_type


def _transform(info: TypeInfo, name: str) -> Instance | None:
    symbol = info.get(name)
    node = symbol.node if symbol is not None else None
    if not isinstance(node, Decorator) or not node.func.is_static:
        return None
    found = get_proper_type(node.var.type)
    is_made = isinstance(found, Instance) and bool(runtime_of(found.type.fullname))
    return found if is_made and isinstance(found, Instance) else None


@infers("data")
def declared_container(call: Call) -> Type | None:
    """Return what an attribute is declared as, of ``self.x: list[int] = nnx.data([])``.

    Without a declaration an empty container does not say what the attribute will hold.
    """
    expected = call.checker.expected_type
    is_open = isinstance(get_proper_type(call.result), AnyType)
    return expected if is_open and len(call.positional) == 1 else None
