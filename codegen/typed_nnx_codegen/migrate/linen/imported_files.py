"""Which files of a project belong to Linen code: those that it imports, and those that inherit from it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_USES_JAX: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(?:flax|jax)\b", re.MULTILINE)
# The head of a class, up to its colon: what is there beside the bases does no harm.
_CLASS: Final = re.compile(rb"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^:]*)", re.MULTILINE)
_ALIAS: Final = re.compile(rb"\b(\w+)[ \t]+as[ \t]+(\w+)")
_WORD: Final = re.compile(rb"\w+")
# Enough for the modules that a model is made of; others say nothing of its sizes.
_MOST: Final = 40


def near_files(paths: Iterable[Path]) -> list[Path]:
    """Return the modules with jax that files import from their own project, and these in turn.

    Their own project is the package around a file, or its folder where it is in no package.

    Args:
        paths: The files. Folders are read as they are.
    """
    named = {path.resolve(): None for path in paths if path.is_file()}
    found: dict[Path, None] = {}
    waiting = list(named)
    for path in waiting:  # it grows on the way
        if len(found) >= _MOST:
            break
        for near in _imported(path, _tree(path)):
            if near not in found and near not in named and uses_jax(near):
                found[near] = None
                waiting.append(near)
    return list(found)


def deriving_files(paths: Iterable[Path], sources: Iterable[Path]) -> list[Path]:
    """Return the files whose classes may inherit from Linen modules, without a word of flax.

    Classes are told apart by their names alone: reading such a file shows whether they are modules.

    Args:
        paths: The files that do not mention flax.
        sources: The files that do.
    """
    classes = [(None, *one) for source in sources for one in _classes(_tree(source))]
    heads = [(path, *one) for path in paths if path.suffix == ".py" for one in _heads(path)]
    modules = {name for _, name, _, is_of_flax in classes if is_of_flax}
    waiting = [*((path, name, bases) for path, name, bases, _ in classes), *heads]
    found: dict[Path, None] = {}
    while new := [one for one in waiting if modules & one[2]]:
        waiting = [one for one in waiting if not modules & one[2]]
        modules |= {name for _, name, _ in new}
        found |= {path: None for path, _, _ in new if path is not None}
    return [path for path in found if any(True for _ in _imported(path, _tree(path)))]


def _classes(tree: ast.Module) -> Iterator[tuple[str, set[str], bool]]:
    """Yield the names of classes, those of their bases, and whether one of these is of flax.

    A name that is assigned to counts as a class: `Base = nn.Module`.
    """
    nodes = list(ast.walk(tree))
    origins: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            origins |= {one.asname or one.name.split(".")[0]: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            origins |= {one.asname or one.name: f"{module}.{one.name}" for one in node.names}
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            name, bases = node.name, list(map(_dotted, node.bases))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, bases = node.targets[0].id, [_dotted(node.value)]
        else:
            continue
        full = [origins.get(base.partition(".")[0], "") for base in bases]
        is_of_flax = any(one.partition(".")[0] == "flax" for one in full)
        # `nn` of another file of the project may be Linen.
        is_of_flax |= any(
            one.startswith(".") and base.endswith(".Module")
            for one, base in zip(full, bases, strict=True)
        )
        yield name, {one.rpartition(".")[2] for one in (*bases, *full)} - {""}, is_of_flax


def _dotted(node: ast.expr) -> str:
    """Return `a.b` for a name or an attribute, also under a subscript; empty for anything else."""
    match node:
        case ast.Subscript(value=inner):
            return _dotted(inner)
        case ast.Attribute(value=inner, attr=name):
            return f"{_dotted(inner)}.{name}"
        case ast.Name(id=name):
            return name
    return ""


def _heads(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield the classes of a file, and the words where their bases are; nothing is parsed."""
    try:
        data = path.read_bytes()
    except OSError:
        return
    heads = _CLASS.findall(data)
    aliases = {local: name for name, local in _ALIAS.findall(data)} if heads else {}
    for name, bases in heads:
        words = _WORD.findall(bases)
        words += [aliases[word] for word in words if word in aliases]
        yield name.decode("utf-8", "replace"), {one.decode("utf-8", "replace") for one in words}


def _tree(path: Path) -> ast.Module:
    """Return the tree of a file; an empty one where it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the strings of users
            return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])  # whoever reads the file itself says what is wrong


def _imported(path: Path, tree: ast.Module) -> Iterator[Path]:
    """Yield the files of its project that a file imports."""
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


def uses_jax(path: Path) -> bool:
    """Whether a file imports jax or flax."""
    try:
        return _USES_JAX.search(path.read_bytes()) is not None
    except OSError:
        return False
