"""One run of mypy over the sources, and what it leaves: symbols, types and statements."""

from __future__ import annotations

import ast
import gc
import io
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mypy.build import BuildResult, process_fresh_modules
from mypy.build import build as run_mypy
from mypy.errors import CompileError
from mypy.modulefinder import BuildSource
from mypy.nodes import MypyFile
from mypy.options import Options
from mypy.plugin import Plugin, ReportConfigContext

from typed_nnx_codegen.model_stubs.models import Problem
from typed_nnx_codegen.model_stubs.reading.following import rules
from typed_nnx_codegen.model_stubs.reading.sources import Interpreter
from typed_nnx_codegen.model_stubs.reading.statements import ClassStatements, class_statements

_MESSAGE = re.compile(r"^(?P<path>.*?):(?:(?P<line>\d+):)?(?:\d+:)? error: (?P<text>.*)$")

# What reading a damaged cache can end with; mypy itself turns its own errors into SystemExit.
_DAMAGE = (sqlite3.Error, SystemExit, OSError, ValueError, LookupError, AssertionError, TypeError)


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
    options.hide_error_codes = True
    options.raise_exceptions = True  # an error of mypy itself comes here as it is
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
        self._sources = list(sources)
        self._runtime = runtime
        self._python = python
        self._cache = cache
        self._modules = frozenset(each.module for each in sources)
        self._broken: dict[str, Problem] = {}
        self._problems: list[Problem] = []
        self._ending: list[str] = []

    def build(self, stale: Iterable[str]) -> Built | None:
        """Run mypy; return None where it fails in a way that nothing helps against.

        Args:
            stale: Modules that must be checked anew.
        """
        again, cleared = frozenset(stale), False
        while True:
            observer = _Observer(self._options(), self._runtime, self._modules, again)
            try:
                result = self._run(observer)
                _load_all(result)
                return Built(
                    result, observer.statements, frozenset(self._broken), self._all_problems()
                )
            except CompileError as error:
                if not self._take_out(error):
                    return None
            except _DAMAGE as error:
                if cleared or self._cache is None:
                    self._problems.append(Problem("", 1, f"mypy failed: {error!r}"))
                    return None
                shutil.rmtree(self._cache, ignore_errors=True)
                cleared = True

    def problems(self) -> tuple[Problem, ...]:
        """Return what went wrong."""
        return self._all_problems()

    def _all_problems(self) -> tuple[Problem, ...]:
        return (*self._broken.values(), *self._problems)

    def _options(self) -> Options:
        own = {module.partition(".")[0] for module in self._modules}
        options = new_options(self._runtime, self._python, self._cache, own)
        for module in self._broken.keys() - self._modules:
            options.per_module_options[module] = {"follow_imports": "skip"}
        return options

    def _run(self, observer: _Observer) -> BuildResult:
        sources = [
            BuildSource(None, each.module, "") if each.module in self._broken else each
            for each in self._sources
        ]
        thresholds = gc.get_threshold()
        try:
            return run_mypy(
                sources,
                observer.options,
                flush_errors=self._report,
                stdout=io.StringIO(),
                stderr=io.StringIO(),
                extra_plugins=[observer],
            )
        finally:
            gc.set_threshold(*thresholds)  # mypy sets its own

    def _report(self, path: str | None, messages: list[str], is_serious: bool) -> None:
        """Take what ends a run; what mypy has to say of types in a file is of no interest."""
        if path is None:
            self._ending = messages

    def _take_out(self, error: CompileError) -> bool:
        """Leave out what an error is about; return False where that is not known."""
        before = len(self._broken)
        for message in self._ending:
            found = _MESSAGE.match(message)
            if found is None:
                continue
            problem = Problem(found["path"], int(found["line"] or 1), found["text"])
            module = self._module_of(problem.path) or error.module_with_blocker
            if module is None:
                self._problems.append(problem)
            else:
                self._broken.setdefault(module, problem)
        if before == 0 and self._broken:
            self._find_more()
        return len(self._broken) > before

    def _module_of(self, path: str) -> str | None:
        for each in self._sources:
            if each.path is not None and Path(each.path).resolve() == Path(path).resolve():
                return each.module
        return None

    def _find_more(self) -> None:
        """Find all other syntax errors at once: mypy names one in each run."""
        if self._python.version > sys.version_info[:2]:
            return  # the syntax may be right there
        for each in self._sources:
            if each.path is None or each.module in self._broken:
                continue
            try:
                ast.parse(Path(each.path).read_bytes(), each.path)
            except SyntaxError as error:
                self._broken[each.module] = Problem(each.path, error.lineno or 1, error.msg)
            except (OSError, ValueError):
                continue  # mypy says it better


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
