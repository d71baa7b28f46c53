"""The mode of modules that ask whether batch statistics may change."""

from __future__ import annotations

import inspect
from typing import Any, Final

from typed_nnx_codegen.migrate.weights.models import runtime_of

STATISTICS: Final = "batch_stats"
_MODE: Final = "use_running_average"


def set_mode(model: Any, *, is_training: bool) -> None:
    """Set the mode of the modules below a model that have one of their own.

    Linen's modules ask whether the collection is mutable. Where the constructor takes the mode it
    is a setting, which stays.

    Args:
        model: The model.
        is_training: Whether batch statistics are mutable in the call.
    """
    for _, module in runtime_of(type(model)).iter_modules(model):
        is_asked = hasattr(module, _MODE)
        if is_asked and _MODE not in inspect.signature(type(module).__init__).parameters:
            setattr(module, _MODE, not is_training)
