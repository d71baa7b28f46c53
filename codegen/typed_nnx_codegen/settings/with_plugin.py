"""The settings of a project with our mypy plugin added: in a file for one run, or for good."""

from __future__ import annotations

import configparser
import contextlib
import io
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from typed_nnx_codegen.settings.mypy_settings import (
    PLUGIN,
    MypySettings,
    Table,
    UnreadableSettings,
    find_mypy_settings,
)

_FOLDER_OF_FILE: Final = ("${MYPY_CONFIG_FILE_DIR}", "$MYPY_CONFIG_FILE_DIR")
_WITHOUT_SETTINGS: Final = f"[mypy]\nplugins = {PLUGIN}\n"


def write_with_plugin(settings: MypySettings | None, folder: Path) -> Path:
    """Write the settings with the plugin added, and return the file.

    What depends on where the file is (`$MYPY_CONFIG_FILE_DIR`, plugins that are files) means what
    it means in the file that they come from.

    Args:
        settings: The settings of the project; None where it has none.
        folder: An empty folder. A pyproject.toml beside the settings is copied there too, since
            the plugin looks for its own settings beside mypy's.
    """
    if settings is None:
        path = folder / "mypy.ini"
        path.write_text(_WITHOUT_SETTINGS, encoding="utf-8")
        return path
    home = settings.path.absolute().parent
    sections = {name: _moved(table, home) for name, table in settings.sections.items()}
    sections["mypy"]["plugins"] = [_plugin(each, home) for each in settings.plugins] + [PLUGIN]
    if settings.is_toml:
        ours = _our_table(settings.path)
        path = folder / "pyproject.toml"
        path.write_text(_toml(sections["mypy"], ours), encoding="utf-8")
        return path
    path = folder / "mypy.ini"
    path.write_text(_ini(sections), encoding="utf-8")
    beside = home / "pyproject.toml"
    if beside.is_file():
        (folder / "pyproject.toml").write_bytes(beside.read_bytes())
    return path


def add_plugin(settings: MypySettings | None, folder: Path) -> bool:
    """Name our plugin in the settings of a project, and change nothing else of the file.

    Returns whether that was done: not where the file has the plugins in a form that is not known.

    Args:
        settings: The settings; None writes them to the pyproject.toml of the folder.
        folder: The folder of the project.
    """
    path = folder / "pyproject.toml" if settings is None else settings.path
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if settings is None:
        gap = "\n" if before else ""
        path.write_text(f'{before}{gap}[tool.mypy]\nplugins = ["{PLUGIN}"]\n', encoding="utf-8")
        return True
    header = r"\[tool\.mypy\]" if settings.is_toml else r"\[mypy\]"
    section = re.search(rf"^{header}[^\n]*\n(?:(?!\[)[^\n]*\n?)*", before, re.MULTILINE)
    if section is None:
        return False
    text = section[0]
    if settings.plugins:
        changed = _after_the_last(settings.plugins[-1], text)
    else:
        head, _, rest = text.partition("\n")
        changed = f"{head}\n{settings.line_to_write}\n{rest}"
    after = before[: section.start()] + changed + before[section.end() :]
    path.write_text(after, encoding="utf-8")
    with contextlib.suppress(UnreadableSettings):
        found = find_mypy_settings(folder)
        if (
            found is not None
            and list(found.plugins) == [*settings.plugins, PLUGIN]
            and _without_plugins(found) == _without_plugins(settings)
        ):
            return True
    path.write_text(before, encoding="utf-8")
    return False


def _after_the_last(plugin: str, text: str) -> str:
    """Return the text of a section with our plugin after its last one, in the same quotes."""
    listed = rf"""(^plugins\s*=[^=]*?(["']?)(?<![\w.]){re.escape(plugin)}\2(?![\w.]))"""
    return re.sub(listed, rf"\1, \2{PLUGIN}\2", text, count=1, flags=re.MULTILINE)


def _without_plugins(settings: MypySettings) -> dict[str, Table]:
    table = settings.sections["mypy"]
    rest = {key: value for key, value in table.items() if key != "plugins"}
    return {**settings.sections, "mypy": rest}


def _moved(table: Table, home: Path) -> Table:
    """Return a table in which the folder of its file is written out."""
    return {key: _written_out(value, home) for key, value in table.items()}


def _written_out(value: object, home: Path) -> object:
    if isinstance(value, str):
        for spelling in _FOLDER_OF_FILE:
            value = value.replace(spelling, str(home))
        return value
    if isinstance(value, list):
        return [_written_out(each, home) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        return _moved(cast("Table", value), home)
    return value


def _plugin(name: str, home: Path) -> str:
    """Return a plugin; one that is a file is named by its whole path."""
    return str(home / name) if ".py" in Path(name).suffix else name


def _ini(sections: Mapping[str, Table]) -> str:
    parser = configparser.RawConfigParser()
    for name, table in sections.items():
        parser[name] = {
            key: ", ".join(map(str, cast("list[object]", value)))
            if isinstance(value, list)
            else str(value)
            for key, value in table.items()
        }
    text = io.StringIO()
    parser.write(text)
    return text.getvalue()


def _our_table(path: Path) -> Table:
    tool = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    return cast("Table", tool.get("typed_nnx", {}))


def _toml(mypy: Table, ours: Table) -> str:
    return f"[tool]\nmypy = {_value(mypy)}\ntyped_nnx = {_value(ours)}\n"


def _value(value: object) -> str:
    """Return a value as TOML, which takes the texts and lists of JSON as they are."""
    if isinstance(value, dict):
        table = cast("Table", value)
        inside = (f"{json.dumps(key)} = {_value(each)}" for key, each in table.items())
        return f"{{ {', '.join(inside)} }}"
    if isinstance(value, list):
        return f"[{', '.join(_value(each) for each in cast('list[object]', value))}]"
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")
