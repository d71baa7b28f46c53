"""What the migration of Linen code gives: new texts, maps, findings, and what running them shows.

For `--verify`, migrated files are imported and compared with Linen before anything is written. The
new texts are put into a copy of the project, where everything else is a link to what is there.
Processes of their own import the files of both, and run `typed-nnx verify` on the examples. What
runs the code of users imports jax, so none of it runs in this process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final, Literal

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.findings import CHANGED, DECIDE, Finding
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Mark
from typed_nnx_codegen.migrate.linen.domain.markers import CLASS, TITLES

VERSION = 1
_LONGEST_CODE = 200


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

    @property
    def map(self) -> dict[str, object]:
        """The weight map, as JSON has it; its classes are empty where nothing was migrated."""
        classes = {plan.cls.name: _in_map(plan) for plan in self.plans if not plan.stays}
        return {"version": VERSION, "classes": classes}


def _in_map(plan: ClassPlan) -> dict[str, object]:
    lifted = [{"name": one.name, "expr": one.expression} for one in plan.lifted if one.expression]
    variables = {
        one.linen: {"to": one.to, **one.change} if one.change else one.to for one in plan.entries
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
    positions = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider)
    found: list[Finding] = []
    for plan in plans:
        for node, code, message in _told(plan):
            place = node if node in positions else plan.cls.node
            start = positions[place].start
            kind: Literal["changed", "decide"] = CHANGED if code == CLASS else DECIDE
            found.append(
                Finding(start.line, start.column, code, kind, message, before=_one_line(place))
            )
    for mark in outside:
        start = positions[mark.node].start
        code = _one_line(mark.node)
        found.append(
            Finding(start.line, start.column, mark.code, DECIDE, mark.message, before=code)
        )
    return tuple(sorted(dict.fromkeys(found)))


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
        """Return the failures of two runs."""
        return Failures({**self.files, **other.files}, {**self.classes, **other.classes})


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
    failing = [Path(line["file"]) for line in _imported(copy, failing) if line["error"]]
    if not failing:
        return {}
    originals = [top / path.relative_to(copy) for path in failing]
    importable = {line["file"] for line in _imported(top, originals) if not line["error"]}
    found: dict[Path, str] = {}
    for line in _imported(copy, failing):
        file = top / Path(line["file"]).relative_to(copy)
        if line["error"] and str(file) in importable:
            at = top / Path(line["at"]).relative_to(copy)
            found[at if at in paths else file] = f"it would not import: {line['error']}"
    return found


def _imported(top: Path, files: Sequence[Path]) -> Iterator[Mapping[str, str]]:
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
