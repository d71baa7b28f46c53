"""Classes: where they are found, what they are for a State, and the names they are imported by."""

from __future__ import annotations

from collections.abc import Container

from mypy.nodes import MypyFile, SymbolNode, TypeAlias, TypeInfo
from mypy.types import Instance, get_proper_type
from mypy.typevars import fill_typevars

from typed_nnx_codegen.facts.assigned_types import classes_of, order_of
from typed_nnx_codegen.facts.fields import attributes_of
from typed_nnx_codegen.facts.kinds import is_rngs, kind_of_class, kind_of_plain, runtime_base
from typed_nnx_codegen.model_stubs.models import Kind

# Modules by whose names library classes are known to people, better than by their private ones.
_PUBLIC = ("jax", "jax.numpy", "numpy")

_SCALARS = frozenset(f"builtins.{name}" for name in ("int", "float", "bool", "complex"))


def name_of(info: TypeInfo) -> str:
    """Return the name of a class in the module that defines it."""
    return f"{info.module_name}:{info.fullname.removeprefix(info.module_name + '.')}"


def last(name: str) -> str:
    """Return the name of a type parameter without the module that it is written with."""
    return name.rpartition(".")[2]


def parameters_of(info: TypeInfo) -> tuple[str, ...]:
    """Return the names of the type parameters of a class."""
    return tuple(map(last, info.type_vars))


def instance_of(info: TypeInfo) -> Instance:
    """Return the type of the objects of a class, with its type parameters."""
    own = fill_typevars(info)
    return own if isinstance(own, Instance) else own.partial_fallback


def kind_of(info: TypeInfo) -> Kind | None:
    """Return what a class is for a State; None for what is nothing by itself."""
    # The streams of a Rngs are attributes that no source names.
    found = Kind.DICT if is_rngs(info) else kind_of_class(info)
    if found in (Kind.LIST, Kind.DICT) and attributes_of(instance_of(info)).fields:
        return Kind.PYTREE
    return found


def kind_of_value(info: TypeInfo) -> Kind:
    """Return what a class is that stands in the value of a Variable or in plain data."""
    return kind_of_plain(info) or Kind.ARRAY


def container_of(info: TypeInfo) -> TypeInfo:
    """Return the class of the runtime that a container is of: its List, Dict or Rngs."""
    found = runtime_base(info, "List", "Dict", "Rngs")
    assert found is not None  # it has that kind
    return found


def is_scalar(info: TypeInfo) -> bool:
    """Tell whether a class is that of numbers, which are leaves where marked as data."""
    return info.fullname in _SCALARS or info.module_name == "numpy"


class Classes:
    """Finds classes in mypy's modules.

    Args:
        modules: All modules that mypy has.
        runtime: The package that the models are made with.
        own: The names of the modules that are read.
    """

    def __init__(self, modules: dict[str, MypyFile], runtime: str, own: Container[str]) -> None:
        self._modules = modules
        self._own = own
        self._public: dict[TypeInfo, str] = {}
        self._offering = (runtime, *_PUBLIC)
        self.stream = self.exported(runtime, "RngStream")

    def of_module(self, module: str) -> list[TypeInfo]:
        """Return the classes of a module that was read, in the order of the source."""
        tree = self._modules.get(module)
        return [] if tree is None else sorted(classes_of(tree), key=order_of)

    def exported(self, module: str, name: str) -> TypeInfo | None:
        """Return the class that a module offers under a public name."""
        tree = self._modules.get(module)
        return _class_of(tree.names[name].node) if tree is not None and name in tree.names else None

    def derived_variables(self) -> list[TypeInfo]:
        """Return the runtime's Variables below others: filters that a model need not have leaves of.

        One without such leaves must not answer as to the filter that they derive from.
        """
        runtime = self._offering[0]
        tree = self._modules.get(runtime)
        offered = (self.exported(runtime, name) for name in (tree.names if tree else ()))
        return [info for info in offered if info is not None and _is_derived(info)]

    def public(self, info: TypeInfo) -> str:
        """Return the name that a class is imported by."""
        if info not in self._public:
            self._public[info] = self._find_public(info)
        return self._public[info]

    def _find_public(self, info: TypeInfo) -> str:
        module, _, qualified = name_of(info).partition(":")
        package = module.partition(".")[0]
        for offering in self._offering:
            if (
                offering.partition(".")[0] == package
                and module not in self._own
                and self.exported(offering, qualified) is info
            ):
                return f"{offering}:{qualified}"
        return name_of(info)

    def may_be_model(self, info: TypeInfo) -> bool:
        """Tell whether a model may stand where a class is asked for that is none itself."""
        if info.fullname == "builtins.object" or info.fallback_to_any:
            return True
        return info.is_protocol and info.module_name in self._own


def is_layer(info: TypeInfo) -> bool:
    """Tell whether a class is a Module."""
    return kind_of(info) is Kind.PYTREE and any(base.name == "Module" for base in info.mro[1:])


def _is_derived(info: TypeInfo) -> bool:
    return (
        sum(kind_of(each) is Kind.VARIABLE for each in info.mro) > 2
    )  # with `Variable` and itself


def _class_of(node: SymbolNode | None) -> TypeInfo | None:
    if isinstance(node, TypeAlias) and not node.alias_tvars:
        target = get_proper_type(node.target)
        return target.type if isinstance(target, Instance) else None
    return node if isinstance(node, TypeInfo) else None
