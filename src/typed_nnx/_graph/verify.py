"""The verifying debug mode: every use of a record is compared to a fresh traversal."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from typed_nnx.errors import StaleRecordError

#: Whether the mode is on; the environment variable TYPED_NNX_VERIFY=1 turns it on.
enabled: bool = os.environ.get("TYPED_NNX_VERIFY", "") not in ("", "0")


class set_verify_records:
    """Turn the verifying debug mode on or off, from now on or for a block.

    In this mode a cached record that does not match the objects raises `StaleRecordError` at the
    call that would have used it. It makes every call as slow as the first one.

    Args:
        value: True to turn it on.
    """

    def __init__(self, value: bool, /) -> None:
        global enabled
        self._before = enabled
        enabled = value

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        global enabled
        enabled = self._before


def check(root: Any, record: Any, fresh: Any) -> None:
    """Compare a record with a fresh traversal.

    Raises:
        StaleRecordError: They differ.
    """
    name = type(root).__name__
    graphdef = fresh.graphdef()
    if record.graphdef != graphdef:
        raise StaleRecordError(name, "its structure is not what it was")
    if len(record.leaves) != len(fresh.leaves):
        raise StaleRecordError(name, f"it has {len(fresh.leaves)} leaves, not {len(record.leaves)}")
    values = zip(record.values(), fresh.values(), strict=True)
    for number, (cached, found) in enumerate(values):
        if cached is not found:
            raise StaleRecordError(name, f"the leaf {graphdef.where(number)} was replaced")
