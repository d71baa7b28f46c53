"""The defaults for new Variables, for a block or from now on; laws run against flax too."""

from __future__ import annotations

import threading
from typing import Any

import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both

pytestmark = pytest.mark.filterwarnings("ignore:'sharding_names' is deprecated")


@both
def test_var_defaults_shows_and_sets_defaults_for_a_block(lib: Any) -> None:
    before = lib.var_defaults()
    assert (before.hijax, before.ref) == (False, False)
    with lib.var_defaults(ref=True):
        assert lib.var_defaults().ref is True
        assert lib.Param(jnp.ones(2)).ref
        assert not lib.Param(jnp.ones(2), ref=False).ref
        with lib.var_defaults(ref=False):
            assert not lib.Param(jnp.ones(2)).ref
        assert lib.Param(jnp.ones(2)).ref
    assert lib.var_defaults() == before
    assert not lib.Param(jnp.ones(2)).ref


@both
def test_var_defaults_are_restored_after_an_exception(lib: Any) -> None:
    with pytest.raises(RuntimeError), lib.var_defaults(ref=True):
        raise RuntimeError
    assert lib.var_defaults().ref is False


@both
def test_use_eager_sharding_sets_the_default_for_a_block(lib: Any) -> None:
    assert lib.using_eager_sharding()
    with lib.use_eager_sharding(False):
        assert not lib.using_eager_sharding()
        assert lib.Param(1).get_metadata("eager_sharding") is False
        variable = lib.Param(jnp.ones(2), out_sharding=("nowhere",))
        assert variable.sharding_names == ("nowhere",)
        with lib.use_eager_sharding(True):
            assert lib.using_eager_sharding()
        assert not lib.using_eager_sharding()
    assert lib.using_eager_sharding()


def test_use_eager_sharding_as_a_call_stays_in_force_as_in_flax() -> None:
    for lib in (nnx, flax_nnx):
        lib.use_eager_sharding(False)
        try:
            assert not lib.using_eager_sharding()
        finally:
            lib.use_eager_sharding(True)
        assert lib.using_eager_sharding()


def test_defaults_belong_to_a_thread() -> None:
    found: list[Any] = []
    with nnx.var_defaults(ref=True), nnx.use_eager_sharding(False):
        thread = threading.Thread(
            target=lambda: found.extend([nnx.var_defaults().ref, nnx.using_eager_sharding()])
        )
        thread.start()
        thread.join()
    assert found == [False, True]
