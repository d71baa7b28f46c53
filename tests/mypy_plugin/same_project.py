"""A project of several files that has a report of many checks, and ways to have mypy check it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.mypy_plugin.case_files import CASES
from tests.mypy_plugin.run import CONFIG, FOLDER, UNTYPED, Report, report_of
from tests.support.once import locked
from tests.support.type_checkers import REPOSITORY, TypeCheckers

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
        return self._said(TypeCheckers(self.folder), *(names or NAMES))

    def check_by_daemon(self) -> Said:
        """Return what the daemon says, which is started if there is none."""
        return self._said(TypeCheckers(self.folder, mypy_program=(*_DMYPY, "run", "--")), *NAMES)

    def stop_daemon(self) -> None:
        """End the daemon of the project, if it still runs."""
        TypeCheckers(self.folder).run(*_DMYPY, "kill")

    def _said(self, checkers: TypeCheckers, *names: str) -> Said:
        found = checkers.mypy(*self.options, *names)
        return sorted((Path(each.path).name, report_of(each)) for each in found)


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
        assert TypeCheckers(folder).mypy(*parser, "libraries.py") == []
    return folder / "mypy_cache"


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
