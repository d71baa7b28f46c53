"""Names of modules that lie in folders without ``__init__.py``: as the source imports them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from mypy.modulefinder import BuildSource, get_search_dirs
from mypy.options import Options

_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_ROOTS = (".", "src")


def installed_folders(options: Options) -> list[str]:
    """Return the folders of installed packages, without the current one."""
    system, installed = get_search_dirs(options.python_executable)
    return [each for each in (*system, *installed) if os.path.abspath(each) != os.getcwd()]


def as_imported(files: Iterable[BuildSource], options: Options) -> list[BuildSource]:
    """Return files with the names of modules by which the files import each other.

    ``folder/part.py`` is the module ``part`` if `folder` is no package, but where a file says
    ``import folder.part`` it is ``folder.part``.

    Args:
        files: The files, named without such folders.
        options: mypy's, with the interpreter whose installed packages keep their names.
    """
    known, installed = list(files), installed_folders(options)
    names = {name for each in known for name in _imported(each.path or "")}
    own = {name for name in names if not any(Path(at, name).exists() for at in installed)}
    return [_renamed(each, own) for each in known]


def _imported(path: str) -> set[str]:
    try:
        text = Path(path).read_bytes()
    except OSError:
        return set()
    return {name.decode() for name in _IMPORT.findall(text)}


def _renamed(source: BuildSource, names: Collection[str]) -> BuildSource:
    for root in _ROOTS:
        path = os.path.relpath(source.path or "", root)
        parts = Path(path).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        module = ".".join(parts)
        if (
            len(parts) > 1
            and parts[0] in names
            and parts[0] not in _ROOTS
            and module.endswith(f".{source.module}")
        ):
            return BuildSource(source.path, module, None, os.path.abspath(root))
    return source
