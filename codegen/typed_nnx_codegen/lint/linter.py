"""The checks of the plugin over the files of a project, and nothing else that mypy may say."""

from __future__ import annotations

import io
import os
import tomllib
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from mypy.build import BuildResult
from mypy.errors import CompileError
from mypy.find_sources import create_source_list
from mypy.fscache import FileSystemCache
from mypy.main import process_options
from mypy.modulefinder import BuildSource, matches_exclude
from mypy.options import Options
from mypy.plugin import Plugin, ReportConfigContext

from typed_nnx_codegen.lint.hovers import Hover, hovers_in
from typed_nnx_codegen.model_stubs.overlay_file import EXCLUDED
from typed_nnx_codegen.module_names import as_imported
from typed_nnx_codegen.mypy_run import CouldNotRun, MypyRun
from typed_nnx_codegen.sarif.reports import Report
from typed_nnx_codegen.settings.mypy_settings import PLUGIN, module_of
from typed_nnx_mypy.config import find_pyproject
from typed_nnx_mypy.plugin_class import TypedNnxPlugin

_CODE: Final = "nnx"
_NEVER_FOUND: Final = ("__pycache__", "site-packages", "node_modules")


@dataclass(frozen=True)
class Linted:
    """What was found in the files of a project.

    Attributes:
        files: The files, as they are shown.
        reports: What the checks report, and why files were left out, in the order of files and lines.
        tracebacks: Those of checks that crashed.
        hovers: What States hold, in the files that were asked for.
    """

    files: tuple[str, ...]
    reports: tuple[Report, ...]
    tracebacks: tuple[str, ...] = ()
    hovers: dict[str, list[Hover]] = field(default_factory=dict[str, list[Hover]])

    @property
    def errors(self) -> list[Report]:
        """The reports that are no notes."""
        return [each for each in self.reports if each.severity == "error"]


class Linter:
    """Runs the checks in the current folder.

    Args:
        python: The interpreter whose packages the code uses; None for what mypy's settings say,
            or else the running one.
        cache: The folder that makes the next run quick.
    """

    def __init__(self, python: str | None, cache: Path) -> None:
        self._arguments = ["--cache-dir", str(cache)]
        if python is not None:
            self._arguments += ["--python-executable", python]

    def lint(
        self,
        paths: Sequence[str] = (),
        shown: Iterable[Path] = (),
        look: Callable[[BuildResult, str], list[Hover]] = hovers_in,
    ) -> Linted:
        """Run the checks.

        Args:
            paths: Files and folders; none for what the settings say, or else the current folder.
            shown: The files that an editor shows, as they are resolved. Those of the project are
                checked wherever they are in it, and States in them are looked up.
            look: Looks them up, in a module that is named.

        Raises:
            CouldNotRun: Settings cannot be read, there are no files, or one is a notebook.
        """
        for path in paths:
            # The JSON of many a notebook is valid Python: mypy would find nothing in it.
            if Path(path).suffix == ".ipynb":
                raise CouldNotRun(
                    f"{path}: notebooks are not checked.\n"
                    f"  Fix: jupyter nbconvert --to script {path}, and check what it writes"
                )
        arguments = self._arguments_for(paths)
        sources, options = _processed(arguments)
        sources = _named([*sources, *_beside(sources, shown, options)], options)
        at = {Path(each.path or "").resolve(): each for each in sources}
        looked_into = {at[path].module: path for path in shown if path in at}
        run, spare = MypyRun(sources), [options]

        def prepare() -> tuple[Options, list[Plugin]]:
            fresh = spare.pop() if spare else _processed(arguments)[1]
            _adapt(fresh, keeps_trees=bool(looked_into))
            return fresh, [*_plugin(fresh), _CheckAgain(fresh, frozenset(looked_into))]

        result = run.build(prepare, lambda result: result)
        ours = [each for each in run.reports if each.code.partition("-")[0] == _CODE]
        found = [
            each for each in (*ours, *run.left_out.values()) if Path(each.file).resolve() in at
        ]
        found.sort(key=lambda each: (each.file, each.line, each.column))
        files = tuple(os.path.normpath(each.path) for each in sources if each.path)
        tracebacks = list(run.tracebacks.values())
        hovers = _hovers(result, looked_into, look, tracebacks)
        return Linted(files, tuple(found), tuple(tracebacks), hovers)

    def _arguments_for(self, paths: Sequence[str]) -> list[str]:
        files, exclude = _own_settings(Path.cwd())
        excluded = [word for each in (*exclude, EXCLUDED) for word in ("--exclude", each)]
        given = [*self._arguments, *excluded]
        if paths or files:
            return [*given, "--", *(paths or files)]
        _, options = _processed(given)
        names_files = options.files or options.packages or options.modules
        return given if names_files else [*given, "."]


class _CheckAgain(Plugin):
    """Makes mypy check modules again that its cache has, since no cache has the types in them."""

    def __init__(self, options: Options, modules: frozenset[str]) -> None:
        super().__init__(options)
        self._again = modules

    def report_config_data(self, ctx: ReportConfigContext) -> object:
        """Return something else than mypy's cache holds, for a module that is to be checked."""
        return "again" if ctx.is_check and ctx.id in self._again else None


