"""The immutable metadata of Variables, one object for equal items, and its defaults."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from typing import Any

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from typed_nnx._core.metadata import Metadata
from typed_nnx.errors import UnhashableError


def test_equal_items_are_one_object() -> None:
    one = Metadata.of({"a": 1, "b": (2, 3)})
    assert one is Metadata.of({"a": 1, "b": (2, 3)})
    assert one == Metadata.of({"b": (2, 3), "a": 1})
    assert hash(one) == hash(Metadata.of({"b": (2, 3), "a": 1}))
    for other in ({"a": 2, "b": (2, 3)}, {"a": True, "b": (2, 3)}, {"a": 1}):
        assert one != Metadata.of(other)


def test_it_is_a_mapping_that_does_not_change() -> None:
    items = {"a": 1}
    meta = Metadata.of(items)
    items["a"] = 2
    assert dict(meta) == {"a": 1}
    assert (meta["a"], "a" in meta, "b" in meta, len(meta)) == (1, True, False, 1)
    assert dict(meta.updated({"b": 2})) == {"a": 1, "b": 2}
    assert dict(meta.updated({"b": 2}).without("a")) == {"b": 2}
    assert dict(meta) == {"a": 1}


@pytest.mark.parametrize(
    ("items", "plain_get", "plain_set", "ref"),
    [
        ({}, True, True, False),
        ({"ref": False}, True, True, False),
        ({"ref": True}, False, False, True),
        ({"on_get_value": print}, False, True, False),
        ({"on_set_value": [print]}, True, False, False),
        ({"on_get_value": (), "on_set_value": None}, True, True, False),
    ],
    ids=["none", "no ref", "ref", "get", "set", "empty"],
)
def test_it_knows_whether_hooks_stand_in_the_way(
    items: Any, plain_get: bool, plain_set: bool, ref: bool
) -> None:
    meta = Metadata.of(items)
    assert (meta.plain_get, meta.plain_set, meta.ref) == (plain_get, plain_set, ref)


def test_items_without_a_hash_are_compared_by_value_and_named() -> None:
    one, two = Metadata.of({"ok": 1, "a": [1]}), Metadata.of({"ok": 1, "a": [1]})
    assert one == two
    assert one != Metadata.of({"ok": 1, "a": [2]})
    assert not one.is_hashable
    with pytest.raises(UnhashableError, match="'a' \\(list\\)"):
        hash(one)


def test_copies_and_pickles_are_the_same_object() -> None:
    meta = Metadata.of({"a": 1})
    assert copy.copy(meta) is copy.deepcopy(meta) is meta
    assert pickle.loads(pickle.dumps(meta)) is meta


def test_metadata_that_nobody_uses_are_freed() -> None:
    meta = Metadata.of({"only here": object()})
    watch = weakref.ref(meta)
    del meta
    gc.collect()
    assert watch() is None


# -- the defaults for new Variables, for a block or from now on; laws run against flax too ----------


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


def test_another_default_of_use_eager_sharding_holds_in_threads_that_begin_later() -> None:
    found: list[Any] = []
    nnx.use_eager_sharding.set_default(False)
    try:
        thread = threading.Thread(
            target=lambda: found.append(nnx.Param(1).get_metadata("eager_sharding"))
        )
        thread.start()
        thread.join()
    finally:
        nnx.use_eager_sharding.set_default(True)
    assert [*found, nnx.Param(1).get_metadata("eager_sharding")] == [False, True]


def test_defaults_belong_to_a_thread() -> None:
    found: list[Any] = []
    with nnx.var_defaults(ref=True), nnx.use_eager_sharding(False):
        thread = threading.Thread(
            target=lambda: found.extend([nnx.var_defaults().ref, nnx.using_eager_sharding()])
        )
        thread.start()
        thread.join()
    assert found == [False, True]
