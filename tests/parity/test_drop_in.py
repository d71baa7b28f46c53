"""Programs that were written for flax.nnx give the same numbers with `import typed_nnx as nnx`."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.parity.programs import PROGRAMS


@pytest.fixture(autouse=True)
def _as_users_run_them(default_promotion: None) -> None:
    pass


@pytest.mark.thorough
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_for_flax_gives_the_same_bits(program: Any) -> None:
    ours, ours_shape = jax.tree.flatten(program(nnx))
    theirs, theirs_shape = jax.tree.flatten(program(flax_nnx))
    assert str(ours_shape) == str(theirs_shape)
    for mine, expected in zip(ours, theirs, strict=True):
        assert type(mine) is type(expected)
        if isinstance(mine, jax.Array):
            assert jax.typeof(mine) == jax.typeof(expected)
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(expected))


@pytest.mark.thorough
def test_programs_train() -> None:
    losses = PROGRAMS[0](nnx)[0]
    assert losses[-1] < losses[0]
