"""From sources to models: find files, run mypy, and say what each attribute is for a State."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mypy.nodes import TypeInfo

from typed_nnx_codegen.facts.assigned_types import order_of
from typed_nnx_codegen.facts.fields import Model, attributes_of
from typed_nnx_codegen.model_stubs.models import ClassInfo, Kind, Models, Problem, Type
from typed_nnx_codegen.model_stubs.reading.building import modules_of, new_options
from typed_nnx_codegen.model_stubs.reading.classes import (
    Classes,
    instance_of,
    is_layer,
    kind_of,
    kind_of_value,
    parameters_of,
)
from typed_nnx_codegen.model_stubs.reading.places import Places
from typed_nnx_codegen.model_stubs.reading.sources import find_sources


class Resolver:
    """Makes models of classes.

    Args:
        paths: The files of the modules that were read.
        runtime: The package that the models are made with.
    """

    def __init__(self, classes: Classes, paths: Mapping[str, str], runtime: str) -> None:
        self._classes = classes
        self._paths = paths
        self._runtime = runtime
        self._described: dict[str, ClassInfo] = {}
        self._waiting: list[TypeInfo] = []

    def models(self, problems: tuple[Problem, ...]) -> Models:
        """Return the models, with all classes that they need."""
        roots = []
        for module in self._paths:
            for info in self._classes.of_module(module):
                kind = kind_of(info)
                if kind in (Kind.PYTREE, Kind.VARIABLE):
                    self._need(info)
                if kind is Kind.PYTREE:
                    roots.append(self._classes.public(info))
        for info in (*self._layers_used(), *self._classes.derived_variables()):
            self._need(info)
        while self._waiting:
            self._describe(self._waiting.pop(0))
        return Models(self._described, tuple(roots), problems)

    def _layers_used(self) -> Iterator[TypeInfo]:
        """Yield the layers of the runtime that the source names: their States may be asked for, too."""
        texts = (Path(path).read_text("utf-8", errors="replace") for path in self._paths.values())
        words = {word for text in texts for word in re.findall(r"\w+", text)}
        found = (self._classes.exported(self._runtime, word) for word in sorted(words))
        yield from (info for info in found if info is not None and is_layer(info))

    def _need(self, info: TypeInfo) -> None:
        public = self._classes.public(info)
        if public not in self._described:
            self._described[public] = ClassInfo(public, Kind.ARRAY)  # in its place in the order
            self._waiting.append(info)

    def _describe(self, info: TypeInfo) -> None:
        kind = kind_of(info) or kind_of_value(info)
        above = [base for base in info.mro[1:] if kind_of(base) in (Kind.PYTREE, Kind.VARIABLE)]
        for base in above:
            self._need(base)
        found = attributes_of(instance_of(info)) if kind is Kind.PYTREE else None
        public = self._classes.public(info)
        self._described[public] = ClassInfo(
            public,
            kind,
            parameters_of(info),
            tuple(map(self._classes.public, above)),
            {} if found is None else self._attributes(info, found),
            self._paths.get(info.module_name, ""),
            order_of(info),
            found is not None and found.is_open,
        )

    def _attributes(self, info: TypeInfo, model: Model) -> dict[str, Type]:
        places = Places(self._classes, info, self._need)
        own = {name: field for name, field in model.fields.items() if not field.is_of_class}
        return {str(name): places.of_field(field) for name, field in own.items()}


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
    options = new_options(python, None if cache is None else cache / "mypy")
    files, missing = find_sources(sources, options)
    if not files:
        return Models({}, (), tuple(missing))
    modules, problems = modules_of(files, runtime, options)
    paths = {each.module: each.path or "" for each in files}
    resolver = Resolver(Classes(modules, runtime, frozenset(paths)), paths, runtime)
    return resolver.models((*missing, *problems))
