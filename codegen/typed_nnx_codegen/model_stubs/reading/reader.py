"""From sources to models: find files, run mypy, resolve."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from typed_nnx_codegen.model_stubs.models import Models
from typed_nnx_codegen.model_stubs.reading.building import Reading, new_options
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
    reading = Reading(found.files, runtime, used, None if cache is None else cache / "mypy")
    modules = reading.modules()
    paths = {each.module: each.path or "" for each in found.files}
    resolver = Resolver(Symbols(modules), paths, runtime)
    return resolver.models((*found.problems, *reading.problems()))
