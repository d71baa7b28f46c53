"""The stub package beside the runtime, and the overlay of the project's own models."""

from __future__ import annotations

import importlib
import importlib.util
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from typed_nnx_codegen.doctor.finding import FIX, NOTE, OK, Finding
from typed_nnx_codegen.settings.pyright_settings import find_stub_path

AREA: Final = "stubs"
_PACKAGE: Final = "typed_nnx-stubs"
_REINSTALL: Final = "pip install --force-reinstall --no-deps typed-nnx"
_MOST: Final = 4


def stub_findings(folder: Path) -> Iterator[Finding]:
    """Yield what is found of both."""
    yield from _package_findings()
    yield _overlay_finding(folder)


# -- the stub package ---------------------------------------------------------------------------


def _package_findings() -> Iterator[Finding]:
    runtime = _folder_of("typed_nnx")
    if runtime is None:
        yield Finding(AREA, "typed_nnx", FIX, "the runtime is not installed", _REINSTALL)
        return
    found = [Path(each, _PACKAGE) for each in dict.fromkeys(sys.path) if each]
    found = [each for each in found if each.is_dir()]
    if not found:
        said = "not installed: checkers see less of transforms and States"
        yield Finding(AREA, _PACKAGE, FIX, said, _REINSTALL)
        return
    if len(found) > 1:
        others = ", ".join(str(each) for each in found[1:])
        said = f"there is more than one; {found[0]} counts"
        yield Finding(AREA, _PACKAGE, FIX, said, f"remove {others}")
    yield _same_version(found[0], runtime)


def _folder_of(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _same_version(package: Path, runtime: Path) -> Finding:
    """Make the stubs from the runtime that is installed, and compare them with those there."""
    if importlib.util.find_spec("libcst") is None:
        said = f"in {package.parent}; not compared, since libcst is not installed"
        return Finding(AREA, _PACKAGE, NOTE, said, "pip install 'typed-nnx[tools]'")
    # By name: it comes with libcst.
    generator: Any = importlib.import_module("typed_nnx_codegen.stubgen.__main__")
    try:
        made: dict[str, str] = generator.render()
    except (OSError, ValueError) as error:
        said = f"are not those of {runtime}: {str(error).splitlines()[0]}"
        return Finding(AREA, _PACKAGE, FIX, said, _REINSTALL)
    names = [name for name, text in sorted(made.items()) if _text(package / name) != text]
    if names:
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        said = f"other than the runtime: {', '.join(names[:_MOST])}{more}"
        return Finding(AREA, _PACKAGE, FIX, said, f"{_REINSTALL}, or make stubs in a clone")
    return Finding(AREA, _PACKAGE, OK, f"as the runtime, {len(made)} files")


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


# -- the overlay --------------------------------------------------------------------------------


def _overlay_finding(folder: Path) -> Finding:
    name = "overlay"
    if importlib.util.find_spec("mypy") is None:
        said = "not checked, since mypy is not installed"
        return Finding(AREA, name, NOTE, said, "pip install 'typed-nnx[tools]'")
    # By name: it comes with mypy.
    requests: Any = importlib.import_module("typed_nnx_codegen.model_stubs.command")
    overlay: Path | None = requests.find_overlay(folder)
    if overlay is None:
        said = "none here: editors do not complete the fields of your models' States"
        return Finding(AREA, name, NOTE, said, "typed-nnx stubs PACKAGE")
    shown = overlay.relative_to(folder) if overlay.is_relative_to(folder) else overlay
    try:
        request: Any = requests.request_of(overlay, folder)
    except requests.BadOverlay as error:
        said, _, remedy = str(error).partition("\n  Fix: ")
        return Finding(AREA, name, FIX, said, remedy)
    states: Any = importlib.import_module("typed_nnx_codegen.model_stubs.generation")
    models = request.read()
    if models.problems:
        first = models.problems[0]
        said = f"{first.path}:{first.line}: {first.message}"
        return Finding(AREA, name, FIX, said, "mend that file")
    state = states.overlay_state(request, models)
    if state.kind != "current":
        said = state.problem or "is there, but its sources have no models"
        return Finding(
            AREA,
            name,
            FIX,
            f"{shown} {said}",
            request.command,
            partial(_run, request.command, folder),
        )
    return _found_by_pyright(overlay, shown, folder)


def _run(command: str, folder: Path) -> None:
    """Run a command line of typed-nnx in the project."""
    program = "from typed_nnx_codegen.cli import main; main()"
    words = [sys.executable, "-c", program, *shlex.split(command)[1:]]
    subprocess.run(words, cwd=folder, capture_output=True, check=False)


def _found_by_pyright(overlay: Path, shown: Path, folder: Path) -> Finding:
    name = "overlay"
    looked = find_stub_path(folder)
    if looked.folder.resolve() != overlay.parent.resolve():
        said = f"{shown} is current, but pyright looks in {looked.folder}"
        where = f"stubPath in {looked.source}" if looked.source else "stubPath below [tool.pyright]"
        return Finding(AREA, name, FIX, said, f'{where}: "{shown.parent}"')
    return Finding(AREA, name, OK, f"{shown} is current, and where pyright looks")