def _hovers(
    result: BuildResult,
    modules: Mapping[str, Path],
    look: Callable[[BuildResult, str], list[Hover]],
    tracebacks: list[str],
) -> dict[str, list[Hover]]:
    """Return what States hold; a bug in that costs nothing else, and is added to the tracebacks."""
    try:
        return {str(path): look(result, name) for name, path in modules.items()}
    except Exception:  # noqa: BLE001  # whatever it is: reports count for more
        tracebacks.append(traceback.format_exc())
        return {}


# -- settings -----------------------------------------------------------------------------------


def _processed(arguments: Sequence[str]) -> tuple[list[BuildSource], Options]:
    """Return what mypy makes of a command line and of the settings of the project."""
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            return process_options(
                list(arguments), said, said, require_targets=False, fscache=FileSystemCache()
            )
    except SystemExit as error:
        raise CouldNotRun(said.getvalue().strip()) from error


def _adapt(options: Options, *, keeps_trees: bool) -> None:
    """Let the plugin see all code, whatever the project wants mypy itself to say of it."""
    options.check_untyped_defs = True
    options.ignore_errors = False
    options.ignore_missing_imports = True
    if options.follow_imports != "normal":
        options.follow_imports = "silent"
    options.warn_unused_configs = options.warn_unused_ignores = False
    options.many_errors_threshold = -1
    options.pretty = options.pdb = options.show_absolute_path = False
    options.incremental = True
    for of_modules in options.per_module_options.values():
        of_modules.pop("check_untyped_defs", None)
    # What hovering shows is looked up in them.
    options.export_types = options.preserve_asts = keeps_trees


def _plugin(options: Options) -> list[Plugin]:
    """Return the plugin where the settings of mypy do not name it."""
    if any(module_of(each) == PLUGIN for each in options.plugins):
        return []
    try:
        return [TypedNnxPlugin(options)]
    except CompileError as error:
        raise CouldNotRun("\n".join(error.messages)) from error


def _named(sources: Iterable[BuildSource], options: Options) -> list[BuildSource]:
    """Return files under the names by which they import each other, no two under one."""
    found = list(sources)
    files = [each for each in found if each.path]  # the settings may name modules
    named = {each.module: each for each in found if not each.path}
    for each in as_imported(files, options):
        if each.module in named and each.path is not None:
            # Scripts in folders that are no packages: mypy wants each to have a name of its own.
            module = ".".join(Path(each.path).with_suffix("").parts)
            each = BuildSource(each.path, module, None, each.base_dir)
        named.setdefault(each.module, each)
    return list(named.values())


def _beside(
    sources: Iterable[BuildSource], shown: Iterable[Path], options: Options
) -> list[BuildSource]:
    """Return the files of an editor that the settings do not name, and do not exclude."""
    here, known = Path.cwd().resolve(), {Path(each.path or "").resolve() for each in sources}
    added = [
        path.relative_to(here)
        for path in shown
        if path not in known and path.suffix == ".py" and path.is_relative_to(here)
    ]
    paths = [str(path) for path in added if path.is_file() and not _is_excluded(path, options)]
    return create_source_list(paths, options) if paths else []


def _is_excluded(path: Path, options: Options) -> bool:
    """Tell whether mypy would leave out a file that is found in a folder, or a folder around it."""
    if any(part.startswith(".") or part in _NEVER_FOUND for part in path.parts):
        return True
    cache = FileSystemCache()
    around = [path, *path.parents][:-1]
    return any(matches_exclude(str(each), options.exclude, cache, False) for each in around)


def _own_settings(folder: Path) -> tuple[list[str], list[str]]:
    """Return `files` and `exclude` of ``[tool.typed_nnx.lint]``.

    Raises:
        CouldNotRun: They are no lists of text, or there is something else.
    """
    path = find_pyproject(None, folder)
    if path is None:
        return [], []
    try:
        tools: object = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, ValueError) as error:
        raise CouldNotRun(
            f"{path}: cannot be read as TOML: {error}\n  Fix: mend that file"
        ) from error
    ours = _table(_table(tools, "typed_nnx"), "lint")
    found = {"files": list[str](), "exclude": list[str]()}
    for key, value in ours.items():
        values = cast("list[object]", value) if isinstance(value, list) else [None]
        if key not in found or not all(isinstance(each, str) for each in values):
            raise CouldNotRun(
                f"{path}: [tool.typed_nnx.lint] has {key} = {value!r}.\n"
                '  Fix: write files = ["src"], or exclude = ["/old/"], regular expressions'
            )
        found[key] = [str(each) for each in values]
    return [str(path.parent / each) for each in found["files"]], found["exclude"]


def _table(table: object, key: str) -> dict[str, object]:
    found: object = cast("dict[str, object]", table).get(key) if isinstance(table, dict) else None
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}
