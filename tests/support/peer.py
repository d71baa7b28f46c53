"""Run one scenario with flax.nnx and with typed_nnx and compare what comes out."""

from __future__ import annotations

import typing as tp
import warnings

import flax.nnx
import pytest

import typed_nnx
from tests.graph.oracle import outcome

Scenario = tp.Callable[[tp.Any], tp.Any]

both_libraries = pytest.mark.parametrize("nnx", [typed_nnx, flax.nnx], ids=["ours", "flax"])
"""For a test that states the expected value itself and shows that flax agrees."""


def assert_as_in_flax(scenario: Scenario) -> None:
    """Assert that a scenario gives an equal result in both libraries.

    Args:
        scenario: Takes the library and returns plain values that `==` can compare.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # flax announces its own changes
        expected = scenario(flax.nnx)
    actual = scenario(typed_nnx)
    assert actual == expected, f"\nflax:      {expected!r}\ntyped_nnx: {actual!r}"


def assert_refused_as_in_flax(scenario: Scenario) -> None:
    """Assert that both libraries raise errors of one family of builtin exceptions."""
    expected, actual = outcome(lambda: scenario(flax.nnx)), outcome(lambda: scenario(typed_nnx))
    assert expected[0] == "error", f"flax accepts it: {expected[1]!r}"
    assert actual == expected, f"\nflax:      {expected!r}\ntyped_nnx: {actual!r}"


def scenarios(*functions: Scenario) -> tp.Any:
    """Parametrise a test by scenarios; the name of each says what it is about."""
    return pytest.mark.parametrize("scenario", functions, ids=lambda f: f.__name__.strip("_"))
