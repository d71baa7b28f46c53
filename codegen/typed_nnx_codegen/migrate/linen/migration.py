"""Migrates the Linen code of files: all are read first, then each is written; what that gives."""

from __future__ import annotations

import ast
import gc
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Literal

import libcst as cst

from typed_nnx_codegen.console.bugs import described
from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    CodeState,
    code_of,
    descendants,
    names_of,
    of_kinds,
    text_of_module,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.findings import CHANGED, DECIDE, Finding
from typed_nnx_codegen.migrate.import_statements import finish_imports
from typed_nnx_codegen.migrate.layout import with_layout
from typed_nnx_codegen.migrate.linen.callers import CallerPlan, Callers, ComposedModels
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    CLASS,
    TITLES,
    TRACE,
    ClassPlan,
    Entry,
    Mark,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, LinenClasses
from typed_nnx_codegen.migrate.linen.plan.naming import Naming
from typed_nnx_codegen.migrate.linen.plan.planner import MakesNaming, Planner
from typed_nnx_codegen.migrate.linen.project.adoption import with_builders
from typed_nnx_codegen.migrate.linen.project.gradual import Gradual, Staying, bridged_classes
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
from typed_nnx_codegen.migrate.syntax import error_in, still_parses
from typed_nnx_codegen.migrate.undefined_names import (
    defined_names,
    imported_names,
    newly_undefined,
)

VERSION = 1
_LONGEST_CODE = 200


def _as_they_are(entries: Iterable[Entry]) -> Iterable[Entry]:
    return entries


@dataclass(frozen=True)
class FrontEnd:
    """A library whose code is migrated as that of Linen.

    Attributes:
        translate: Gives the code of files as that of Linen, of those that change.
        naming: Names the submodules of a module.
        spelled: Gives the entries of a map as they are written.
        has_callers: Whether code outside of modules constructs and applies them.
    """

    translate: Callable[[Mapping[Path, Analysis]], Mapping[Path, cst.Module]] = lambda files: {}
    naming: MakesNaming = Naming
    spelled: Callable[[Iterable[Entry]], Iterable[Entry]] = _as_they_are
    has_callers: bool = True


LINEN_ITSELF: Final = FrontEnd()


@dataclass(frozen=True)
class LinenResult:
    """What became of a file.

    Attributes:
        path: The file.
        before: Its text.
        after: Its text when migrated; the same where it has nothing of Linen.
        plans: The modules that it defines.
        findings: What was migrated, and what is left to a person.
        error: Why the file, or a module of it, could not be migrated; empty where all could.
    """

    path: Path
    before: str
    after: str
    plans: tuple[ClassPlan, ...] = field(default=())
    findings: tuple[Finding, ...] = ()
    error: str = ""
    front: FrontEnd = LINEN_ITSELF

    @property
    def map(self) -> dict[str, object]:
        """The weight map, as JSON has it; its classes are empty where nothing was migrated."""
        classes = {plan.cls.name: self._in_map(plan) for plan in self.plans if not plan.stays}
        return {"version": VERSION, "classes": classes}

    def _in_map(self, plan: ClassPlan) -> dict[str, object]:
        every = [one for one in plan.lifted if one.expression]
        lifted = [{"name": one.name, "expr": one.expression} for one in every]
        variables = {
            one.linen: {"to": one.to, **one.change} if one.change else one.to
            for one in self.front.spelled(plan.entries)
        }
        return {"lifted": lifted, "variables": variables}


def as_it_was(result: LinenResult, before: str) -> LinenResult:
    """Return the result of a file that was read with other text; lines are those of the file.

    Args:
        result: The result.
        before: The text of the file.
    """
    if result.before == before:
        return result
    untouched = result.after == result.before and all(plan.stays for plan in result.plans)
    after = before if untouched else result.after
    lines = _lines_before(before, result.before)
    last = len(lines)
    found = [replace(one, line=lines[min(one.line, last) - 1]) for one in result.findings]
    return replace(result, before=before, after=after, findings=tuple(sorted(found)))


def _lines_before(before: str, read: str) -> list[int]:
    """Return for each line of the text that was read the line of the file that it was."""
    old, new = before.splitlines(), read.splitlines()
    found = [1] * len(new)
    for _, start, stop, first, end in SequenceMatcher(None, old, new, False).get_opcodes():
        for number in range(first, end):
            found[number] = min(start + number - first, max(stop - 1, start)) + 1
    return [min(number, max(len(old), 1)) for number in found]


def map_path(path: Path) -> Path:
    """Return the file that has the map of a migrated file."""
    return path.with_suffix(".migration.json")


