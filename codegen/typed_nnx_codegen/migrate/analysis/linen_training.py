"""What training code around Linen modules uses, in the form of the tables of NNX classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from typed_nnx_codegen.migrate.analysis.nnx_class import NnxClass

TRAIN_STATE: Final = "flax.training.train_state.TrainState"
MODEL_PARAMS: Final = "flax.linen.params"
"""What `model.init(...)`, its `["params"]` and `state.params` are objects of."""
TRANSFORMATION: Final = "optax.GradientTransformation"
OPT_STATE: Final = "optax.OptState"

TRAINING: Final[Mapping[str, NnxClass]] = {
    TRAIN_STATE: NnxClass(
        (),
        {
            "apply_fn": "unknown",
            "opt_state": "unknown",
            "params": MODEL_PARAMS,
            "step": "array",
            "tx": "unknown",
        },
        {"apply_gradients": "self", "create": "self", "replace": "self"},
    ),
    MODEL_PARAMS: NnxClass(),
    TRANSFORMATION: NnxClass((), {}, {"init": OPT_STATE, "update": f"tuple[unknown, {OPT_STATE}]"}),
    OPT_STATE: NnxClass(),
}
"""The classes by their dotted names."""

_OPTIMIZERS: Final = (
    "adabelief adadelta adafactor adagrad adam adamax adamaxw adamw adan amsgrad chain fromage "
    "identity inject_hyperparams lamb lars lion masked multi_transform nadam nadamw noisy_sgd "
    "novograd optimistic_adam optimistic_gradient_descent partition polyak_sgd radam rmsprop rprop "
    "sgd sign_sgd sm3 yogi"
)

TRAINING_FUNCTIONS: Final[Mapping[str, str]] = {
    "optax.apply_updates": MODEL_PARAMS,
    **{f"optax.{name}": TRANSFORMATION for name in _OPTIMIZERS.split()},
}
"""What functions give, by their dotted names."""
