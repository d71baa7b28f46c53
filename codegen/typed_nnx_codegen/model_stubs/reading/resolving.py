"""Facts and symbols put together: what each attribute is for the State of its object."""

from __future__ import annotations

from collections.abc import Mapping

from mypy.nodes import TypeInfo

from typed_nnx_codegen.model_stubs.models import (
    Attribute,
    ClassInfo,
    Kind,
    Models,
    Named,
    Problem,
)
from typed_nnx_codegen.model_stubs.reading.attributes import Inherited
from typed_nnx_codegen.model_stubs.reading.facts import ClassFacts, ModuleFacts
from typed_nnx_codegen.model_stubs.reading.kinds import Kinds
from typed_nnx_codegen.model_stubs.reading.places import Places
from typed_nnx_codegen.model_stubs.reading.symbols import Symbols, bases, symbol_facts
from typed_nnx_codegen.model_stubs.reading.type_facts import name_of, parameters_of


class Resolver:
    """Makes models of facts and symbols.

    Args:
        symbols: The classes that mypy knows.
        facts: The facts of the modules that were read.
        paths: Their files.
        runtime: The package that the models are made with.
    """

    def __init__(
        self,
        symbols: Symbols,
        facts: Mapping[str, ModuleFacts],
        paths: Mapping[str, str],
        runtime: str,
    ) -> None:
        self._symbols = symbols
        self._facts = facts
        self._paths = paths
        self._kinds = Kinds(symbols, runtime, frozenset(facts), self._has_attributes)
        self._classes: dict[str, ClassInfo] = {}
        self._waiting: list[str] = []

    def models(self, problems: tuple[Problem, ...]) -> Models:
        """Return the models, with all classes that they need.

        Args:
            problems: What could not be read.
        """
        roots = []
        for module, classes in self._facts.items():
            for qualified in classes:
                name = f"{module}:{qualified}"
                kind = self._kinds.kind(name)
                if kind in (Kind.MODEL, Kind.VARIABLE):
                    self._need(name)
                if kind is Kind.MODEL:
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
        above = [each for each in above if self._kinds.kind(each) in (Kind.MODEL, Kind.VARIABLE)]
        for each in above:
            self._need(each)
        module = name.partition(":")[0]
        facts = self._facts_of(info)
        self._classes[public] = ClassInfo(
            public,
            kind,
            parameters_of(info),
            tuple(map(self._kinds.public, above)),
            tuple(self._attributes(info)) if kind is Kind.MODEL else (),
            self._paths.get(module, ""),
            facts.line if module in self._facts else 0,
            kind is Kind.MODEL and self._is_open(info),
        )

    def _attributes(self, info: TypeInfo) -> list[Attribute]:
        places = Places(self._kinds, self._need, self._is_plain(info))
        found = []
        for each in self._inherited(info).all():
            callable_is_static = not self._kinds.is_sequential(name_of(each.owner))
            place = places.place(each.type, each.mark, callable_is_static)
            found.append(Attribute(each.name, place, each.line))
        return found

    def _inherited(self, info: TypeInfo) -> Inherited:
        found = Inherited()
        lines = [Named(name_of(info), ()), *bases(info)]
        for base in reversed(lines):
            owner = self._symbols.find(base.name)
            if owner is None or self._kinds.is_part_of_runtime(base.name):
                continue
            names = dict(zip(parameters_of(owner), base.arguments, strict=False))
            found.take(self._facts_of(owner), owner, names)
        return found

    def _facts_of(self, info: TypeInfo) -> ClassFacts:
        module, _, qualified = name_of(info).partition(":")
        facts = self._facts.get(module, {}).get(qualified)
        return symbol_facts(info) if facts is None else facts

    def _has_attributes(self, info: TypeInfo) -> bool:
        return bool(self._inherited(info).all())

    def _is_open(self, info: TypeInfo) -> bool:
        return info.fallback_to_any or any(self._facts_of(base).is_open for base in info.mro)

    def _is_plain(self, info: TypeInfo) -> bool:
        names = [name_of(base) for base in info.mro]
        if any(self._kinds.is_object(name) for name in names):
            return True
        return any(self._facts_of(base).plain for base in info.mro)
