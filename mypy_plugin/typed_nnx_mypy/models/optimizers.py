"""What the type of an Optimizer says of its model and of what it updates.

flax's Optimizer has no type arguments, so both are in entries of its type, as with States.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy.types import Instance, Type, get_proper_type

from typed_nnx_mypy.models.filter_encoding import (
    FILTER,
    decode,
    encode,
    entries_of,
    with_entries,
)
from typed_nnx_mypy.models.filters import Filter

_MODEL: Final = "__nnx_optimized__"


@dataclass(frozen=True)
class OptimizerView:
    """An Optimizer, with what is known of it.

    Attributes:
        model: The type of the model that it was made for.
        wrt: Which of its leaves it updates.
    """

    model: Instance
    wrt: Filter


def optimizer_of(like: Instance, model: Instance, wrt: Filter) -> Instance:
    """Return the type of the Optimizer of a model.

    Args:
      like: The type of an Optimizer.
      model: The type of the model.
      wrt: Which of its leaves the Optimizer updates.
    """
    filter_ = encode(wrt, Instance(like.type.mro[-1], []))
    return with_entries(like, {_MODEL: model, FILTER: filter_})


def optimizer_view(found: Type | None) -> OptimizerView | None:
    """Return what is known of an Optimizer; None where nothing is."""
    entries = entries_of(found)
    model = get_proper_type(entries.get(_MODEL))
    if not isinstance(model, Instance) or FILTER not in entries:
        return None
    return OptimizerView(model, decode(entries[FILTER]))
