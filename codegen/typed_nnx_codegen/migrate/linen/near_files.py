"""The files of a project that single files import: they are read, and not migrated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_USES_JAX: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(?:flax|jax)\b", re.MULTILINE)
_HAS_BASES: Final = re.compile(rb"^[ \t]*class[ \t]+\w+[ \t]*\(", re.MULTILINE)
# Enough for the modules that a model is made of; others say nothing of its sizes.
_MOST: Final = 40


def near_files(paths: Iterable[Path]) -> list[Path]:
    """Return the modules with jax that files import from their own project, and these in turn.

    Their own project is the package around a file, or its folder where it is in no package.

    Args:
        paths: The files. Folders are read as they are.
    """
    named = [path.resolve() for path in paths if path.is_file()]
    found: dict[Path, None] = {}
    waiting = list(named)
    while waiting and len(found) < _MOST:
        for near in _imported(waiting.pop(0)):
            if near not in found and near not in named and _uses_jax(near):
                found[near] = None
                waiting.append(near)
    return list(found)


def deriving_files(paths: Iterable[Path], sources: Iterable[Path]) -> list[Path]:
    """Return the files whose classes may inherit from those of Linen code, without a word of flax.

    Args:
        paths: The files that do not mention flax.
        sources: The files that do.
    """
    known = {path.resolve() for path in sources if _has_bases(path)}
    waiting = {path: None for path in paths if path.suffix == ".py" and _has_bases(path)}
    found: list[Path] = []
    more = bool(known)
    while more:
        stems = b"|".join(re.escape(one.stem.encode()) for one in known)
        named = re.compile(rb"\b(?:" + stems + rb")\b")
        more = False
        for path in list(waiting):
            if named.search(path.read_bytes()) is None:
                continue
            if any(near.resolve() in known for near in _imported(path)):
                del waiting[path]
                found.append(path)
                known.add(path.resolve())
                more = True
    return found


def _has_bases(path: Path) -> bool:
    """Whether a file defines classes that inherit from others."""
    try:
        return _HAS_BASES.search(path.read_bytes()) is not None
    except OSError:
        return False


def _imported(path: Path) -> Iterator[Path]:
    """Yield the files of its project that a file imports."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return  # whoever reads the file itself says what is wrong
    top = _top(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _file(_below(top, alias.name))
        elif isinstance(node, ast.ImportFrom):
            folder = path.parents[node.level - 1] if node.level else top
            module = _below(folder, node.module or "")
            for place in (module, *(module / alias.name for alias in node.names)):
                yield from _file(place)


def _top(path: Path) -> Path:
    """Return the folder that absolute imports of the project begin in."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _below(folder: Path, name: str) -> Path:
    return folder.joinpath(*name.split(".")) if name else folder


def _file(place: Path) -> Iterator[Path]:
    """Yield the file of a module, or of a package."""
    for file in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
        if file.is_file() and not file.is_symlink():
            yield file


def _uses_jax(path: Path) -> bool:
    try:
        return _USES_JAX.search(path.read_bytes()) is not None
    except OSError:
        return False