def map_text(new: Mapping[str, object], old: Mapping[str, object] | None) -> str:
    """Return a map as it is written, with the classes of the map that was there before.

    Args:
        new: The map.
        old: The map that was there, if there was one.
    """
    merged = dict(old or {}) | dict(new)
    before, after = (_classes(one) for one in (old or {}, new))
    merged["classes"] = before | after
    return json.dumps(merged, indent=2, ensure_ascii=False) + "\n"


def _classes(one: Mapping[str, object]) -> dict[str, object]:
    found = one.get("classes")
    return dict(found) if isinstance(found, dict) else {}


def findings_of(
    tree: cst.Module, plans: tuple[ClassPlan, ...], outside: Sequence[Mark] = ()
) -> tuple[Finding, ...]:
    """Return what was migrated in a file and what is left to a person, by line.

    Args:
        tree: The file.
        plans: The plans of its modules.
        outside: What is left to a person outside of modules.
    """
    if not plans and not outside:
        return ()
    told = [(plan, *one) for plan in plans for one in _told(plan)]
    nodes = [*(mark.node for mark in outside), *(plan.cls.node for plan in plans)]
    positions = _positions([*nodes, *(node for _, node, _, _ in told)], tree)
    found: list[Finding] = []
    for plan, node, code, message in told:
        place = node if node in positions else plan.cls.node
        kind: Literal["changed", "decide"] = CHANGED if code == CLASS else DECIDE
        found.append(Finding(*positions[place], code, kind, message, before=_one_line(place)))
    for mark in outside:
        before = _one_line(mark.node)
        found.append(Finding(*positions[mark.node], mark.code, DECIDE, mark.message, before=before))
    return tuple(sorted(dict.fromkeys(found)))


class _Starts(CodeState):
    """Notes where some nodes start while code is written.

    `PositionProvider` is several times slower, since it notes it for all of them.
    """

    def __init__(self, nodes: Iterable[cst.CSTNode], tree: cst.Module) -> None:
        super().__init__(tree.default_indent, tree.default_newline)
        self._nodes = frozenset(nodes)
        self._tokens_before: dict[cst.CSTNode, int] = {}

    def before_codegen(self, node: cst.CSTNode) -> None:
        """Note where a node starts, with the layout before it."""
        if node in self._nodes:
            self._tokens_before[node] = len(self.tokens)

    def positions(self) -> dict[cst.CSTNode, tuple[int, int]]:
        """Return the line and the column of each node."""
        found: dict[cst.CSTNode, tuple[int, int]] = {}
        line, text, place = 1, "", 0
        for node, start in sorted(self._tokens_before.items(), key=itemgetter(1)):
            *ended, text = _LINE_END.split(text + "".join(self.tokens[place:start]))
            line, place = line + len(ended), start
            found[node] = line, len(text)
        return found


def _positions(
    nodes: Iterable[cst.CSTNode], tree: cst.Module
) -> dict[cst.CSTNode, tuple[int, int]]:
    """Return the line and the column of those of some nodes that a file has."""
    starts = _Starts(nodes, tree)
    tree._codegen(starts)
    return starts.positions()


_LINE_END: Final = re.compile(r"\r\n?|\n")


def _told(plan: ClassPlan) -> Iterator[tuple[cst.CSTNode, str, str]]:
    if not plan.stays:
        yield plan.cls.node, CLASS, TITLES[CLASS]
    for mark in plan.marks:
        yield mark.node, mark.code, mark.message


def _one_line(node: cst.CSTNode) -> str:
    """Return the code of a node without layout, cut where it is long."""
    if isinstance(node, cst.ClassDef):
        node = node.with_changes(
            leading_lines=(), decorators=(), body=cst.SimpleStatementSuite([cst.Pass()])
        )
        text = code_of(node).strip().removesuffix("pass").strip()
    else:
        bare = node.with_changes(leading_lines=()) if hasattr(node, "leading_lines") else node
        text = " ".join(code_of(bare).split())
    return text if len(text) <= _LONGEST_CODE else text[: _LONGEST_CODE - 1] + "…"


# -- running what was migrated ------------------------------------------------------------------

_IMPORTING: Final = "typed_nnx_codegen.verify.importing"
_COMMAND: Final = "from typed_nnx_codegen.cli import main; main()"
# Seconds for all files of a project, and for all examples.
_PATIENCE: Final = 600
_LONGEST: Final = 200


class NotVerified(Exception):
    """The migrated code could not be compared; the message says why."""


