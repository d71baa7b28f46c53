"""Where pyright and Pylance look for stubs of a project.

Source: https://github.com/microsoft/pyright/blob/main/docs/configuration.md
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

_DEFAULT: Final = "typings"
_JSON_NAME: Final = "pyrightconfig.json"
_STRING_OR_COMMENT: Final = re.compile(
    r'(?P<string>"(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL
)
_LAST_COMMA: Final = re.compile(r",(\s*[}\]])")


@dataclass(frozen=True)
class StubPath:
    """Where stubs are looked for.

    Attributes:
        folder: The folder.
        source: The file that says it; None where it is the default of the folder.
    """

    folder: Path
    source: Path | None = None


def find_stub_path(start: Path) -> StubPath:
    """Return where pyright looks for stubs when it runs in a folder."""
    begin = start.absolute()
    for folder in (begin, *begin.parents):
        for path, said in ((folder / _JSON_NAME, _json), (folder / "pyproject.toml", _toml)):
            found = said(path) if path.is_file() else None
            if found is not None:
                return _stub_path(found, path)
    return StubPath(begin / _DEFAULT)


def _stub_path(settings: dict[str, object], path: Path) -> StubPath:
    named = settings.get("stubPath")
    if not isinstance(named, str):
        return StubPath(path.parent / _DEFAULT, None)
    return StubPath(path.parent / named.replace("${workspaceFolder}", "."), path)


def _json(path: Path) -> dict[str, object]:
    """Return the settings of a JSON file with comments; none where it is broken."""
    try:
        text = path.read_text(encoding="utf-8")
        bare = _STRING_OR_COMMENT.sub(lambda found: found["string"] or " ", text)
        found: object = json.loads(_LAST_COMMA.sub(r"\1", bare))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def _toml(path: Path) -> dict[str, object] | None:
    """Return the settings in a pyproject.toml, None where it has none."""
    try:
        tool: object = tomllib.loads(path.read_text(encoding="utf-8")).get("tool")
    except (OSError, ValueError):
        return None
    table = cast("dict[str, object]", tool).get("pyright") if isinstance(tool, dict) else None
    return cast("dict[str, object]", table) if isinstance(table, dict) else None
