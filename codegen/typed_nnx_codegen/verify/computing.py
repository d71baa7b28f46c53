"""The dtypes that a program computes with, which say how exact its results can be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax.extend.core import jaxprs_in_params

from typed_nnx_codegen.verify.differences import step_of


def computed_with(function: Callable[[], Any]) -> Any:
    """Return the coarsest float of at most 16 bits that a function computes with, else None.

    The function is traced. What cannot be traced has None.
    """
    try:
        jaxpr = jax.make_jaxpr(function)().jaxpr
    # It is the user's code: not all of it can be traced.
    except Exception:  # noqa: BLE001 - nothing is known then
        return None
    dtypes = {dtype for dtype in _dtypes(jaxpr) if step_of(dtype)}
    return max(dtypes, key=step_of, default=None)


def _dtypes(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        for variable in (*equation.invars, *equation.outvars):
            dtype = getattr(variable.aval, "dtype", None)
            if dtype is not None:
                yield dtype
        for inner in jaxprs_in_params(equation.params):
            yield from _dtypes(inner)
