"""What each attribute is for the State of its object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mypy.nodes import TypeInfo

from typed_nnx_codegen.model_stubs.models import (
    Attribute,
    ClassInfo,
    Kind,
    Models,
    Problem,
)
from typed_nnx_codegen.model_stubs.reading.attributes import type_of_field
from typed_nnx_codegen.model_stubs.reading.facts import order_of
from typed_nnx_codegen.model_stubs.reading.kinds import Kinds
from typed_nnx_codegen.model_stubs.reading.places import Places
from typed_nnx_codegen.model_stubs.reading.symbols import Symbols, bases, instance_of
from typed_nnx_codegen.model_stubs.reading.type_facts import name_of, parameters_of
from typed_nnx_mypy.models.fields import Model, attributes_of
from typed_nnx_mypy.models.marks import is_checked


class Resolver:
    """Makes models of classes.

    Args:
        paths: The files of the modules that were read.
        runtime: The package that the models are made with.
    """

    def __init__(
        self,
        symbols: Symbols,
        paths: Mapping[str, str],
        runtime: str,
    ) -> None:
        self._symbols = symbols
        self._paths = paths
        self._kinds = Kinds(symbols, runtime, frozenset(paths))
        self._classes: dict[str, ClassInfo] = {}
        self._waiting: list[str] = []

    def models(self, problems: tuple[Problem, ...]) -> Models:
        """Return the models, with all classes that they need."""
        roots = []
        for module in self._paths:
            for info in self._symbols.classes(module):
                name = name_of(info)
                kind = self._kinds.kind(name)
                if kind in (Kind.PYTREE, Kind.VARIABLE):
                    self._need(name)
                if kind is Kind.PYTREE:
                    roots.append(self._kinds.public(name))
        while self._waiting:
            self._describe(self._waiting.pop(0))
        return Models(self._classes, tuple(roots), problems)

    def _need(self, name: str) -> None:
        public = self._kinds.public(name)
        if public in self._classes:
            return
        self._classes[public] = ClassInfo(public, Kind.ARRAY)  # in its place in the order
        self._waiting.append(name)

    def _describe(self, name: str) -> None:
        public = self._kinds.public(name)
        info = self._symbols.find(name)
        kind = self._kinds.kind(name) or self._kinds.kind_of_value(name)
        if info is None:
            self._classes[public] = ClassInfo(public, kind)
            return
        above = [each.name for each in bases(info)]
        above = [each for each in above if self._kinds.kind(each) in (Kind.PYTREE, Kind.VARIABLE)]
        for each in above:
            self._need(each)
        module = name.partition(":")[0]
        is_model = kind is Kind.PYTREE
        found = attributes_of(instance_of(info)) if is_model else None
        self._classes[public] = ClassInfo(
            public,
            kind,
            parameters_of(info),
            tuple(map(self._kinds.public, above)),
            () if found is None else tuple(self._attributes(info, found)),
            self._paths.get(module, ""),
            order_of(info),
            found is not None and found.is_open,
        )

    def _attributes(self, info: TypeInfo, model: Model) -> Iterator[Attribute]:
        places = Places(self._kinds, self._need, not is_checked(info))
        for name, field in model.fields.items():
            if not field.is_of_class:
                mark = field.status if field.is_marked else ""
                callable_is_static = not self._kinds.is_sequential(name_of(field.owner))
                found = type_of_field(field, info)
                yield Attribute(name, places.place(found, mark, callable_is_static))
