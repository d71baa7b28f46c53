"""What the type of an Optimizer says of its model and of what it updates.

flax's Optimizer has no type arguments, so both are in entries of its type, as with States.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy.types import ExtraAttrs, Instance, Type, get_proper_type

from typed_nnx_mypy.models.filter_encoding import decode, encode
from typed_nnx_mypy.models.filter_syntax import FILTER
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
    entries: dict[str, Type] = {
        _MODEL: model,
        FILTER: encode(wrt, Instance(like.type.mro[-1], [])),
    }
    found = Instance(like.type, like.args, like.line, like.column)
    found.extra_attrs = ExtraAttrs(entries, None, None)
    return found


def optimizer_view(found: Type | None) -> OptimizerView | None:
    """Return what is known of an Optimizer; None where nothing is."""
    proper = get_proper_type(found)
    if not isinstance(proper, Instance) or proper.extra_attrs is None:
        return None
    entries = proper.extra_attrs.attrs
    model = get_proper_type(entries.get(_MODEL))
    if not isinstance(model, Instance) or FILTER not in entries:
        return None
    return OptimizerView(model, decode(entries[FILTER]))
