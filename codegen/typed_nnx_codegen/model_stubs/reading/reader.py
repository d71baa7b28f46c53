"""From sources to models: find files, run mypy, recall or find out facts, resolve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mypy.modulefinder import BuildSource

from typed_nnx_codegen.model_stubs.models import Models
from typed_nnx_codegen.model_stubs.reading.building import Builder, Built, new_options
from typed_nnx_codegen.model_stubs.reading.extraction import Extraction
from typed_nnx_codegen.model_stubs.reading.facts import ModuleFacts
from typed_nnx_codegen.model_stubs.reading.remembering import Memory, digest, validity
from typed_nnx_codegen.model_stubs.reading.resolving import Resolver
from typed_nnx_codegen.model_stubs.reading.sources import find_sources, interpreter
from typed_nnx_codegen.model_stubs.reading.symbols import Symbols


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
    reading = _Reading(found.files, runtime, cache)
    builder = Builder(found.files, runtime, used, None if cache is None else cache / "mypy")
    built = builder.build(reading.unknown())
    facts = None if built is None else reading.facts(built)
    if built is not None and facts is None:
        # Facts of another run than mypy's cache: whatever is not certain is checked again.
        built = builder.build(reading.modules())
        facts = None if built is None else reading.facts(built)
    if built is None or facts is None:
        return Models({}, (), (*found.problems, *builder.problems()))
    reading.save()
    paths = {each.module: each.path or "" for each in found.files}
    resolver = Resolver(Symbols(built.result.manager.modules), facts, paths, runtime)
    return resolver.models((*found.problems, *built.problems))


class _Reading:
    """The facts of the sources, remembered or new.

    Args:
        files: The sources.
        runtime: The package that the models are made with.
        cache: Where facts are remembered.
    """

    def __init__(self, files: Sequence[BuildSource], runtime: str, cache: Path | None) -> None:
        self._digests = {each.module: _digest_of(each.path) for each in files}
        self._memory = Memory(cache, runtime)
        self._runtime = runtime

    def modules(self) -> list[str]:
        """Return the names of all modules that are read."""
        return list(self._digests)

    def unknown(self) -> list[str]:
        """Return the modules of which nothing is remembered that could be true."""
        return [m for m, source in self._digests.items() if not self._memory.has(m, source)]

    def facts(self, built: Built) -> Mapping[str, ModuleFacts] | None:
        """Return the facts of all modules, or None where those of one are not to be had."""
        extraction = Extraction(built.result.types, self._runtime)
        graph = built.result.graph
        found: dict[str, ModuleFacts] = {}
        for module, source in self._digests.items():
            if module in built.broken or module not in graph:
                continue
            valid = validity(module, graph)
            if module in built.statements:
                found[module] = extraction.facts(built.statements[module])
                self._memory.keep(module, source, valid, found[module])
                continue
            recalled = self._memory.recall(module, source, valid)
            if recalled is None:
                return None
            found[module] = recalled
        return found

    def save(self) -> None:
        """Remember the facts for the next run."""
        self._memory.save()


def _digest_of(path: str | None) -> str:
    try:
        return digest(Path(path or "").read_bytes())
    except OSError:
        return ""  # mypy reports it
