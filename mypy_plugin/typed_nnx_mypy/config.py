"""What ``[tool.typed_nnx]`` of the pyproject.toml says: the runtimes and severities.

```toml
[tool.typed_nnx]
runtimes = ["typed_nnx", "flax.nnx"]   # whose code is checked; both by default

[tool.typed_nnx.severity]
nnx-deprecated = "note"                # "error" (default), "note" or "off"
```

`report_open = true` has a note wherever a class becomes open, so that checks of its keys are quiet.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from typed_nnx_codegen.facts.names import RUNTIMES
from typed_nnx_mypy.errorcodes import ALL

SEVERITIES: Final = ("error", "note", "off")
# `typed-nnx lint` reads the last one: which files it looks at is no matter of the plugin.
_KEYS: Final = ("runtimes", "severity", "report_open", "lint")


class ConfigError(Exception):
    """The table ``[tool.typed_nnx]`` cannot be read. mypy prints the message and ends."""


@dataclass(frozen=True)
class Config:
    """The settings of the plugin.

    Attributes:
        runtimes: The runtimes whose code is checked: keys of `RUNTIMES`.
        severity: By error code: "error", "note" or "off". Codes that are missing are errors.
        report_open: Whether there is a note where a class becomes open.
    """

    runtimes: tuple[str, ...] = tuple(RUNTIMES)
    severity: Mapping[str, str] = field(default_factory=dict[str, str])
    report_open: bool = False

    def of(self, code: str) -> str:
        """Return the severity of an error code."""
        return self.severity.get(code, "error")


def find_pyproject(config_file: str | None, start: Path) -> Path | None:
    """Return the pyproject.toml beside mypy's configuration, or else the next one above `start`."""
    folders = [start, *start.parents]
    if config_file:
        folders.insert(0, Path(config_file).resolve().parent)
    return next(
        (folder / "pyproject.toml" for folder in folders if (folder / "pyproject.toml").is_file()),
        None,
    )


def read_config(path: Path | None) -> Config:
    """Return what a pyproject.toml says.

    Raises:
        ConfigError: The file is no TOML, or a setting is not known.
    """
    if path is None:
        return Config()
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"{path}: cannot be read as TOML: {error}. Fix: correct it there."
        ) from error
    tool = cast("dict[str, object]", document.get("tool", {}))
    table = tool.get("typed_nnx", {})
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: [tool.typed_nnx] is not a table. Fix: write it as a table.")
    settings = cast("dict[str, object]", table)
    for key in settings:
        if key not in _KEYS:
            raise ConfigError(
                f"{path}: [tool.typed_nnx] has no setting {key!r}. Fix: use {' or '.join(_KEYS)}."
            )
    report_open = settings.get("report_open", False)
    if not isinstance(report_open, bool):
        raise ConfigError(
            f"{path}: `report_open` of [tool.typed_nnx] is {report_open!r}. Fix: write true or false."
        )
    return Config(
        report_open=report_open,
        runtimes=_runtimes(path, settings.get("runtimes", list(RUNTIMES))),
        severity=_severity(path, settings.get("severity", {})),
    )


def _runtimes(path: Path, value: object) -> tuple[str, ...]:
    known = " and ".join(repr(each) for each in RUNTIMES)
    names = cast("list[object]", value) if isinstance(value, list) else None
    if names is None or any(not isinstance(each, str) or each not in RUNTIMES for each in names):
        raise ConfigError(
            f"{path}: `runtimes` of [tool.typed_nnx] is {value!r}. Fix: give a list of {known}."
        )
    return tuple(str(each) for each in names)


def _severity(path: Path, value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ConfigError(
            f"{path}: `severity` of [tool.typed_nnx] is {value!r}. "
            'Fix: write a table such as severity = {"nnx-deprecated" = "note"}.'
        )
    codes = {code.code for code in ALL}
    found: dict[str, str] = {}
    for code, level in cast("dict[str, object]", value).items():
        if code not in codes:
            raise ConfigError(
                f"{path}: `severity` of [tool.typed_nnx] names {code!r}, which is not an error code "
                f"of the plugin. Fix: use one of {', '.join(sorted(codes))}."
            )
        if level not in SEVERITIES:
            raise ConfigError(
                f"{path}: the severity of {code!r} in [tool.typed_nnx] is {level!r}. "
                f"Fix: use one of {', '.join(SEVERITIES)}."
            )
        found[code] = str(level)
    return found
