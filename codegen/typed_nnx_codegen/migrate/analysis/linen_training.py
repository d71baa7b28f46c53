"""The classes of flax's training helpers, in the form of the tables of NNX classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from typed_nnx_codegen.migrate.analysis.nnx_class import NnxClass

TRAIN_STATE: Final = "flax.training.train_state.TrainState"
TRAIN_STATE_PARAMS: Final = f"{TRAIN_STATE}.params"
"""What `state.params` of a TrainState is an object of."""

TRAINING: Final[Mapping[str, NnxClass]] = {
    TRAIN_STATE: NnxClass(
        (),
        {
            "apply_fn": "unknown",
            "opt_state": "unknown",
            "params": TRAIN_STATE_PARAMS,
            "step": "array",
            "tx": "unknown",
        },
        {"apply_gradients": "self", "create": "self", "replace": "self"},
    ),
    TRAIN_STATE_PARAMS: NnxClass(),
}
"""The classes by their dotted names."""
