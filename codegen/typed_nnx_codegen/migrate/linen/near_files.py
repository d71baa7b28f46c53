"""The files that one file imports from its own package: they are read, and not migrated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_USES_JAX: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(?:flax|jax)\b", re.MULTILINE)


def near_files(paths: Iterable[Path]) -> list[Path]:
    """Return the modules with jax that files import by relative imports.

    Args:
        paths: The files. Folders are read as they are.
    """
    found = [near for path in paths if path.is_file() for near in _imported(path)]
    return [path for path in dict.fromkeys(found) if _uses_jax(path)]


def _imported(path: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return  # whoever reads the file itself says what is wrong
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        folder = path.resolve().parent
        for _ in range(node.level - 1):
            folder = folder.parent
        below = folder.joinpath(*(node.module or "").split(".")) if node.module else folder
        for place in (below, *(below / alias.name for alias in node.names)):
            file = place.with_name(f"{place.name}.py")
            if file.is_file() and not file.is_symlink():
                yield file


def _uses_jax(path: Path) -> bool:
    try:
        return _USES_JAX.search(path.read_bytes()) is not None
    except OSError:
        return False
