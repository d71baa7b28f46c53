"""pyright-langserver on a project, as an editor starts it."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.editor import Editor

_SETTINGS = {"autoSearchPaths": True, "useLibraryCodeForTypes": True}


def language_server(folder: Path, *, timeout: float = 240.0) -> Editor:
    """Return the server, for a ``with``; it uses the packages of the interpreter that runs this."""
    return Editor(
        folder,
        [sys.executable, "-m", "pyright.langserver", "--stdio"],
        settings={"python": {"pythonPath": sys.executable}, "python.analysis": _SETTINGS},
        environment={"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        timeout=timeout,
    )
