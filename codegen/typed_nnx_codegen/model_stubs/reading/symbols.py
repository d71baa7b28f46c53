"""What mypy's symbol tables say about classes: those of libraries, and base classes of all."""

from __future__ import annotations

from collections.abc import Mapping

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import MypyFile, SymbolNode, TypeAlias, TypeInfo, Var
from mypy.types import Instance, get_proper_type
from mypy.typevars import fill_typevars

from typed_nnx_codegen.model_stubs.models import Named
from typed_nnx_codegen.model_stubs.reading.facts import AttributeFacts, ClassFacts
from typed_nnx_codegen.model_stubs.reading.type_facts import name_of, parameters_of, type_fact

_NO_TYPE_OF_OBJECTS = frozenset({"__slots__", "__dict__", "__doc__", "__match_args__"})


def symbol_facts(info: TypeInfo) -> ClassFacts:
    """Return the facts that a symbol table has of a class; of several assignments, the first."""
    parameters = frozenset(parameters_of(info))
    is_dataclass = "dataclass" in info.metadata or "dataclass_tag" in info.metadata
    found = []
    # In the order of names: that of the source is lost in mypy's cache.
    for name, symbol in sorted(info.names.items()):
        node = symbol.node
        if not isinstance(node, Var) or not _is_attribute(node, is_dataclass):
            continue
        fact = type_fact(node.type, parameters)
        if node.is_inferred:
            found.append(AttributeFacts(name, 0, assigned=(fact,)))
        else:
            found.append(AttributeFacts(name, 0, declared=fact))
    return ClassFacts(0, tuple(found))


def _is_attribute(node: Var, is_dataclass: bool) -> bool:
    if node.is_classvar or node.is_property:
        return False
    if node.name in _NO_TYPE_OF_OBJECTS or node.name.startswith("__"):
        return False
    if not (node.is_initialized_in_class and node.has_explicit_value):
        return True
    return is_dataclass and not node.is_inferred  # else a value of the class


def bases(info: TypeInfo) -> list[Named]:
    """Return the base classes in the order of the MRO, with arguments in terms of the class."""
    own = fill_typevars(info)
    instance = own if isinstance(own, Instance) else own.partial_fallback
    parameters = frozenset(parameters_of(info))
    found = []
    for base in info.mro[1:]:
        mapped = map_instance_to_supertype(instance, base)
        arguments = tuple(type_fact(each, parameters) for each in mapped.args)
        found.append(Named(name_of(base), arguments))
    return found


class Symbols:
    """Finds classes in mypy's modules.

    Args:
        modules: The modules by name.
    """

    def __init__(self, modules: Mapping[str, MypyFile]) -> None:
        self._modules = modules

    def find(self, name: str) -> TypeInfo | None:
        """Return the class of a name, ``module:qualified.name``."""
        module, _, qualified = name.partition(":")
        tree = self._modules.get(module)
        names = tree.names if tree is not None else None
        node: SymbolNode | None = None
        for part in qualified.split("."):
            if names is None or part not in names:
                return None
            node = names[part].node
            names = node.names if isinstance(node, TypeInfo) else None
        return node if isinstance(node, TypeInfo) else None

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
