"""What a class is for a State, by its base classes, and the name it is imported by."""

from __future__ import annotations

from collections.abc import Container

from mypy.nodes import TypeInfo

from typed_nnx_codegen.facts.fields import attributes_of
from typed_nnx_codegen.facts.kinds import is_rngs, kind_of_class
from typed_nnx_codegen.model_stubs.models import Kind
from typed_nnx_codegen.model_stubs.reading.symbols import Symbols, instance_of
from typed_nnx_codegen.model_stubs.reading.type_facts import name_of

# Modules by whose names library classes are known to people, better than by their private ones.
_PUBLIC = ("jax", "jax.numpy", "numpy")

_LISTS = frozenset(
    f"{module}:{name}"
    for module, names in {
        "builtins": ("list", "tuple"),
        "collections": ("deque",),
        "typing": ("Sequence", "MutableSequence", "Iterable", "Collection"),
    }.items()
    for name in names
)
_DICTS = frozenset(
    f"{module}:{name}"
    for module, names in {
        "builtins": ("dict",),
        "collections": ("OrderedDict", "defaultdict"),
        "typing": ("Mapping", "MutableMapping"),
    }.items()
    for name in names
)
_SCALARS = frozenset(f"builtins:{name}" for name in ("int", "float", "bool", "complex"))


class Kinds:
    """Knows what classes are.

    Args:
        runtime: The package that the models are made with.
        modules: The names of the modules that are read.
    """

    def __init__(
        self,
        symbols: Symbols,
        runtime: str,
        modules: Container[str],
    ) -> None:
        self._symbols = symbols
        self._modules = modules
        self._kinds: dict[str, Kind | None] = {}
        self._public: dict[str, str] = {}
        self._offering = (runtime, *_PUBLIC)

        def inner(module: str, name: str) -> str:
            return symbols.exported(module, name) or f"no:{name}"

        self._list, self._dict = inner(runtime, "List"), inner(runtime, "Dict")
        self._rngs, self._stream = inner(runtime, "Rngs"), inner(runtime, "RngStream")
        self._sequential = inner(runtime, "Sequential")

    # -- names --------------------------------------------------------------------------------

    def public(self, name: str) -> str:
        """Return the name that a class is imported by."""
        if name not in self._public:
            self._public[name] = self._find_public(name)
        return self._public[name]

    def _find_public(self, name: str) -> str:
        module, _, qualified = name.partition(":")
        package = module.partition(".")[0]
        for offering in self._offering:
            if (
                offering.partition(".")[0] == package
                and module not in self._modules
                and self._symbols.exported(offering, qualified) == name
            ):
                return f"{offering}:{qualified}"
        return name

    def container(self, info: TypeInfo) -> str:
        """Return the class of the runtime that a container is of: its List, Dict or Rngs."""
        above = [name_of(base) for base in info.mro]
        return next(name for name in (self._list, self._dict, self._rngs) if name in above)

    def stream(self) -> str:
        """Return the name of the runtime's RngStream."""
        return self._stream

    # -- kinds --------------------------------------------------------------------------------

    def kind(self, name: str) -> Kind | None:
        """Return what a class is for a State; None for what is nothing by itself."""
        if name not in self._kinds:
            self._kinds[name] = None  # for a class that has itself as an attribute
            info = self._symbols.find(name)
            self._kinds[name] = None if info is None else self._kind_of(info)
        return self._kinds[name]

    @staticmethod
    def _kind_of(info: TypeInfo) -> Kind | None:
        # The streams of a Rngs are attributes that no source names.
        found = Kind.DICT if is_rngs(info) else kind_of_class(info)
        if found in (Kind.LIST, Kind.DICT) and attributes_of(instance_of(info)).fields:
            return Kind.PYTREE
        return found

    def kind_of_value(self, name: str) -> Kind:
        """Return what a class is that stands in the value of a Variable or in plain data."""
        if self.is_list(name):
            return Kind.LIST
        return Kind.DICT if self.is_dict(name) else Kind.ARRAY

    def info(self, name: str) -> TypeInfo | None:
        """Return the class of a name."""
        return self._symbols.find(name)

    def is_list(self, name: str) -> bool:
        """Tell whether a class is a plain list or tuple."""
        return name in _LISTS

    def is_dict(self, name: str) -> bool:
        """Tell whether a class is a plain dict."""
        return name in _DICTS

    def is_scalar(self, name: str) -> bool:
        """Tell whether a class is that of numbers, which are leaves where marked as data."""
        return name in _SCALARS or name.startswith("numpy:")

    def may_be_model(self, info: TypeInfo) -> bool:
        """Tell whether a model may stand where a class is asked for that is none itself."""
        if info.fullname == "builtins.object" or info.fallback_to_any:
            return True
        return info.is_protocol and info.module_name in self._modules

    def is_layer(self, name: str) -> bool:
        """Tell whether a class is a Module."""
        info = self._symbols.find(name) if self.kind(name) is Kind.PYTREE else None
        return info is not None and any(base.name == "Module" for base in info.mro[1:])

    def is_sequential(self, name: str) -> bool:
        """Tell whether a class is the runtime's Sequential."""
        return name == self._sequential
