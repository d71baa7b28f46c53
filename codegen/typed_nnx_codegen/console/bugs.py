"""What is said of an exception that nobody foresaw: where it is, and how to report it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Final

DEBUG: Final = "TYPED_NNX_DEBUG"
DEBUG_OPTION: Final = "--debug"
_PACKAGES: Final = ("typed-nnx", "jax", "flax", "mypy", "libcst", "click", "rich")


def described(error: BaseException, command: str = "typed-nnx migrate") -> str:
    """Return which exception it is, and where in our code it came up, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "typed_nnx_codegen" in frame.filename] or list(frames)
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "an unknown place"
    try:
        first = str(error).strip().split("\n")[0]
    except Exception:  # noqa: BLE001 - libcst's has no text for some errors
        first = ""
    said = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return f"a bug of {command}: {said} (in {where}); please report it"


def tell_of_bug(error: BaseException) -> None:
    """Say on standard error that a bug of ours ended the command, and keep the traceback.

    With ``--debug`` or ``TYPED_NNX_DEBUG`` the traceback is shown; else it is in a file that the message names.
    """
    print(described(error, "typed-nnx"), file=sys.stderr)
    report = _report(error)
    if os.environ.get(DEBUG) or DEBUG_OPTION in sys.argv[1:]:
        print(report, file=sys.stderr)
        return
    kept = keep_report(report)
    if kept is not None:
        print(f"  The traceback is in {kept}", file=sys.stderr)
    with_it = "with that file" if kept is not None else "with its traceback"
    print(
        f"  Fix: report it {with_it}{_where_to()}; `typed-nnx --debug ...` shows the traceback",
        file=sys.stderr,
    )


def _report(error: BaseException) -> str:
    installed = [f"{name} {_version(name)}" for name in _PACKAGES]
    head = [f"Python {platform.python_version()} on {platform.platform()}", ", ".join(installed)]
    return "\n".join([f"$ {' '.join(sys.argv)}", *head, *traceback.format_exception(error)])


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "(none)"


def keep_report(report: str) -> str | None:
    """Write a report to a file of its own; return its path, None where that is not possible."""
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="typed-nnx-bug-",
            suffix=".txt",
            encoding="utf-8",
            errors="backslashreplace",
            delete=False,
        ) as file:
            file.write(report)
    except OSError:
        return None
    return file.name


def _where_to() -> str:
    """Return where bugs are reported, if the metadata of the package says it."""
    try:
        urls = importlib.metadata.metadata("typed-nnx").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    for each in urls:
        label, _, address = each.partition(",")
        if label.strip().lower() in ("issues", "bugs", "bug tracker", "tracker"):
            return f" at {address.strip()}"
    return ""
