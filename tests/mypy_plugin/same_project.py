"""A project of several files that has a report of many checks, and ways to have mypy check it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tests.mypy_plugin.case_files import CASES
from tests.mypy_plugin.run import (
    CONFIG,
    FOLDER,
    REPOSITORY,
    UNTYPED,
    Report,
    read_reports,
)
from tests.support.once import locked
from tests.support.processes import run_process

FILES = {path.name: path.read_text(encoding="utf-8") for path in (CASES / "project").glob("*.py")}
NAMES = sorted(FILES)
# So that each way starts with what mypy knows of libraries, and of nothing else.
LIBRARIES = """\
import jax
import jax.numpy
import optax
import typed_nnx
"""
OTHER_PARSER = "--no-native-parser"
WITH_JAX = CONFIG.format(extra="", untyped=UNTYPED)
# The daemon of mypy 2.4.1 ends with a KeyError when a skipped package is imported by a changed file
# or by a library, with the plugin and without it. So it skips only what the project itself imports.
FOR_DAEMON = CONFIG.format(extra="", untyped="optax.*,orbax.*,treescope.*")
_WITHOUT_JAX = """\
[mypy]
plugins = typed_nnx_mypy
check_untyped_defs = true
cache_dir = mypy_cache
no_site_packages = true
ignore_missing_imports = true
mypy_path = {sources}
[mypy-typed_nnx.*]
follow_imports = silent
"""
_DMYPY = ("-m", "mypy.dmypy", "--status-file", "daemon.json")

Said = list[tuple[str, Report]]
"""Reports with the names of their files, in order."""


def without_jax(folder: Path) -> str:
    """Return the configuration for an environment that has typed_nnx alone.

    Args:
        folder: Where the sources are copied with the overloads of the stub package among them,
            which mypy finds only where packages are installed.
    """
    package = folder / "typed_nnx"
    shutil.copytree(REPOSITORY / "src" / "typed_nnx", package)
    shutil.copytree(REPOSITORY / "stubs" / "typed_nnx-stubs", package, dirs_exist_ok=True)
    return _WITHOUT_JAX.format(sources=folder)


class Project:
    """The project in a folder of its own.

    Args:
        folder: Where to write it.
        options: Options of mypy for each run.
        libraries: Whether to begin with the results of libraries.
        config: The configuration of mypy.
    """

    def __init__(
        self, folder: Path, *options: str, libraries: bool = True, config: str = WITH_JAX
    ) -> None:
        self.folder = folder
        self.options = options
        folder.mkdir(parents=True, exist_ok=True)
        _configure(folder, config)
        if libraries:
            shutil.copytree(_libraries(options), folder / "mypy_cache")
        self.write(FILES)

    def write(self, files: dict[str, str], newline: str = "\n") -> None:
        """Write files of the project, new or changed."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline=newline)

    def check(self, *names: str) -> Said:
        """Return what mypy says of files of the project: all, if none is named; options may be among them."""
        return _said(self._run("-m", "mypy", *self.options, *(names or NAMES)))

    def check_by_daemon(self) -> Said:
        """Return what the daemon says, which is started if there is none."""
        return _said(self._run(*_DMYPY, "run", "--", "--output", "json", *self.options, *NAMES))

    def stop_daemon(self) -> None:
        """End the daemon of the project, if it still runs."""
        command = [sys.executable, *_DMYPY, "kill"]
        run_process(command, cwd=self.folder, check=False, capture_output=True)

    def _run(self, *command: str) -> str:
        json_output = ["--output", "json"] if "mypy" in command else []
        done = run_process(
            [sys.executable, *command[:2], *json_output, *command[2:]],
            cwd=self.folder,
            env={name: value for name, value in os.environ.items() if name != "MYPYPATH"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1) or done.stderr:
            raise RuntimeError(f"mypy failed:\n{done.stdout}{done.stderr}")
        return done.stdout


def _configure(folder: Path, config: str) -> None:
    (folder / "mypy.ini").write_text(config, encoding="utf-8")
    (folder / "pyproject.toml").touch()


def _libraries(options: tuple[str, ...]) -> Path:
    """Return a cache that has the libraries only; it is kept from run to run."""
    name = "libraries_of_other_parser" if OTHER_PARSER in options else "libraries"
    folder = FOLDER / name
    with locked(folder / "lock"):
        _configure(folder, WITH_JAX)
        (folder / "libraries.py").write_text(LIBRARIES, encoding="utf-8")
        parser = [OTHER_PARSER] if OTHER_PARSER in options else []
        command = [sys.executable, "-m", "mypy", *parser, "libraries.py"]
        run_process(command, cwd=folder, check=True, capture_output=True)
    return folder / "mypy_cache"


def _said(output: str) -> Said:
    lines = [line for line in output.splitlines() if _is_report(line)]
    by_file = read_reports("\n".join(lines))
    return sorted((Path(file).name, report) for file, said in by_file.items() for report in said)


def _is_report(line: str) -> bool:
    """Tell a report from what the daemon says of itself."""
    try:
        return isinstance(json.loads(line), dict)
    except json.JSONDecodeError:
        return False


def in_namespace(package: str) -> dict[str, str]:
    """Return the files as modules of a package without ``__init__.py``."""
    moved = {}
    for name, text in FILES.items():
        for module in (Path(each).stem for each in NAMES):
            text = text.replace(f"from {module} import", f"from {package}.{module} import")
            text = text.replace(f"\nimport {module}\n", f"\nfrom {package} import {module}\n")
        moved[f"{package.replace('.', '/')}/{name}"] = text
    return moved


def edited(name: str, change: Callable[[str], str]) -> dict[str, str]:
    """Return one file of the project in another state."""
    text = change(FILES[name])
    assert text != FILES[name]
    return {name: text}


def for_flax(files: dict[str, str]) -> dict[str, str]:
    """Return files of the project as code on flax."""
    line = "import typed_nnx as nnx\n"
    return {name: text.replace(line, "from flax import nnx\n") for name, text in files.items()}
