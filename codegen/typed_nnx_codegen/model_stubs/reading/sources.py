"""Which files are read: packages, directories and files, as modules with names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mypy.find_sources import InvalidSourceList, create_source_list
from mypy.modulefinder import BuildSource
from mypy.options import Options

from typed_nnx_codegen.model_stubs.models import Problem
from typed_nnx_codegen.model_stubs.overlay_file import EXCLUDED
from typed_nnx_codegen.module_names import as_imported, installed_folders


def find_sources(names: Sequence[str], options: Options) -> tuple[list[BuildSource], list[Problem]]:
    """Find the files of packages, directories and files.

    Args:
        names: What the user named.
        options: mypy's, with the interpreter whose packages are looked for.

    Returns:
        The files, and what was named and is not there.
    """
    options.exclude = [EXCLUDED]
    installed = installed_folders(options)
    files: dict[str, BuildSource] = {}
    problems: list[Problem] = []
    for name in names:
        place = _place(name, installed)
        if place is None:
            problems.append(Problem(name, 1, _not_found(name)))
            continue
        try:
            found = create_source_list([_relative(place)], options, allow_empty_dir=True)
        except InvalidSourceList as error:
            problems.append(Problem(name, 1, str(error)))
            continue
        for each in as_imported(found, options):
            first = files.setdefault(each.module, each)
            if not os.path.samefile(first.path or "", each.path or ""):
                problems.append(_same_name(first, each))
        if not found:
            problems.append(Problem(name, 1, "no Python files in it.\n  Fix: name another place"))
    return list(files.values()), problems


def _place(name: str, installed: Sequence[str]) -> Path | None:
    path = Path(name)
    if path.exists():
        return path
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    for folder in (".", "src", *installed):
        package = Path(folder, *parts)
        for found in (package, package.with_suffix(".py"), package.with_suffix(".pyi")):
            if found.exists():
                return found
    return None


def _relative(path: Path) -> str:
    """Return the path as it is shown: relative where it lies below the current directory."""
    real, here = path.resolve(), Path.cwd()
    return str(real.relative_to(here)) if real.is_relative_to(here) else str(real)


def _same_name(first: BuildSource, second: BuildSource) -> Problem:
    return Problem(
        second.path or "",
        1,
        f"it is the module {second.module!r}, as {first.path} is; only that one was read.\n"
        "  Fix: put an __init__.py into their folders, or name them in two runs",
    )


def _not_found(name: str) -> str:
    return (
        f"{name!r} was not found: expected a file, a folder or a package that can be imported.\n"
        "  Fix: check the spelling, or pass --python with the interpreter that has the package"
    )
