"""From sources to models: find files, run mypy, and say what each attribute is for a State."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mypy.nodes import TypeInfo, Var

from typed_nnx_codegen.facts.fields import Field, Model, attributes_of
from typed_nnx_codegen.facts.marks import is_checked, marks_of
from typed_nnx_codegen.model_stubs.models import (
    Attribute,
    ClassInfo,
    Kind,
    Models,
    Problem,
    Type,
)
from typed_nnx_codegen.model_stubs.reading.building import Reading, new_options
from typed_nnx_codegen.model_stubs.reading.kinds import Kinds
from typed_nnx_codegen.model_stubs.reading.places import Places
from typed_nnx_codegen.model_stubs.reading.sources import find_sources, interpreter
from typed_nnx_codegen.model_stubs.reading.symbols import Symbols, as_base, bases, instance_of
from typed_nnx_codegen.model_stubs.reading.type_facts import (
    NOTHING,
    assigned_to,
    name_of,
    order_of,
    parameters_of,
    substitute,
    type_fact,
    united,
)


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
        self._runtime = runtime
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
        for name in self._layers_used():
            self._need(name)
        while self._waiting:
            self._describe(self._waiting.pop(0))
        return Models(self._classes, tuple(roots), problems)

    def _layers_used(self) -> Iterator[str]:
        """Yield the layers of the runtime that the source names: their States may be asked for, too."""
        texts = (Path(path).read_text("utf-8", errors="replace") for path in self._paths.values())
        words = {word for text in texts for word in re.findall(r"\w+", text)}
        found = (self._symbols.exported(self._runtime, word) for word in sorted(words))
        yield from (name for name in found if name is not None and self._kinds.is_layer(name))

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
                found = _type_of_field(field, info)
                yield Attribute(str(name), places.place(found, mark, callable_is_static))


def _type_of_field(field: Field, info: TypeInfo) -> Type:
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


def read(
    sources: Sequence[str],
    *,
    runtime: str = "typed_nnx",
    cache: Path | None,
    python: str | None = None,
) -> Models:
    """Read source and return the models in it; nothing of it is imported or executed.

    Args:
        sources: Names of packages, folders and files.
        runtime: The package that the models are made with, ``typed_nnx`` or ``flax.nnx``.
        cache: The folder in which the next run finds what this one found out; None for none.
        python: The interpreter whose packages the source uses; by default the running one.

    Raises:
        ValueError: `python` does not run.
    """
    used = interpreter(python)
    found = find_sources(sources, used, new_options(runtime, used, None))
    if not found.files:
        return Models({}, (), found.problems)
    reading = Reading(found.files, runtime, used, None if cache is None else cache / "mypy")
    modules = reading.modules()
    paths = {each.module: each.path or "" for each in found.files}
    resolver = Resolver(Symbols(modules), paths, runtime)
    return resolver.models((*found.problems, *reading.problems()))
