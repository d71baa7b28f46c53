"""What a row of the table says about one call."""

from __future__ import annotations

import dataclasses
from typing import Any

from typed_nnx._core.paths import Key
from typed_nnx._core.rngs import RngStream


@dataclasses.dataclass
class CallInfo:
    """One call of a method of an object of the model.

    Attributes:
        call_order: The number of the call, in the order in which calls began.
        object_id: The id of the object.
        type: Its type.
        path: Its path; a method other than ``__call__`` is the last part.
        inputs_repr: Its inputs, as the table shows them.
        outputs: Its outputs, described: dicts and lists of `ArrayRepr` and text.
        flops: Floating point operations of the call; None unless asked for.
        vjp_flops: The same for the call and its gradient.
    """

    call_order: int
    object_id: int
    type: type
    path: tuple[Key, ...]
    inputs_repr: str
    outputs: Any
    flops: int | None
    vjp_flops: int | None


def filter_rng_streams(row: CallInfo) -> bool:
    """Whether a row is about something else than a random stream; what `tabulate` shows."""
    return not issubclass(row.type, RngStream)
