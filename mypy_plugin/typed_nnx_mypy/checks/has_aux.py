"""``nnx-has-aux``: functions that return more than the loss to differentiate, or less than is said."""

from __future__ import annotations

from typed_nnx_codegen.facts.constants import constant_of
from typed_nnx_mypy.errorcodes import HAS_AUX
from typed_nnx_mypy.models.structures import Leaf, Row, Structure, Unsure, result_of, text_of
from typed_nnx_mypy.syntax.transforms import Transform, on_transform

_GRADIENTS = ("grad", "value_and_grad", "jax.grad", "jax.value_and_grad")
_WITH_AUX = 2
"""How many results a function has that returns something with its loss."""


@on_transform(*_GRADIENTS)
def result_is_a_loss(transform: Transform) -> None:
    """Report a function whose result is not what `has_aux` says."""
    if transform.has_stars or transform.function is None:
        return
    option = transform.option("has_aux", position=2 if transform.runtime == "jax" else None)
    constant = constant_of(option, transform.checker) if option is not None else None
    if option is not None and (constant is None or not isinstance(constant.value, bool)):
        return
    found = result_of(transform.function, transform.checker)
    fix = _fix(found, has_aux=constant is not None and constant.value is True)
    if fix:
        transform.report(HAS_AUX, f"it returns {text_of(found)}, {fix}", option)


def _fix(found: Structure, *, has_aux: bool) -> str:
    """Return what is wrong with a result, and how to mend it; empty where it may be right."""
    if isinstance(found, Unsure):
        return ""
    items = found.items if isinstance(found, Row) and found.kind == "tuple" else None
    is_pair = items is not None and len(items) == _WITH_AUX
    if has_aux:
        if is_pair or (isinstance(found, Row) and items is None):
            return ""
        said = "and `has_aux` asks for a loss and what comes with it"
        return f"{said}. Fix: return loss, aux, or leave `has_aux` out"
    if isinstance(found, Leaf):
        return ""
    more = "has_aux=True where the second comes with the loss, or " if is_pair else ""
    return f"which has no gradient. Fix: {more}return the loss alone"
