"""What mypy's symbol tables say about classes: which there are, and their base classes."""

from __future__ import annotations

from collections.abc import Iterator

from mypy.lookup import lookup_fully_qualified
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import MypyFile, SymbolNode, SymbolTable, TypeAlias, TypeInfo
from mypy.types import Instance, get_proper_type
from mypy.typevars import fill_typevars

from typed_nnx_codegen.model_stubs.models import Named, Type
from typed_nnx_codegen.model_stubs.reading.type_facts import (
    name_of,
    order_of,
    parameters_of,
    type_fact,
)


def classes_of(tree: MypyFile) -> list[TypeInfo]:
    """Return the classes of a file, those in other classes too, in the order of their names."""
    return list(_classes_in(tree.names, tree.fullname))


def _classes_in(names: SymbolTable, above: str) -> Iterator[TypeInfo]:
    for name, symbol in sorted(names.items()):
        node = symbol.node
        # The name of one in a function has an "@"; any other is that of an alias.
        if isinstance(node, TypeInfo) and node.fullname == f"{above}.{name}" and "@" not in name:
            yield node
            yield from _classes_in(node.names, node.fullname)


def as_base(info: TypeInfo, base: TypeInfo) -> dict[str, Type]:
    """Return the type arguments that a class gives to a base class, by its type parameters."""
    parameters = frozenset(parameters_of(info))
    mapped = map_instance_to_supertype(instance_of(info), base)
    arguments = (type_fact(each, parameters) for each in mapped.args)
    return dict(zip(parameters_of(base), arguments, strict=False))


def instance_of(info: TypeInfo) -> Instance:
    """Return the type of the objects of a class, with its type parameters."""
    own = fill_typevars(info)
    return own if isinstance(own, Instance) else own.partial_fallback


def bases(info: TypeInfo) -> list[Named]:
    """Return the base classes in the order of the MRO, with arguments in terms of the class."""
    return [Named(name_of(base), tuple(as_base(info, base).values())) for base in info.mro[1:]]


class Symbols:
    """Finds classes in mypy's modules."""

    def __init__(self, modules: dict[str, MypyFile]) -> None:
        self._modules = modules

    def find(self, name: str) -> TypeInfo | None:
        """Return the class of a name, ``module:qualified.name``."""
        symbol = lookup_fully_qualified(name.replace(":", "."), self._modules)
        return symbol.node if symbol is not None and isinstance(symbol.node, TypeInfo) else None

    def classes(self, module: str) -> list[TypeInfo]:
        """Return the classes of a module that was read, in the order of the source."""
        tree = self._modules.get(module)
        return [] if tree is None else sorted(classes_of(tree), key=order_of)

    def exported(self, module: str, name: str) -> str | None:
        """Return the name inside of a class that a module offers under a public name."""
        tree = self._modules.get(module)
        if tree is None or name not in tree.names:
            return None
        info = _class_of(tree.names[name].node)
        return None if info is None else name_of(info)


def _class_of(node: SymbolNode | None) -> TypeInfo | None:
    if isinstance(node, TypeAlias) and not node.alias_tvars:
        target = get_proper_type(node.target)
        return target.type if isinstance(target, Instance) else None
    return node if isinstance(node, TypeInfo) else None