@dataclass(frozen=True)
class Failures:
    """What running the migrated code showed.

    Attributes:
        files: Why a file no longer imports, by path.
        classes: Why a module does not compute what it computed, by path and name.

    Paths are resolved.
    """

    files: Mapping[Path, str] = field(default_factory=dict)
    classes: Mapping[tuple[Path, str], str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything failed."""
        return bool(self.files or self.classes)

    def __or__(self, other: Failures) -> Failures:
        """Return the failures of two runs, with the reasons that the first gave."""
        return Failures({**other.files, **self.files}, {**other.classes, **self.classes})


NO_FAILURES: Final = Failures()


def failures(results: Sequence[LinenResult], example: Path | None) -> Failures:
    """Import the files that changed, and compare the modules of those that have an example.

    Args:
        results: The migrated files.
        example: The file with examples of the only one; None where there is none.

    Raises:
        NotVerified: The examples could not be run.
    """
    changed = {one.path.resolve(): one for one in results if one.after != one.before}
    found = NO_FAILURES
    for top, paths in _by_top(changed).items():
        with tempfile.TemporaryDirectory(prefix="typed-nnx-verify-") as folder:
            copy = Path(folder).resolve()
            _copy(top, copy, {path: changed[path] for path in paths})
            found |= Failures(_import_errors(top, copy, paths))
            if example is not None and not found:
                differing = _differences(
                    top, copy, {path: changed[path] for path in paths}, example
                )
                migrated = {
                    (path, plan.cls.name)
                    for path in paths
                    for plan in changed[path].plans
                    if not plan.stays
                }
                found |= Failures(classes={key: differing[key] for key in {*differing} & migrated})
    return found


def _by_top(paths: Iterable[Path]) -> dict[Path, list[Path]]:
    """Return files by the folder that absolute imports of their project begin in."""
    found: dict[Path, list[Path]] = {}
    for path in paths:
        top = path.parent
        while (top / "__init__.py").is_file():
            top = top.parent
        found.setdefault(top, []).append(path)
    return found


def _copy(top: Path, copy: Path, changed: Mapping[Path, LinenResult]) -> None:
    """Fill a folder with the new files and their maps, and with links to everything else."""
    around = {folder for path in changed for folder in path.parents if top in folder.parents}
    for folder in (top, *sorted(around)):
        new = copy / folder.relative_to(top)
        new.mkdir(exist_ok=True)
        for entry in folder.iterdir():
            if entry not in changed and entry not in around and entry.name != "__pycache__":
                (new / entry.name).symlink_to(entry)
    for path, result in changed.items():
        new = copy / path.relative_to(top)
        new.write_text(result.after, encoding="utf-8")
        map_path(new).unlink(missing_ok=True)
        map_path(new).write_text(map_text(result.map, None), encoding="utf-8")


# -- importing ----------------------------------------------------------------------------------


def _import_errors(top: Path, copy: Path, paths: Sequence[Path]) -> dict[Path, str]:
    """Return the files that import as they are and not when migrated, with the reason.

    A file fails because of the last file on the way to the error that was migrated, too.
    """
    failing = [copy / path.relative_to(top) for path in paths]
    failing = [Path(line["file"]) for line in _attempts(copy, failing) if line["error"]]
    if not failing:
        return {}
    originals = [top / path.relative_to(copy) for path in failing]
    importable = {line["file"] for line in _attempts(top, originals) if not line["error"]}
    found: dict[Path, str] = {}
    for line in _attempts(copy, failing):
        file = top / Path(line["file"]).relative_to(copy)
        if line["error"] and str(file) in importable:
            at = top / Path(line["at"]).relative_to(copy)
            found[at if at in paths else file] = f"it would not import: {line['error']}"
    return found


def _attempts(top: Path, files: Sequence[Path]) -> Iterator[Mapping[str, str]]:
    """Yield what became of the import of each file; of those only that time was enough for."""
    command = [sys.executable, "-m", _IMPORTING, str(top), *map(str, files)]
    for line in _output(command).splitlines():
        yield json.loads(line)


# -- comparing ----------------------------------------------------------------------------------


def _differences(
    top: Path, copy: Path, changed: Mapping[Path, LinenResult], example: Path
) -> dict[tuple[Path, str], str]:
    """Return the modules that do not compute what they computed, with the reason."""
    found: dict[tuple[Path, str], str] = {}
    named = example.read_text(encoding="utf-8", errors="replace")
    for path in changed:
        if not any(plan.cls.name in named for plan in changed[path].plans):
            continue
        files = [str(path), str(copy / path.relative_to(top)), "--example", str(example)]
        said = _output([sys.executable, "-c", _COMMAND, "verify", *files, "--json", "-"])
        said = said.replace(str(copy), str(top))
        try:
            examples = json.loads(said)["examples"]
        except (ValueError, KeyError) as error:
            raise NotVerified(
                f"`typed-nnx verify` said nothing: {said.strip()[-_LONGEST:]}"
            ) from error
        for one in examples:
            if not one["equal"]:
                name = one["class"].rpartition(".")[2]  # an example may give its full name
                found.setdefault((path, name), _reason(one))
    return found


def _reason(example: Mapping[str, Any]) -> str:
    """Return in one sentence in what an example is not what it was."""
    name = f"in the example {example['example']}"
    if example["error"]:
        why = " ".join(str(example["error"]).partition("Fix:")[0].split())
        return f"{name} it fails: {why[:_LONGEST]}"
    differing = [one for one in example["items"] if one["state"] == "differs"]
    what = [f"{one['kind']} {one['path']}".strip() for one in differing]
    what += [f"the weight {one} that goes nowhere" for one in (example["weights"] or {})["extra"]]
    rest = f" and {len(what) - 1} more" if len(what) > 1 else ""
    return f"{name} it is not what Linen computes: {what[0]}{rest}"


def _output(command: Sequence[str]) -> str:
    """Run a program; return what it printed, up to its end or until time is up."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode("utf-8", "replace")
    except OSError as error:
        raise NotVerified(f"Python cannot be started: {error}") from error
    return done.stdout or done.stderr


# The parts of the work, as they are shown: to read files, to plan modules, to write files.
_OF_READING, _OF_PLANNING, _OF_WRITING = 0.2, 0.5, 0.3
_UNWRITABLE = "its new text would not parse"
_UNDEFINED = "its new text would read `{name}` in line {line}, which nothing defines"
_WORD: Final = re.compile(r"\w+")
_LOST = "`{name}`, which other files import from it, would be lost"


@contextmanager
def _not_collected() -> Iterator[None]:
    """Keep Python from looking for cycles of objects: trees of code are many objects, and have none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_not_collected()
def migrate_linen(
    paths: Sequence[Path],
    roots: Sequence[Path],
    options: Options,
    trace: Trace | None = None,
    gradual: bool = False,
    failures: Failures = NO_FAILURES,
    advance: Callable[[float], None] = lambda part: None,
    front: FrontEnd = LINEN_ITSELF,
) -> list[LinenResult]:
    """Migrate files; nothing is written.

    Args:
        paths: The files.
        roots: What imports may lead to. Modules with jax that code of the files refers to are read.
        options: What is asked for.
        trace: What a trace tells of the shapes that submodules are called with.
        gradual: Whether modules that need a person stay in Linen, in a bridge.
        failures: What running the migrated code has shown.
        advance: Called with the part of the work that is done now: all parts together are 1.
        front: The library that the code is of.

    Returns:
        The results of the files that could be read and mention flax.
    """
    project = Project(tuple(roots), paths)
    analyses = _analyses(paths, project, _steps(advance, _OF_READING, len(paths)))
    kept = frozenset(project.read) - {path.resolve() for path in analyses}
    analyses |= _analyses(sorted(kept), project)
    trees = {path: one.tree for path, one in analyses.items()}
    before = {path: project.text(path) for path in analyses}
    for change in (front.translate, with_builders):
        changed = change(analyses)
        if changed:
            project.change(changed)
            analyses = _analyses([*analyses], project)
    texts = {
        path: (before[path], before[path] if one.tree is trees[path] else text_of_module(one.tree))
        for path, one in analyses.items()
    }
    migration = _Migration(*(project, analyses, texts, options, trace, kept, advance), front=front)
    results = migration.run(failures, gradual=gradual)
    results = [as_it_was(one, before[one.path]) for one in results]
    changed_files = {one.path for one in results if one.after != one.before}
    laid_out = with_layout({one.path: (one.before, one.after) for one in results})
    results = [replace(one, after=laid_out[one.path]) for one in results]
    # libcst may not give back the text of a file.
    return [
        replace(one, before=text_of_module(trees[one.path])) if one.path in changed_files else one
        for one in results
    ]


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
        texts: Their texts as they were, and as they were analysed.
        options: What is asked for.
        trace: What a trace tells.
        kept: The files that are only read.
        advance: Called with the part of the work that is done now.
        front: The library that the code is of.
    """

    def __init__(
        self,
        project: Project,
        analyses: dict[Path, Analysis],
        texts: Mapping[Path, tuple[str, str]],
        options: Options,
        trace: Trace | None,
        kept: frozenset[Path],
        advance: Callable[[float], None],
        front: FrontEnd,
    ) -> None:
        self._front = front
        self._analyses = analyses
        self._before = {path: before for path, (before, _) in texts.items()}
        self._texts = {path: text for path, (_, text) in texts.items()}
        self._kept = kept
        self._classes = LinenClasses(analyses.values())
        self._every = [cls for one in analyses.values() for cls in self._classes.all_in(one)]
        self._composed = ComposedModels(self._classes)
        self._files = {one: File(one, options) for one in analyses.values()}
        modules = ImportedModules(project, analyses.values())
        refers = {one.path: Refer(file, modules) for one, file in self._files.items()}
        self._refers, self._trace = refers, trace
        # Each module is looked at before it is planned.
        self._planned = _steps(advance, _OF_PLANNING, 2 * len(self._every))
        self._written = _steps(advance, _OF_WRITING, len(analyses.keys() - kept))
        self._planner = self._new_planner()
        self._callers = Callers(self._classes, self._composed, self._planner.plan_of)
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

    def _new_planner(self, gradual: Gradual | None = None) -> Planner:
        return Planner(
            *(self._classes, self._refers, self._trace, gradual, self._planned),
            self._front.naming,
            [*self._composed.of_modules()] if self._front.has_callers else (),
        )

    def _keep_some(self, gradual: Gradual) -> None:
        """Plan until no module that needs a person is migrated."""
        while True:
            self._planner = self._new_planner(gradual)
            for cls in self._every:
                self._check_helpers(cls)
            plans = {cls: self._planner.plan_of(cls) for cls in self._every}
            self._callers = Callers(self._classes, self._composed, self._planner.plan_of)
            if not gradual.wraps_layers or not gradual.keep(plans, self._classes, self._used):
                break

    def _used(self) -> dict[LinenClass, str]:
        """Return the modules that callers use in a way which is left to a person, and why."""
        found: dict[LinenClass, str] = {}
        for file in self._files.values() if self._front.has_callers else ():
            for mark in self._callers.plan(file).marks:
                for cls in self._callers.concerned(mark.node, file.analysis):
                    found.setdefault(cls, f"{file.analysis.path.name} uses it: {mark.message}")
        return found

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
            before = self._before[path]
            if not problem and text != before:
                is_sound = still_parses(text, is_newer=bool(error_in(before)))
                problem = "" if is_sound else _UNWRITABLE
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
        names = {name for some in lost.values() for name in some}
        for path, one in self._analyses.items():
            text = texts.get(path, self._before[path])
            if names.isdisjoint(_WORD.findall(text)):
                continue
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
        callers = self._callers.plan(file) if self._front.has_callers else CallerPlan()
        if not plans and callers.is_empty:
            return self._texts[path]
        self._caller_marks[path] = callers.marks
        emission = Emission(
            file, self._classes, self._planner.plan_of, self._method_code(), callers
        )
        after = emission.applied(tree)
        # Methods are written where they are defined, for the modules of other files that inherit them.
        inheriting = (plan for plan in self._inheriting(analysis) if not plan.stays)
        read = {*names_of(after)}
        helpers = [one for plan in plans if not plan.stays for one in plan.helpers]
        helpers += [one for plan in inheriting for one in plan.helpers if one.name in read]
        helpers += callers.helpers
        after = with_helpers(after, helpers, file)
        texts = of_kinds(descendants(after), cst.FormattedString)
        if any(one not in analysis.nodes for one in texts):
            after = NestedQuotes(analysis.nodes).applied(after)
        needed = self._needed.get(path, frozenset())
        return text_of_module(finish_imports(tree, after, file, needed))

    def _inheriting(self, analysis: Analysis) -> Iterator[ClassPlan]:
        """Yield the plans of modules that inherit from those of a file, and are in others."""
        for cls in self._every:
            if cls.analysis is not analysis and any(
                one.analysis is analysis for one in cls.ancestry()
            ):
                yield self._planner.plan_of(cls)

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
        result = LinenResult(path, before, text or before, plans, findings, front=self._front)
        problems += [self._unwritten[path]] if path in self._unwritten else []
        return replace(result, error="; ".join(problems))


def _imported(text: str, analysis: Analysis) -> Iterable[tuple[str, str]]:
    """Return the names that a file takes from others: the other module, and the name in it."""
    try:
        return [*imported_names(ast.parse(text), analysis.module, analysis.is_package)]
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
