"""Settings of a thread: from now on, for a block, for the calls of a function."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both

NAMES = ("set_graph_mode", "set_graph_updates", "use_eager_sharding")
every_setting = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def _nothing_stays_set() -> Iterator[None]:
    _reset()
    yield
    _reset()


def _reset() -> None:
    for lib in (nnx, flax_nnx):
        for name in NAMES:
            getattr(lib, name).get_stack().clear()
            with getattr(lib, name)(True):
                pass  # leaving the block puts the default into force


@both
@every_setting
def test_a_setting_knows_its_default_and_what_is_in_force(lib: Any, name: str) -> None:
    setting = getattr(lib, name)
    assert (setting.get_default(), setting.current_value(), setting.get_stack()) == (True, True, [])
    setting(False)
    assert (setting.get_default(), setting.current_value()) == (True, False)
    assert setting.get_stack() == [False]


@both
@every_setting
def test_blocks_stack_and_a_call_changes_the_innermost(lib: Any, name: str) -> None:
    setting = getattr(lib, name)
    setting(True)
    with setting(False):
        assert setting.get_stack() == [True, False]
        with setting(True):
            assert setting.get_stack() == [True, False, True]
            setting(False)
            assert setting.get_stack() == [True, False, False]
            assert setting.current_value() is False
        assert setting.get_stack() == [True, False]
    assert (setting.get_stack(), setting.current_value()) == ([True], True)


@both
@every_setting
def test_as_a_decorator_it_holds_while_the_function_runs(lib: Any, name: str) -> None:
    setting = getattr(lib, name)

    @setting(False)
    def inside(x: int) -> tuple[int, bool]:
        """Return what is in force."""
        return x, setting.current_value()

    assert setting.current_value() is True
    assert setting.get_stack() == []
    assert inside(3) == (3, False)
    assert setting.current_value() is True
    assert (inside.__name__, inside.__doc__) == ("inside", "Return what is in force.")


@both
@every_setting
def test_an_exception_ends_the_setting_of_a_function(lib: Any, name: str) -> None:
    setting = getattr(lib, name)

    @setting(False)
    def fails() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert setting.current_value() is True


@every_setting
def test_what_is_set_belongs_to_a_thread(name: str) -> None:
    setting = getattr(nnx, name)
    found: list[Any] = []
    with setting(False):
        thread = threading.Thread(
            target=lambda: found.extend([setting.current_value(), setting.get_stack()])
        )
        thread.start()
        thread.join()
    assert found == [True, []]


def test_a_decorated_function_sees_only_trees() -> None:
    shared = nnx.Param(1)

    @nnx.set_graph_mode(False)
    def split() -> Any:
        return nnx.split(nnx.List([shared, shared]))

    with pytest.raises(nnx.errors.SharedReferenceError):
        split()
    nnx.split(nnx.List([shared, shared]))


@both
def test_the_eager_sharding_of_a_block_and_its_variable_defaults_are_apart(lib: Any) -> None:
    with lib.var_defaults(ref=True):
        lib.use_eager_sharding(False)
    assert lib.var_defaults().ref is False
    assert lib.using_eager_sharding() is False


@both
def test_variable_defaults_hold_while_a_decorated_function_runs(lib: Any) -> None:
    @lib.var_defaults(ref=True)
    def inside() -> Any:
        return lib.var_defaults()

    assert lib.var_defaults().ref is False
    assert inside().ref is True
    assert lib.var_defaults().ref is False


@both
def test_variable_defaults_are_a_mapping_too(lib: Any) -> None:
    found = lib.var_defaults()
    assert dict(found) == {"hijax": False, "ref": False}
    assert (list(found), len(found), found["ref"]) == (["hijax", "ref"], 2, False)
    assert found == lib.var_defaults()
    assert hash(found) == hash(lib.var_defaults())
    with lib.var_defaults(ref=True):
        assert found != lib.var_defaults()
