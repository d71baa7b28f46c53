"""Which file mypy takes its settings from, and which plugins it names.

Source: https://mypy.readthedocs.io/en/stable/config_file.html
"""

from __future__ import annotations

import configparser
import glob
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

PLUGIN: Final = "typed_nnx_mypy"
_OWN_NAMES: Final = ("mypy.ini", ".mypy.ini")
_SHARED_NAMES: Final = ("pyproject.toml", "setup.cfg")
_ROOT_MARKS: Final = (".git", ".hg")
_SECTION: Final = "mypy"

Table = dict[str, object]


@dataclass(frozen=True)
class MypySettings:
    """The settings of mypy in a project.

    Attributes:
        path: The file that they are in.
        plugins: The plugins that it names.
        sections: The sections of an INI file that are mypy's, by their names; of a
            pyproject.toml the table ``tool.mypy`` alone, under the name ``mypy``.
        names_files: Whether they say what mypy checks when it is given no paths.
    """

    path: Path
    plugins: tuple[str, ...]
    sections: Mapping[str, Table]

    @property
    def is_toml(self) -> bool:
        """Whether the file is TOML."""
        return self.path.suffix.lower() == ".toml"

    @property
    def has_plugin(self) -> bool:
        """Whether the plugin of typed-nnx is one of those that are named."""
        return any(module_of(each) == PLUGIN for each in self.plugins)

    @property
    def names_files(self) -> bool:
        """Whether they say what mypy checks where it is given no paths."""
        return any(self.sections[_SECTION].get(key) for key in ("files", "packages", "modules"))

    def files(self, folder: Path) -> tuple[Path, ...]:
        """Return the files and folders that ``files`` names from a folder on, those that exist."""
        found: list[Path] = []
        for text in _names(self.sections[_SECTION].get("files")):
            pattern = os.path.expandvars(os.path.expanduser(text))
            names = glob.glob(pattern, root_dir=folder, recursive=True)
            found.extend(Path(name) for name in sorted(names))
        return tuple(found)

    def excludes(self, path: Path) -> bool:
        """Whether ``exclude`` matches a file, or a folder that it is in, as mypy has it."""
        value = self.sections[_SECTION].get("exclude")
        patterns = [value] if isinstance(value, str) else cast("list[str]", value or [])
        names = [path.as_posix(), *(f"{each.as_posix()}/" for each in path.parents if each.name)]
        try:
            return any(re.search(pattern, name) for pattern in patterns for name in names)
        except re.error:  # mypy itself says so
            return False

    @property
    def line_to_write(self) -> str:
        """The line that names the plugin beside those that are named already."""
        names = [*self.plugins, PLUGIN]
        if self.is_toml:
            return f"plugins = [{', '.join(f'{each!r}' for each in names)}]".replace("'", '"')
        return f"plugins = {', '.join(names)}"


class UnreadableSettings(ValueError):
    """A file of settings cannot be read. The message says which one and why."""


def module_of(plugin: str) -> str:
    """Return the first name of a plugin's module: ``a`` of ``a.b:make``."""
    return plugin.partition(":")[0].strip().partition(".")[0]


def find_mypy_settings(start: Path) -> MypySettings | None:
    """Return the settings that mypy uses when it runs in a folder; None where there are none.

    Raises:
        UnreadableSettings: The file that mypy would take cannot be read.
    """
    for folder in _folders(start.absolute()):
        for name in (*_OWN_NAMES, *_SHARED_NAMES):
            found = _read(folder / name)
            if found is not None:
                return found
    for path in _user_files():
        found = _read(path)
        if found is not None:
            return found
    return None


def _folders(start: Path) -> Iterator[Path]:
    """Yield the folder and those above it up to the root of the repository."""
    for folder in (start, *start.parents):
        yield folder
        if any((folder / mark).exists() for mark in _ROOT_MARKS):
            return


def _user_files() -> list[Path]:
    home = [Path("~/.config/mypy/config"), Path("~/.mypy.ini")]
    base = os.environ.get("XDG_CONFIG_HOME")
    return [path.expanduser() for path in ([Path(base, "mypy", "config")] if base else []) + home]


def _read(path: Path) -> MypySettings | None:
    """Return what a file says, None where it is not there or has nothing of mypy."""
    if not path.is_file():
        return None
    try:
        sections = _toml_sections(path) if path.suffix == ".toml" else _ini_sections(path)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, configparser.Error) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UnreadableSettings(f"{path}: cannot be read: {reason}") from error
    if _SECTION not in sections:
        if path.name in _SHARED_NAMES:
            return None
        sections[_SECTION] = {}
    return MypySettings(path, _names(sections[_SECTION].get("plugins")), sections)


def _toml_sections(path: Path) -> dict[str, Table]:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    tools = document.get("tool")
    table: object = cast("Table", tools).get(_SECTION) if isinstance(tools, dict) else None
    return {_SECTION: cast("Table", table)} if isinstance(table, dict) else {}


def _ini_sections(path: Path) -> dict[str, Table]:
    parser = configparser.RawConfigParser()
    parser.read_string(path.read_text(encoding="utf-8"), str(path))
    return {
        name: dict(parser[name])
        for name in parser.sections()
        if name == _SECTION or name.startswith(f"{_SECTION}-")
    }


def _names(value: object) -> tuple[str, ...]:
    """Return the names in a list or a text with commas."""
    if isinstance(value, list):
        names = [str(each) for each in cast("list[object]", value)]
    else:
        names = re.split(r"[,\n]", str(value or ""))
    return tuple(name.strip() for name in names if name.strip())
