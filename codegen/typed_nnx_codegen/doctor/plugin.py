"""The mypy plugin: whether it loads, whether this project uses it, whether its settings are valid."""

from __future__ import annotations

import difflib
import importlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from typed_nnx_codegen.doctor.finding import FIX, NOTE, OK, Finding, State
from typed_nnx_codegen.doctor.versions import is_installed
from typed_nnx_codegen.settings.mypy_settings import (
    PLUGIN,
    MypySettings,
    UnreadableSettings,
    find_mypy_settings,
)
from typed_nnx_codegen.settings.with_plugin import add_plugin, write_with_plugin

AREA: Final = "mypy plugin"
_LINE: Final = 'plugins = ["typed_nnx_mypy"] below [tool.mypy] in pyproject.toml'
_INSTALL: Final = "pip install 'typed-nnx[tools]'"
_NEAR: Final = 0.7


def plugin_findings(folder: Path, limit: float) -> Iterator[Finding]:
    """Yield what is found of the plugin and of its settings.

    Args:
        folder: The folder of the project.
        limit: The most seconds that a run of mypy may take.
    """
    if not is_installed("mypy"):
        yield Finding(AREA, "mypy", NOTE, "not installed: no type checks", _INSTALL)
        return
    yield loading(limit)
    try:
        settings = find_mypy_settings(folder)
    except UnreadableSettings as error:
        said = str(error).replace(f"{folder}/", "")
        yield Finding(AREA, "mypy's settings", FIX, said, "mend that file")
        return
    ours, problem = _our_settings(settings, folder)
    yield _switched_on(settings, folder, is_wanted=ours is not None)
    if problem is not None:
        yield problem
    elif ours is not None:
        yield Finding(AREA, "[tool.typed_nnx]", OK, f"valid, in {_shown(ours, folder)}")


def loading(limit: float) -> Finding:
    """Return whether the mypy that is installed loads the plugin: it checks one line with it.

    Args:
        limit: The most seconds that it may take.
    """
    name = "loads in mypy"
    with tempfile.TemporaryDirectory(prefix="typed-nnx-doctor-") as temporary:
        # In its folder: a pyproject.toml of the project has settings that are looked at later.
        config = write_with_plugin(None, Path(temporary))
        command = [sys.executable, "-P", "-m", "mypy", "--config-file", str(config)]
        try:
            done = subprocess.run(
                [*command, "--cache-dir", str(Path(temporary, "cache")), "-c", "pass"],
                capture_output=True,
                text=True,
                errors="backslashreplace",
                timeout=limit,
                cwd=temporary,
                check=False,
            )
        except subprocess.TimeoutExpired:
            remedy = "run it again when the machine is less busy, or with a larger --time-limit"
            return Finding(AREA, name, FIX, f"no answer after {limit:g} s", remedy)
    if done.returncode == 0:
        return Finding(AREA, name, OK, "yes")
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    error = next((line for line in lines if "error:" in line), lines[-1] if lines else "no message")
    said = error.partition("error: ")[2] or error
    return Finding(AREA, name, FIX, said, f"pip install --upgrade {_INSTALL.split()[-1]}")


def _switched_on(settings: MypySettings | None, folder: Path, *, is_wanted: bool) -> Finding:
    """Return whether the project's mypy runs with the plugin.

    Not to use it is no mistake, unless there are settings for it.
    """
    name = "switched on"
    state: State = FIX if is_wanted else NOTE
    if settings is None:
        said = "no: there are no settings of mypy in this folder or above it"
        repair = partial(add_plugin, None, folder)
        return Finding(AREA, name, state, said, _LINE, repair)
    shown = _shown(settings.path, folder)
    if settings.has_plugin:
        return Finding(AREA, name, OK, f"in {shown}")
    near = difflib.get_close_matches(PLUGIN, settings.plugins, n=1, cutoff=_NEAR)
    if near:
        said = f"no: {shown} names {near[0]!r}, which is not the plugin"
        return Finding(AREA, name, FIX, said, f"write {PLUGIN!r} in its place")
    section = "[tool.mypy]" if settings.is_toml else "[mypy]"
    remedy = f"{settings.line_to_write} below {section} in {shown}"
    repair = partial(add_plugin, settings, folder)
    return Finding(AREA, name, state, f"no: {shown} does not name it", remedy, repair)


def _our_settings(
    settings: MypySettings | None, folder: Path
) -> tuple[Path | None, Finding | None]:
    """Return the file with a table for the plugin, and what is wrong with the table."""
    # By name: it comes with mypy, which may be broken.
    try:
        config: Any = importlib.import_module("typed_nnx_mypy.config")
    except Exception as error:  # noqa: BLE001  # a broken mypy may raise anything
        said = f"not checked: {type(error).__name__}: {error}"
        return None, Finding(AREA, "[tool.typed_nnx]", NOTE, said)
    beside = str(settings.path) if settings is not None else None
    path: Path | None = config.find_pyproject(beside, folder)
    if path is None or not _has_table(path):
        return None, None
    try:
        config.read_config(path)
    except config.ConfigError as error:
        said, _, remedy = str(error).replace(f"{folder}/", "").partition(" Fix: ")
        return path, Finding(AREA, "[tool.typed_nnx]", FIX, said, remedy or "mend that file")
    return path, None


def _has_table(path: Path) -> bool:
    # A file that is no TOML is one that read_config complains of.
    text = path.read_text(encoding="utf-8", errors="replace")
    return "typed_nnx" in text.replace(PLUGIN, "").replace("-", "_") and "tool.typed_nnx" in text


def _shown(path: Path, folder: Path) -> str:
    here = folder.absolute()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
