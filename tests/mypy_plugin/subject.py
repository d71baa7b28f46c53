"""One small file under mypy with the plugin, with settings of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.mypy_plugin.run import FOLDER, UNTYPED, footer
from tests.support.once import locked
from tests.support.type_checkers import TypeCheckers

CONFIG = """\
[mypy]
plugins = typed_nnx_mypy
cache_dir = mypy_cache
{options}
[mypy-{untyped}]
follow_imports = skip
ignore_missing_imports = true
"""


def run_mypy(
    source: str, settings: str = "", options: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run mypy over one file and return the process.

    Args:
        source: The file.
        settings: The pyproject.toml.
        options: Lines for mypy's own configuration.
    """
    folder = FOLDER / "settings"
    with locked(folder / "lock"):
        files = {
            "mypy.ini": CONFIG.format(options=options, untyped=UNTYPED),
            "pyproject.toml": settings,
            "subject.py": source + footer(),
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return TypeCheckers(folder).run("-m", "mypy", "--output", "json", "subject.py")


def said(source: str, settings: str = "", options: str = "") -> list[tuple[int, str, str]]:
    """Return line, severity and code of what mypy reports of a file."""
    done = run_mypy(source, settings, options)
    assert done.stderr == ""
    found = TypeCheckers(settings_folder()).read_mypy(done.stdout)
    return [(one.line, one.severity, one.code) for one in found]


def settings_folder() -> Path:
    """Return the folder that the files are in."""
    return FOLDER / "settings"
