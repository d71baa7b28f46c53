"""The rules of all functions by their public names."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import Const, Size, Value
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments, Rule, names
from typed_nnx_codegen.migrate.linen.shapes.attention import ATTENTION, ATTENTION_KERNELS
from typed_nnx_codegen.migrate.linen.shapes.creation import (
    CREATION,
    LAX_CREATION,
    NN_CREATION,
    RANDOM,
)
from typed_nnx_codegen.migrate.linen.shapes.einops_patterns import EINOPS
from typed_nnx_codegen.migrate.linen.shapes.einsums import EINSUMS
from typed_nnx_codegen.migrate.linen.shapes.elementwise import (
    ACTIVATIONS,
    ELEMENTWISE,
    LAX_ELEMENTWISE,
    SPECIAL,
)
from typed_nnx_codegen.migrate.linen.shapes.fourier import FOURIER
from typed_nnx_codegen.migrate.linen.shapes.gathering import GATHERING, LAX_GATHERING, SEGMENTS
from typed_nnx_codegen.migrate.linen.shapes.joining import JOINING, LAX_JOINING
from typed_nnx_codegen.migrate.linen.shapes.products import LAX_PRODUCTS, PRODUCTS
from typed_nnx_codegen.migrate.linen.shapes.python_builtins import BUILTINS, MATH, OPERATOR
from typed_nnx_codegen.migrate.linen.shapes.questions import GATED, QUESTIONS, UNCHANGED
from typed_nnx_codegen.migrate.linen.shapes.reductions import LAX_REDUCTIONS, REDUCTIONS
from typed_nnx_codegen.migrate.linen.shapes.reshaping import LAX_RESHAPING, RESHAPING
from typed_nnx_codegen.migrate.linen.shapes.windows import IMAGE, LAX_WINDOWS, POOLING

NUMPY: Final[dict[str, Rule]] = {
    **ELEMENTWISE,
    **JOINING,
    **REDUCTIONS,
    **RESHAPING,
    **CREATION,
    **PRODUCTS,
    **GATHERING,
    **EINSUMS,
    **QUESTIONS,
}
LAX: Final[dict[str, Rule]] = {
    **LAX_ELEMENTWISE,
    **LAX_JOINING,
    **LAX_REDUCTIONS,
    **LAX_RESHAPING,
    **LAX_CREATION,
    **LAX_PRODUCTS,
    **LAX_GATHERING,
    **LAX_WINDOWS,
}
NN: Final[dict[str, Rule]] = {
    **ACTIVATIONS,
    **NN_CREATION,
    **GATED,
    **ATTENTION,
    **POOLING,
    "logsumexp": REDUCTIONS["logsumexp"],
    "logmeanexp": REDUCTIONS["mean"],
}


def _of_numbers(name: str) -> Rule:
    """Return the rule of a function of numpy on numbers, as that of `math`, and on arrays."""

    def rule(call: Arguments) -> Value:
        is_number = isinstance(call.get(0, "x"), Const | Size) and len(call.positional) == 1
        return (MATH if is_number else NUMPY)[name](call)

    return rule


_SPECIAL: Final[dict[str, Rule]] = {**SPECIAL, "logsumexp": REDUCTIONS["logsumexp"]}
_BY_MODULE: Final[dict[str, dict[str, Rule]]] = {
    "jax.numpy.": NUMPY,
    "numpy.": {
        **NUMPY,
        **{name: _of_numbers(name) for name in names("sqrt exp log log2 log10 ceil floor")},
    },
    "jax.lax.": LAX,
    "jax.nn.": NN,
    "flax.linen.": NN,
    "flax.linen.activation.": NN,
    "flax.nnx.": NN,
    "jax.scipy.special.": _SPECIAL,
    "scipy.special.": _SPECIAL,
    "jax.random.": RANDOM,
    "jax.image.": IMAGE,
    "jax.numpy.fft.": FOURIER,
    "numpy.fft.": FOURIER,
    "flax.linen.attention.": ATTENTION,
    "jax.experimental.pallas.ops.": ATTENTION_KERNELS,
    "flax.linen.pooling.": POOLING,
    "einops.": EINOPS,
    "builtins.": BUILTINS,
    "math.": MATH,
    "operator.": OPERATOR,
    "jax.ops.": SEGMENTS,
}


def rule_of(name: str) -> Rule | None:
    """Return the rule of a function; None where it has none."""
    if name in UNCHANGED:
        return UNCHANGED[name]
    for module, rules in _BY_MODULE.items():
        if name.startswith(module):
            rule = rules.get(name.removeprefix(module))
            if rule is not None:
                return rule
    return None


def known_names() -> list[str]:
    """Return the public names of all functions that have a rule."""
    by_module = [module + name for module, rules in _BY_MODULE.items() for name in rules]
    return sorted({*by_module, *UNCHANGED})
