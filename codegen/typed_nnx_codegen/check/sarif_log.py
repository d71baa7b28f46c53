"""One SARIF log of all parts: a run for each tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from typed_nnx_codegen.sarif.document import SCHEMA


def joined(logs: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """Return the runs of several logs as one log."""
    runs = [run for log in logs for run in cast("list[object]", log["runs"])]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}
