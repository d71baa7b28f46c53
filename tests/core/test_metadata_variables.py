"""Metadata of Variables: hijax, values without a hash, and hooks in order; laws run against flax too."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both

# The oracle recommends overriding `get_value` instead.
pytestmark = pytest.mark.filterwarnings("ignore:Variable hooks are deprecated")


@pytest.mark.parametrize(
    "make",
    [
        lambda: nnx.Param(jnp.ones(2), hijax=True),
        lambda: nnx.var_defaults(hijax=True)(print),
        lambda: nnx.with_vars(nnx.Param(jnp.ones(2)), hijax=True),
    ],
    ids=["Variable", "defaults", "with_vars"],
)
def test_hijax_warns_that_it_is_metadata_only(make: Any) -> None:
    with pytest.warns(UserWarning, match="(?s)jax.jit.*Fix: ") as found:
        make()
    assert {one.filename for one in found} == {__file__}


@both
@pytest.mark.parametrize("hijax", [True, False])
@pytest.mark.filterwarnings("ignore:hijax=True")
def test_hijax_variables_are_known_by_their_class(lib: Any, hijax: bool) -> None:
    variable = lib.Param(jnp.ones(2), hijax=hijax)
    assert isinstance(variable, lib.Param)
    assert isinstance(variable, lib.variablelib.HijaxVariable) is hijax
    assert variable.hijax is hijax


@both
@pytest.mark.parametrize(("one", "two"), [(0.0, 1.0), (-0.0, -1.0), (0j, 1 + 1j)], ids=repr)
def test_zero_and_one_are_different_metadata(lib: Any, one: Any, two: Any) -> None:
    first, second = lib.Param(1, scale=one), lib.Param(1, scale=two)
    assert (first.scale, second.scale) == (one, two)
    assert hash(lib.graphdef(first)) is not None
    assert lib.graphdef(first) != lib.graphdef(second)


@both
def test_metadata_without_a_hash_is_allowed_where_no_hash_is_needed(lib: Any) -> None:
    variable = lib.Param(1, sizes=[1, 2])
    assert variable.sizes == [1, 2]
    assert variable.copy().sizes == [1, 2]
    assert jax.tree.map(lambda x: x + 1, variable).get_value() == 2


@pytest.mark.parametrize(
    ("lib", "kind"), [(flax_nnx, tuple), (nnx, tuple), (nnx, list)], ids=["flax", "tuple", "list"]
)
def test_several_hooks_run_in_order(lib: Any, kind: Any) -> None:
    hooks = kind([lambda v, x: x + 1, lambda v, x: x * 10])
    assert lib.Param(1, on_get_value=hooks).get_value() == 20
    assert lib.Param(1, on_create_value=hooks).get_raw_value() == 20
    variable = lib.Param(1, on_set_value=hooks)
    variable.set_value(2)
    assert variable.get_raw_value() == 30


@both
def test_axis_hooks_get_variable_index_and_name(lib: Any) -> None:
    calls: list[tuple[str, Any, Any, Any]] = []
    variable: Any = lib.Param(
        1,
        on_add_axis=(
            lambda v, i, n: calls.append(("add", v is variable, i, n)),
            lambda v, i, n: calls.append(("add again", v is variable, i, n)),
        ),
        on_remove_axis=lambda v, i, n: calls.append(("remove", v is variable, i, n)),
    )
    variable.add_axis(0, "layers")
    variable.remove_axis(1, None)
    expected = [("add", True, 0, "layers"), ("add again", True, 0, "layers")]
    assert calls == [*expected, ("remove", True, 1, None)]
    lib.Param(1).add_axis(0, "x")
    lib.Param(1).remove_axis(0, "x")
