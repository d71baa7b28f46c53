"""What every SARIF 2.1.0 log has: the frame, places of files, fingerprints.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast
from urllib.parse import quote

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
# Code scanning takes URIs without it for files of the repository too; other readers need to know.
_ROOT = "%SRCROOT%"


def document(
    driver: dict[str, object], root: Path, results: Sequence[dict[str, object]], **more: object
) -> dict[str, object]:
    """Return a log of one run, as JSON has it.

    Args:
        driver: The tool and its rules.
        root: The folder that paths start from.
        results: What was found.
        more: Further properties of the run.
    """
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": root.as_uri().rstrip("/") + "/"}},
        "results": results,
        **more,
    }
    return _framed([run])


def joined(logs: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """Return the runs of several logs as one log."""
    return _framed([run for log in logs for run in cast("list[object]", log["runs"])])


def _framed(runs: Sequence[object]) -> dict[str, object]:
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}


def artifact(path: Path, root: Path) -> dict[str, object]:
    """Return the place of a file: from the root on where it is below."""
    if path.is_relative_to(root):
        return {"uri": quote(path.relative_to(root).as_posix()), "uriBaseId": _ROOT}
    return {"uri": path.as_uri()}


class Fingerprints:
    """Gives each result what stays the same when lines above it come and go.

    Args:
        name: What goes into them, with a version: readers compare only those of one name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: Counter[str] = Counter()

    def of(self, rule: str, path: Path, root: Path, message: str, line: str) -> dict[str, object]:
        """Return the fingerprints of a result; equal ones are numbered in the order of calls."""
        place = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
        key = "\0".join((rule, place, message, line))
        self._seen[key] += 1
        return {self._name: hashlib.sha256(f"{key}\0{self._seen[key]}".encode()).hexdigest()}
