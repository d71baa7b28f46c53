"""Migrates the Linen code of files: all are read first, then each is written."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import libcst as cst

from typed_nnx_codegen.console.bugs import described
from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.import_statements import finish_imports
from typed_nnx_codegen.migrate.layout import with_layout
from typed_nnx_codegen.migrate.linen.callers import Callers
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Mark
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, LinenClasses
from typed_nnx_codegen.migrate.linen.domain.markers import TRACE
from typed_nnx_codegen.migrate.linen.plan.planner import Planner
from typed_nnx_codegen.migrate.linen.project.adoption import with_builders
from typed_nnx_codegen.migrate.linen.project.gradual import Gradual, Staying, bridged_classes
from typed_nnx_codegen.migrate.linen.project.results import (
    NO_FAILURES,
    Failures,
    LinenResult,
    as_it_was,
    findings_of,
)
from typed_nnx_codegen.migrate.linen.trace.record import Trace
from typed_nnx_codegen.migrate.linen.write.constructors import ImportedModules, Refer
from typed_nnx_codegen.migrate.linen.write.emission import (
    Emission,
    MethodCode,
    NameTaken,
    NestedQuotes,
    NotWritten,
    check_names,
    merged,
    with_helpers,
)
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.syntax import error_in
from typed_nnx_codegen.migrate.undefined_names import (
    defined_names,
    imported_names,
    newly_undefined,
)

# The parts of the work, as they are shown: to read files, to plan modules, to write files.
_OF_READING, _OF_PLANNING, _OF_WRITING = 0.2, 0.5, 0.3
_UNWRITABLE = "its new text would not parse"
_UNDEFINED = "its new text would read `{name}` in line {line}, which nothing defines"
_LOST = "`{name}`, which other files import from it, would be lost"


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Let Python look less often for objects that refer to each other: trees of code are many, and do not."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_seldom_collected()
def migrate_linen(
    paths: Sequence[Path],
    roots: Sequence[Path],
    options: Options,
    trace: Trace | None = None,
    gradual: bool = False,
    read: Sequence[Path] = (),
    failures: Failures = NO_FAILURES,
    advance: Callable[[float], None] = lambda part: None,
) -> list[LinenResult]:
    """Migrate files; nothing is written.

    Args:
        paths: The files.
        roots: What imports may lead to.
        options: What is asked for.
        trace: What a trace tells of the shapes that submodules are called with.
        gradual: Whether modules that need a person stay in Linen, in a bridge.
        read: Files that are not migrated, whose modules the others may use.
        failures: What running the migrated code has shown.
        advance: Called with the part of the work that is done now: all parts together are 1.

    Returns:
        The results of the files that could be read and mention flax.
    """
    every = list(dict.fromkeys([*paths, *read]))
    project = Project(tuple(roots), is_near=True)
    analyses = _analyses(every, project, _steps(advance, _OF_READING, len(every)))
    trees = {path: one.tree for path, one in analyses.items()}
    before = {path: tree.code for path, tree in trees.items()}
    changed = with_builders(analyses)
    if changed:
        project.change(changed)
        analyses = _analyses(every, project)
    texts = {
        path: before[path] if one.tree is trees[path] else one.tree.code
        for path, one in analyses.items()
    }
    del trees
    kept = frozenset({*read} - {*paths})
    migration = _Migration(project, analyses, before, texts, options, trace, kept, advance)
    results = migration.run(failures, gradual=gradual)
    results = [as_it_was(one, before[one.path]) for one in results]
    laid_out = with_layout({one.path: (one.before, one.after) for one in results})
    return [replace(one, after=laid_out[one.path]) for one in results]


def _analyses(
    paths: Sequence[Path], project: Project, step: Callable[[], None] = lambda: None
) -> dict[Path, Analysis]:
    """Return the analyses of the files that could be read."""
    found: dict[Path, Analysis] = {}
    for path in paths:
        analysis = project.analysis_of(path)
        if analysis is not None:
            found[path] = analysis
        step()
    return found


def _steps(advance: Callable[[float], None], part: float, count: int) -> Callable[[], None]:
    """Return what is called after each step of a part of the work; steps beyond `count` are none."""
    left = count

    def step() -> None:
        nonlocal left
        if left:
            left -= 1
            advance(part / count)

    return step


class _Migration:
    """The migration of the files of a project.

    Args:
        project: What files import.
        analyses: The files.
        before: Their texts as they were.
        texts: Their texts as they were analysed.
        options: What is asked for.
        trace: What a trace tells.
        kept: The files that are only read.
        advance: Called with the part of the work that is done now.
    """

    def __init__(
        self,
        project: Project,
        analyses: dict[Path, Analysis],
        before: dict[Path, str],
        texts: dict[Path, str],
        options: Options,
        trace: Trace | None,
        kept: frozenset[Path],
        advance: Callable[[float], None],
    ) -> None:
        self._analyses = analyses
        self._before = before
        self._texts = texts
        self._kept = kept
        self._classes = LinenClasses(analyses.values())
        self._every = [cls for one in analyses.values() for cls in self._classes.all_in(one)]
        self._files = {one: File(one, options) for one in analyses.values()}
        modules = ImportedModules(project, analyses.values())
        refers = {one.path: Refer(file, modules) for one, file in self._files.items()}
        self._refers, self._trace = refers, trace
        # Each module is looked at before it is planned.
        self._planned = _steps(advance, _OF_PLANNING, 2 * len(self._every))
        self._written = _steps(advance, _OF_WRITING, len(analyses.keys() - kept))
        self._planner = Planner(self._classes, refers, trace, on_module=self._planned)
        self._callers = Callers(self._classes, self._planner.plan_of)
        self._caller_marks: dict[Path, list[Mark]] = {}
        # Files without a module that could not be written, and why.
        self._unwritten: dict[Path, str] = {}
        # Imports that a file no longer needs itself, and that others import from it.
        self._needed: dict[Path, frozenset[str]] = {}
        # What is written in methods, and the modules that stay then.
        self._methods: tuple[list[LinenClass], MethodCode] | None = None

    def run(self, failures: Failures, *, gradual: bool) -> list[LinenResult]:
        """Plan all modules, then write each file."""
        bridged = list(bridged_classes(self._analyses.values(), self._classes))
        if gradual or bridged:
            keeping = Gradual(wraps_layers=gradual)
            keeping.keep_bridged(bridged, self._classes)
            if gradual:
                keeping.keep_read(cls for cls in self._every if cls.analysis.path in self._kept)
            self._keep_some(keeping)
        every = self._every
        written = [path for path in self._analyses if path not in self._kept]
        staying = Staying({cls: self._planner.plan_of(cls) for cls in every}, self._kept)
        for cls in every:
            self._check_helpers(cls)
            if cls.analysis.path in self._kept:
                self._planner.plan_of(cls).stays = f"{cls.analysis.path.name} is not migrated"
            _note_failure(self._planner.plan_of(cls), failures)
        for path in written:
            if path.resolve() in failures.files:
                self._unwritten[path] = failures.files[path.resolve()]
        texts: dict[Path, str] = {}
        # A module that cannot be written stays, which concerns the files of others too.
        while True:
            staying.spread()
            if not self._write(written, texts) and not self._keep_needed(texts):
                break
        before = {cls: self._planner.plan_of(cls).marks for cls in every}
        staying.mark()
        marked = {cls.analysis for cls in every if before[cls] != self._planner.plan_of(cls).marks}
        self._write([path for path in written if self._analyses[path] in marked], texts)
        return [self._result(path, texts.get(path)) for path in written]

    def _keep_some(self, gradual: Gradual) -> None:
        """Plan until no module that needs a person is migrated."""
        while True:
            self._planner = Planner(
                self._classes, self._refers, self._trace, gradual, self._planned
            )
            for cls in self._every:
                self._check_helpers(cls)
            plans = {cls: self._planner.plan_of(cls) for cls in self._every}
            if not gradual.wraps_layers or not gradual.keep(plans, self._classes):
                break
        self._callers = Callers(self._classes, self._planner.plan_of)

    def _check_helpers(self, cls: LinenClass) -> None:
        plan = self._planner.plan_of(cls)
        try:
            check_names(plan.helpers, self._files[cls.analysis])
        except NameTaken as error:
            plan.stays = str(error)

    def _plans(self, path: Path) -> tuple[ClassPlan, ...]:
        modules = self._classes.all_in(self._analyses[path])
        return tuple(self._planner.plan_of(cls) for cls in modules)

    # -- writing ------------------------------------------------------------------------------

    def _write(self, paths: Sequence[Path], texts: dict[Path, str]) -> list[ClassPlan]:
        """Write files into `texts`; return the modules that cannot be written and stay now."""
        failed: list[ClassPlan] = []
        written = [path for path in paths if path not in self._unwritten]
        for path, (text, problem) in self._checked_texts(written).items():
            if isinstance(problem, NotWritten):
                plan = self._planner.plan_of(problem.cls)
                failed.append(_kept_back(plan, described_cause(problem)))
            elif not problem:
                texts[path] = text
            else:
                texts.pop(path, None)
                culprits = self._culprits(path, problem)
                if not culprits:
                    # Only calls of modules would change here, and they cannot be written.
                    self._unwritten[path] = problem
                failed += culprits
        return failed

    def _checked_texts(self, paths: Sequence[Path]) -> dict[Path, tuple[str, str | NotWritten]]:
        """Return the new texts of files, each with what is wrong with it; empty where nothing is."""
        found: dict[Path, tuple[str, str | NotWritten]] = {}
        for path in paths:
            text, problem = "", ""
            try:
                text = self._text(path)
            except NotWritten as error:
                found[path] = text, error
                continue
            # A bug of ours must not stop the other files.
            except Exception as error:  # noqa: BLE001 - what is kept back says it
                problem = described(error)
            if not problem and text != self._before[path] and error_in(text):
                problem = _UNWRITABLE
            found[path] = text, problem
            self._written()
        sound = {path: (self._before[path], text) for path, (text, no) in found.items() if not no}
        for path, names in newly_undefined(sound).items():
            problem = _UNDEFINED.format(name=names[0].name, line=names[0].line)
            found[path] = found[path][0], problem
        return found

    def _keep_needed(self, texts: dict[Path, str]) -> bool:
        """Keep the names that other files import; return whether anything changed for it."""
        lost: dict[Path, frozenset[str]] = {}
        for path, text in texts.items():
            if text == self._before[path]:
                continue
            before, after = defined_names(self._before[path]), defined_names(text)
            if before is not None and after is not None and before - after:
                lost[path] = before - after
        if not lost:
            return False
        paths = {self._analyses[path].module: path for path in lost}
        needed: dict[Path, set[str]] = {}
        for path, one in self._analyses.items():
            text = texts.get(path, self._before[path])
            for module, name in _imported(text, one):
                if module in paths and name in lost[paths[module]] and paths[module] != path:
                    needed.setdefault(paths[module], set()).add(name)
        for path, names in needed.items():
            if names <= self._needed.get(path, frozenset()):
                # It was no import that was lost.
                for plan in self._plans(path):
                    if not plan.stays:
                        _kept_back(plan, _LOST.format(name=min(names)))
            self._needed[path] = self._needed.get(path, frozenset()) | names
        return bool(needed)

    def _culprits(self, path: Path, problem: str) -> list[ClassPlan]:
        """Return the modules because of which a file cannot be written; they stay from now on."""
        migrated = [plan for plan in self._plans(path) if not plan.stays]
        found: list[tuple[ClassPlan, str]] = []
        for plan in migrated:
            for other in migrated:
                other.stays = "" if other is plan else _UNWRITABLE
            own = self._checked_texts([path])[path][1]
            if own:
                cause = described_cause(own) if isinstance(own, NotWritten) else own
                found.append((plan, cause))
        for plan in migrated:
            plan.stays = ""
        found = found or [(plan, problem) for plan in migrated]
        for plan, own in found:
            # What a marker says of the class is why it cannot be written.
            _kept_back(plan, "; ".join([*(mark.message for mark in plan.marks[:1]), own]))
        return [plan for plan, _ in found]

    def _text(self, path: Path) -> str:
        analysis = self._analyses[path]
        tree, file = analysis.tree, self._files[analysis]
        plans = self._plans(path)
        callers = self._callers.plan(file)
        if not plans and callers.is_empty:
            return self._texts[path]
        self._caller_marks[path] = callers.marks
        after = tree.visit(
            Emission(file, self._classes, self._planner.plan_of, self._method_code(), callers)
        )
        assert isinstance(after, cst.Module)
        helpers = [one for plan in plans if not plan.stays for one in plan.helpers]
        helpers += callers.helpers
        after = with_helpers(after, helpers, file).visit(NestedQuotes(analysis.nodes))
        assert isinstance(after, cst.Module)
        return finish_imports(tree, after, file, self._needed.get(path, frozenset())).code

    def _method_code(self) -> MethodCode:
        """Return what is written differently in methods of the modules that do not stay."""
        plans = [self._planner.plan_of(cls) for cls in self._every]
        staying = [plan.cls for plan in plans if plan.stays]
        if self._methods is None or self._methods[0] != staying:
            self._methods = staying, merged(plans)
        return self._methods[1]

    def _result(self, path: Path, text: str | None) -> LinenResult:
        tree, before = self._analyses[path].tree, self._texts[path]
        plans = self._plans(path)
        findings = findings_of(tree, plans, self._caller_marks.get(path, ()))
        problems = [f"{plan.cls.name}: {plan.problem}" for plan in plans if plan.problem]
        result = LinenResult(path, before, text or before, plans, findings)
        problems += [self._unwritten[path]] if path in self._unwritten else []
        return replace(result, error="; ".join(problems))


def _imported(text: str, analysis: Analysis) -> Iterable[tuple[str, str]]:
    """Return the names that a file takes from others: the other module, and the name in it."""
    try:
        return [*imported_names(text, analysis.module, analysis.is_package)]
    except SyntaxError:  # that of a newer Python, which libcst knows
        scopes = (analysis.scope, *analysis.scopes.values())
        bound = [one for scope in scopes for one in scope.imports.values() if one.is_from]
        return [(one.module, one.imported) for one in bound]


def described_cause(error: NotWritten) -> str:
    """Return what went wrong where a module could not be written."""
    if isinstance(error.error, cst.ParserSyntaxError):
        return _UNWRITABLE
    return described(error.error)


def _note_failure(plan: ClassPlan, failures: Failures) -> None:
    """Keep or mark a module that failed when it was run."""
    path = plan.cls.analysis.path.resolve()
    if plan.stays:
        return
    if path in failures.files:
        plan.stays = failures.files[path]
    elif (path, plan.cls.name) in failures.classes:
        plan.log.append(Mark(plan.cls.node, failures.classes[path, plan.cls.name], TRACE))


def _kept_back(plan: ClassPlan, problem: str) -> ClassPlan:
    plan.stays = plan.problem = problem
    return plan
