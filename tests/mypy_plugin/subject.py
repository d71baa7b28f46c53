"""One small file under mypy with the plugin, with settings of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.mypy_plugin.run import FOLDER, UNTYPED, footer
from tests.support.once import locked
from tests.support.processes import run_process

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
        return run_process(
            [sys.executable, "-m", "mypy", "--output", "json", "subject.py"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )


def said(source: str, settings: str = "", options: str = "") -> list[tuple[int, str, str]]:
    """Return line, severity and code of what mypy reports of a file."""
    done = run_mypy(source, settings, options)
    assert done.stderr == ""
    found = [json.loads(line) for line in done.stdout.splitlines() if line]
    return [(one["line"], one["severity"], one["code"]) for one in found]


def settings_folder() -> Path:
    """Return the folder that the files are in."""
    return FOLDER / "settings"
