"""`--verify`: migrated files are imported and compared with Linen before anything is written.

The new texts are put into a copy of the project, where everything else is a link to what is there.
Processes of their own import the files of both, and run `typed-nnx verify` on the examples. What
runs the code of users imports jax, so none of it runs in this process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from typed_nnx_codegen.migrate.linen.project.results import LinenResult, map_path, map_text

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
                found.setdefault((path, one["class"]), _reason(one))
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
