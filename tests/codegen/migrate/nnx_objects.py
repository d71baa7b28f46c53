"""Objects of the classes of NNX, made with either runtime, and inputs for the layers among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import optax

# `Any`: a runtime, as a namespace; the objects are looked at by name.
Make = Callable[[Any], Any]


def rngs(lib: Any) -> Any:
    """Return streams; ``dropout`` has a seed of its own."""
    return lib.Rngs(0, dropout=1)


def _linear(lib: Any, **options: Any) -> Any:
    return lib.Linear(2, 3, rngs=rngs(lib), **options)


def _cell(name: str, **options: Any) -> Make:
    return lambda lib: getattr(lib, name)(2, 3, rngs=rngs(lib), **options)


def _attention(lib: Any, **options: Any) -> Any:
    return lib.MultiHeadAttention(num_heads=2, in_features=4, rngs=rngs(lib), **options)


def _decoding(lib: Any) -> Any:
    attention = _attention(lib, decode=True, normalize_qk=True, dropout_rate=0.1)
    attention.init_cache((1, 3, 4))
    return attention


def _rnn(lib: Any) -> Any:
    return lib.RNN(lib.GRUCell(2, 3, rngs=rngs(lib)))


def _optimizer(name: str) -> Make:
    return lambda lib: getattr(lib, name)(_linear(lib), optax.adam(0.1), wrt=lib.Param)


def _train_state(lib: Any) -> Any:
    graphdef, params = lib.split(_linear(lib))
    return lib.TrainState.create(graphdef, params=params, tx=optax.sgd(0.1))


def _variable(name: str) -> Make:
    return lambda lib: getattr(lib, name)(jnp.ones(2))


LAYERS: dict[str, tuple[Make, Any]] = {
    "Linear": (_linear, (1, 2)),
    "Linear without bias": (lambda lib: _linear(lib, use_bias=False), (1, 2)),
    "LinearGeneral": (lambda lib: lib.LinearGeneral(2, (3, 4), rngs=rngs(lib)), (1, 2)),
    "Einsum": (lambda lib: lib.Einsum("ab,bc->ac", (2, 3), (3,), rngs=rngs(lib)), (1, 2)),
    "Einsum without bias": (lambda lib: lib.Einsum("ab,bc->ac", (2, 3), rngs=rngs(lib)), (1, 2)),
    "Embed": (lambda lib: lib.Embed(4, 3, rngs=rngs(lib)), np.zeros(2, np.int32)),
    "Conv": (lambda lib: lib.Conv(2, 3, (3,), rngs=rngs(lib)), (1, 4, 2)),
    "ConvTranspose": (lambda lib: lib.ConvTranspose(2, 3, (3,), rngs=rngs(lib)), (1, 4, 2)),
    "BatchNorm": (lambda lib: lib.BatchNorm(3, rngs=rngs(lib)), (2, 3)),
    "BatchNorm without Params": (
        lambda lib: lib.BatchNorm(3, use_bias=False, use_scale=False, rngs=rngs(lib)),
        (2, 3),
    ),
    "LayerNorm": (lambda lib: lib.LayerNorm(3, rngs=rngs(lib)), (2, 3)),
    "RMSNorm": (lambda lib: lib.RMSNorm(3, rngs=rngs(lib)), (2, 3)),
    "GroupNorm": (lambda lib: lib.GroupNorm(4, num_groups=2, rngs=rngs(lib)), (2, 4)),
    "InstanceNorm": (lambda lib: lib.InstanceNorm(4, rngs=rngs(lib)), (2, 3, 4)),
    "SpectralNorm": (lambda lib: lib.SpectralNorm(_linear(lib), rngs=rngs(lib)), (1, 2)),
    "WeightNorm": (lambda lib: lib.WeightNorm(_linear(lib), rngs=rngs(lib)), (1, 2)),
    "Dropout": (lambda lib: lib.Dropout(0.5, rngs=rngs(lib)), (1, 2)),
    "Dropout without rngs": (lambda lib: lib.Dropout(0.5, deterministic=True), (1, 2)),
    "MultiHeadAttention": (lambda lib: _attention(lib, decode=False), (1, 3, 4)),
    "MultiHeadAttention that decodes": (_decoding, None),
    "PReLU": (lambda lib: lib.PReLU(), (2,)),
    "LoRA": (lambda lib: lib.LoRA(2, 1, 3, rngs=rngs(lib)), (1, 2)),
    "LoRA around a layer": (
        lambda lib: lib.LoRA(2, 1, 3, base_module=_linear(lib), rngs=rngs(lib)),
        (1, 2),
    ),
    "LoRALinear": (lambda lib: lib.LoRALinear(2, 3, lora_rank=1, rngs=rngs(lib)), (1, 2)),
    **{
        name: (_cell(name), None)
        for name in ("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell")
    },
    "GRUCell with rngs": (_cell("GRUCell", keep_rngs=True), None),
    "RNN": (_rnn, None),
    "Bidirectional": (lambda lib: lib.Bidirectional(_rnn(lib), _rnn(lib), rngs=rngs(lib)), None),
    "Sequential": (lambda lib: lib.Sequential(_linear(lib)), (1, 2)),
}
"""What makes each layer, and the shape of an input or the input; None where it takes more."""

OTHERS: dict[str, Make] = {
    "Rngs": rngs,
    "RngStream": lambda lib: rngs(lib).dropout,
    "Optimizer": _optimizer("Optimizer"),
    "ModelAndOptimizer": _optimizer("ModelAndOptimizer"),
    "EMA": lambda lib: lib.EMA(_linear(lib), 0.9),
    "TrainState": _train_state,
    "Average": lambda lib: lib.metrics.Average(),
    "Accuracy": lambda lib: lib.metrics.Accuracy(),
    "Welford": lambda lib: lib.metrics.Welford(),
    "MultiMetric": lambda lib: lib.MultiMetric(loss=lib.metrics.Average("loss")),
    "List": lambda lib: lib.List([_linear(lib)]),
    "Dict": lambda lib: lib.Dict(a=_linear(lib)),
    "GraphDef": lambda lib: lib.graphdef(_linear(lib)),
    "GraphState": lambda lib: lib.unpack(_linear(lib)),
    "State": lambda lib: lib.state(_linear(lib)),
    "FlatState": lambda lib: lib.to_flat_state(lib.state(_linear(lib))),
    "StateAxes": lambda lib: lib.StateAxes({lib.Param: 0, ...: None}),
    "StateSharding": lambda lib: lib.StateSharding({...: None}),
    "DiffState": lambda lib: lib.DiffState(0, lib.Param),
    "SplitBackups": lambda lib: lib.split_rngs(rngs(lib), splits=2),
    **{
        name: _variable(name)
        for name in ("Variable", "Param", "BatchStat", "Cache", "Intermediate", "Perturbation")
    },
    "RngKey": lambda lib: rngs(lib).dropout.key,
    "RngCount": lambda lib: rngs(lib).dropout.count,
}
"""What makes an object of each other class."""


def made(lib: Any, case: str) -> Any:
    """Return the object of a case of one of the tables."""
    return LAYERS[case][0](lib) if case in LAYERS else OTHERS[case](lib)


def result_of_call(lib: Any, case: str) -> Any:
    """Return what a layer gives for its input."""
    make, value = LAYERS[case]
    inputs = np.ones(value, np.float32) if isinstance(value, tuple) else value
    return make(lib)(jnp.asarray(inputs))
