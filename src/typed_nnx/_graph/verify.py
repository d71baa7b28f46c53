"""The verifying debug mode: every use of a record is compared to a fresh traversal."""

from __future__ import annotations

import functools
import os
from typing import Any

from typed_nnx._core.restoring import Restoring
from typed_nnx.errors import StaleRecordError

#: Whether the mode is on; the environment variable TYPED_NNX_VERIFY=1 turns it on.
enabled: bool = os.environ.get("TYPED_NNX_VERIFY", "") not in ("", "0")


def _set_enabled(value: bool) -> None:
    global enabled
    enabled = value


class set_verify_records(Restoring):
    """Turn the verifying debug mode on or off, from now on or for a block.

    In this mode a cached record that does not match the objects raises `StaleRecordError` at the
    call that would have used it. It makes every call as slow as the first one.

    Args:
        value: True to turn it on.
    """

    def __init__(self, value: bool, /) -> None:
        super().__init__(functools.partial(_set_enabled, enabled))
        _set_enabled(value)


def check(root: Any, record: Any, fresh: Any) -> None:
    """Compare a record with a fresh traversal.

    Raises:
        StaleRecordError: They differ.
    """
    name = type(root).__name__
    graphdef = fresh.graphdef
    if record.graphdef != graphdef:
        raise StaleRecordError(name, "its structure is not what it was")
    if len(record.leaves) != len(fresh.leaves):
        raise StaleRecordError(name, f"it has {len(fresh.leaves)} leaves, not {len(record.leaves)}")
    values = zip(record.values(), fresh.values(), strict=True)
    for number, (cached, found) in enumerate(values):
        if cached is not found:
            raise StaleRecordError(name, f"the leaf {graphdef.where(number)} was replaced")
    raw = record.cell.values
    if raw:
        current = [leaf._flat[0][0] for leaf in record.leaves]
        for number, (cached, found) in enumerate(zip(raw, current, strict=True)):
            if cached is not found:
                raise StaleRecordError(
                    name, f"the value of the leaf {graphdef.where(number)} changed"
                )
