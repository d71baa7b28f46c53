"""What a log says of the mypy that is installed: its version, and what its error codes check."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

from typed_nnx_codegen.sarif.log import Project


class NoMypy(Exception):
    """mypy is not installed. The message says how to install it."""


def project_here(root: Path, docs: str = "") -> Project:
    """Return the project that mypy checks when it runs in the current folder.

    Args:
        root: Where paths in the log begin.
        docs: The address of docs/mypy-plugin.md as a web page; empty where there is none.

    Raises:
        NoMypy: It is not installed.
    """
    try:
        installed = version("mypy")
    except PackageNotFoundError as error:
        raise NoMypy("mypy is not installed.\n  Fix: pip install 'typed-nnx[tools]'") from error
    return Project(
        folder=Path.cwd(),
        root=root.resolve(),
        mypy_version=installed,
        descriptions=_descriptions(),
        docs=docs,
    )


def _descriptions() -> Mapping[str, str]:
    """Return what each error code checks, of mypy and of the plugin."""
    # By name and only here: with them comes mypy, which most commands do without.
    importlib.import_module("typed_nnx_mypy.errorcodes")
    codes = importlib.import_module("mypy.errorcodes").error_codes
    return {name: cast("str", code.description) for name, code in codes.items()}
