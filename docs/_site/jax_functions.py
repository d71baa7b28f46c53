"""The functions that are jax's own: what each computes, in one line, and how it is called."""

from __future__ import annotations

import importlib
import inspect
from typing import Final

COMPUTES: Final = {
    "celu": "x where x > 0, else `alpha * (exp(x / alpha) - 1)`.",
    "elu": "x where x > 0, else `alpha * (exp(x) - 1)`.",
    "gelu": "x times the distribution function of the normal distribution at x, or its approximation by tanh.",
    "glu": "The first half of an axis times the sigmoid of the second half.",
    "hard_sigmoid": "The sigmoid in straight lines: `relu6(x + 3) / 6`.",
    "hard_silu": "`x * hard_sigmoid(x)`.",
    "hard_swish": "The other name of `hard_silu`.",
    "hard_tanh": "x cut to the range from -1 to 1.",
    "identity": "x.",
    "leaky_relu": "x where x >= 0, else `negative_slope * x`.",
    "log_sigmoid": "The logarithm of the sigmoid.",
    "log_softmax": "The logarithm of the softmax.",
    "logsumexp": "The logarithm of the sum of the exponentials of an axis.",
    "one_hot": "For each index a vector with a one in its place.",
    "relu": "x where x > 0, else 0.",
    "relu6": "x cut to the range from 0 to 6.",
    "selu": "A scaled `elu` whose two constants keep mean 0 and variance 1 through deep networks.",
    "sigmoid": "`1 / (1 + exp(-x))`.",
    "silu": "`x * sigmoid(x)`.",
    "soft_sign": "`x / (1 + |x|)`.",
    "softmax": "The exponentials of an axis, divided by their sum.",
    "softplus": "`log(1 + exp(x))`.",
    "standardize": "An axis with its mean taken away, divided by its standard deviation.",
    "swish": "The other name of `silu`.",
    "tanh": "The hyperbolic tangent.",
    "constant": "An array of one value.",
    "delta_orthogonal": "For convolutions: an orthogonal matrix in the middle of the window, zeros around it.",
    "glorot_normal": "Normal, with the variance 2 / (inputs + outputs).",
    "glorot_uniform": "Uniform, with the variance 2 / (inputs + outputs).",
    "he_normal": "Normal, with the variance 2 / inputs.",
    "he_uniform": "Uniform, with the variance 2 / inputs.",
    "kaiming_normal": "The other name of `he_normal`.",
    "kaiming_uniform": "The other name of `he_uniform`.",
    "lecun_normal": "Normal, with the variance 1 / inputs.",
    "lecun_uniform": "Uniform, with the variance 1 / inputs.",
    "normal": "Normal, with the standard deviation `stddev`.",
    "ones": "Ones. It is an initializer itself, not a function that returns one.",
    "orthogonal": "A matrix whose rows or columns are orthogonal.",
    "truncated_normal": "Normal, without what lies below `lower` or above `upper` standard deviations.",
    "uniform": "Uniform, from 0 to `scale`.",
    "variance_scaling": "A distribution with the variance `scale` divided by the inputs, the outputs or both.",
    "xavier_normal": "The other name of `glorot_normal`.",
    "xavier_uniform": "The other name of `glorot_uniform`.",
    "zeros": "Zeros. It is an initializer itself, not a function that returns one.",
}
"""By name: what the function computes, or what the arrays of the initializer are."""


def call_of(definition: str, shown: str) -> str:
    """Return the signature of a function as its source writes it.

    Args:
        definition: Its full name in jax, ``jax.nn.relu``.
        shown: The name to show it by.
    """
    module, _, name = definition.rpartition(".")
    signature = inspect.signature(getattr(importlib.import_module(module), name))
    written = [_written(each) for each in signature.parameters.values()]
    kinds = [each.kind for each in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        written.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    if inspect.Parameter.POSITIONAL_ONLY in kinds:
        written.insert(kinds.count(inspect.Parameter.POSITIONAL_ONLY), "/")
    result = signature.return_annotation
    line = f"{shown}({', '.join(written)}) -> {result}"
    if len(line) <= 80:
        return line
    return "\n".join([f"{shown}(", *(f"    {each}," for each in written), f") -> {result}"])


def _written(parameter: inspect.Parameter) -> str:
    text = f"{parameter.name}: {parameter.annotation}"
    absent = parameter.default is inspect.Parameter.empty
    return text if absent else f"{text} = {parameter.default!r}"
