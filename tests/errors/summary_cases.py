"""Errors of summaries."""

from __future__ import annotations

import sys
from typing import Any
from unittest import mock

import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Case
from typed_nnx.errors import MethodNotFoundError, MissingPackageError, NotTabulatedError
from typed_nnx.summary import tabulate


class Layer(nnx.Module):
    def __call__(self, x: Any) -> Any:
        return x


def _without_rich() -> object:
    with mock.patch.dict(sys.modules, {"rich.console": None}):
        return tabulate(Layer(), jnp.ones(2))


CASES = [
    Case(
        "a table of what is no object",
        NotTabulatedError,
        lambda: tabulate({"a": 1}),
        ("tabulate", "`obj`", "a dict", "expected a Module"),
        "nnx.tabulate(model, *inputs)",
        TypeError,
    ),
    Case(
        "a table of a method that is not there",
        MethodNotFoundError,
        lambda: tabulate(Layer(), method="encode"),
        ("tabulate", "Layer", "'encode'", "its methods are __call__"),
        "method='__call__'",
        KeyError,
    ),
    Case(
        "a package that is not installed",
        MissingPackageError,
        _without_rich,
        ("tabulate", "`rich`", "not installed"),
        "pip install 'typed-nnx[tools]'",
        ImportError,
    ),
]
