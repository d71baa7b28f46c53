"""One run of mypy over the sources, and what it leaves: symbols, types and statements."""

from __future__ import annotations

import gc
import os
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mypy.build import BuildResult, process_fresh_modules
from mypy.modulefinder import BuildSource
from mypy.nodes import MypyFile
from mypy.options import Options
from mypy.plugin import Plugin, ReportConfigContext

from typed_nnx_codegen.model_stubs.models import Problem
from typed_nnx_codegen.model_stubs.reading.following import rules
from typed_nnx_codegen.model_stubs.reading.sources import Interpreter
from typed_nnx_codegen.model_stubs.reading.statements import ClassStatements, class_statements
from typed_nnx_codegen.mypy_run import CouldNotRun, MypyRun


@dataclass(frozen=True)
class Built:
    """What a run of mypy leaves.

    Attributes:
        result: mypy's result.
        statements: What the classes of each module say, for modules that were checked anew.
        broken: The modules that could not be read.
        problems: Why.
    """

    result: BuildResult
    statements: dict[str, list[ClassStatements]]
    broken: frozenset[str]
    problems: tuple[Problem, ...]


def new_options(
    runtime: str, python: Interpreter, cache: Path | None, own: Container[str] = ()
) -> Options:
    """Return mypy's options for reading models of a runtime; no settings of the user count.

    Args:
        runtime: The package that the models are made with.
        python: The interpreter whose packages are used.
        cache: Where mypy keeps what it found out.
        own: The packages that are read.
    """
    options = Options()
    options.python_executable, options.python_version = python.executable, python.version
    options.cache_dir = os.devnull if cache is None else str(cache)
    options.incremental = cache is not None
    options.check_untyped_defs = True
    options.export_types = True
    options.follow_imports = "silent"  # only the sources have bodies that matter
    options.ignore_missing_imports = True
    options.per_module_options = rules(runtime, own)
    return options


class _Observer(Plugin):
    """Keeps statements before mypy frees them, and makes mypy check modules again.

    Args:
        options: mypy's.
        runtime: The package that the models are made with.
        modules: The modules whose statements are kept.
        stale: The modules that are checked even if mypy's cache has them.
    """

    def __init__(
        self, options: Options, runtime: str, modules: frozenset[str], stale: frozenset[str]
    ) -> None:
        super().__init__(options)
        self._runtime = runtime
        self._watched = modules
        self._stale = stale
        self.statements: dict[str, list[ClassStatements]] = {}

    def report_config_data(self, ctx: ReportConfigContext) -> object:
        """Return something else than mypy's cache holds, for a module that is to be checked."""
        return "stale" if ctx.is_check and ctx.id in self._stale else None

    def get_additional_indirect_deps(self, file: MypyFile) -> set[str]:
        """Take the statements of a module; mypy calls it when the module has been checked."""
        if file.fullname in self._watched:
            self.statements[file.fullname] = class_statements(file, self._runtime)
        return set()


class Builder:
    """Runs mypy over sources, and again without the files that it cannot read.

    Args:
        sources: The files.
        runtime: The package that the models are made with.
        python: The interpreter whose packages are used.
        cache: Where mypy keeps what it found out.
    """

    def __init__(
        self,
        sources: Sequence[BuildSource],
        runtime: str,
        python: Interpreter,
        cache: Path | None,
    ) -> None:
        self._run = MypyRun(sources)
        self._runtime = runtime
        self._python = python
        self._cache = cache
        self._modules = frozenset(each.module for each in sources)
        self._failure: list[Problem] = []

    def build(self, stale: Iterable[str]) -> Built | None:
        """Run mypy; return None where it fails in a way that nothing helps against.

        Args:
            stale: Modules that must be checked anew.
        """
        again = frozenset(stale)
        own = {module.partition(".")[0] for module in self._modules}
        observers: list[_Observer] = []

        def prepare() -> tuple[Options, list[_Observer]]:
            options = new_options(self._runtime, self._python, self._cache, own)
            observers.append(_Observer(options, self._runtime, self._modules, again))
            return options, observers[-1:]

        try:
            result = self._run.build(prepare, _with_all_symbols)
        except CouldNotRun as error:
            self._failure = [Problem("", 1, f"mypy failed: {error}")]
            return None
        broken = frozenset(self._run.left_out)
        return Built(result, observers[-1].statements, broken, self.problems())

    def problems(self) -> tuple[Problem, ...]:
        """Return what went wrong."""
        broken = self._run.left_out.values()
        return (
            *(Problem(each.file, max(each.line, 1), each.message) for each in broken),
            *self._failure,
        )


def _with_all_symbols(result: BuildResult) -> BuildResult:
    _load_all(result)
    return result


def _load_all(result: BuildResult) -> None:
    """Load the symbols of modules that mypy had no need for, since nothing they use changed."""
    manager, graph = result.manager, result.graph
    gc.disable()  # all that is made here stays
    try:
        for number in manager.top_order:
            missing = [m for m in manager.scc_by_id[number].mod_ids if m not in manager.modules]
            if missing:
                process_fresh_modules(graph, sorted(missing), manager)
    finally:
        gc.enable()
