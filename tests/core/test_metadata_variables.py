"""Metadata and hooks of Variables, `with_metadata` and the defaults; laws run against flax too."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both

pytestmark = [
    # The oracle recommends overriding `get_value` instead.
    pytest.mark.filterwarnings("ignore:Variable hooks are deprecated"),
    pytest.mark.filterwarnings("ignore:'.raw_value' access"),
    pytest.mark.filterwarnings("ignore:'sharding_names' is deprecated"),
]

REQUIRED = {"hijax": False, "ref": False, "eager_sharding": True}

# -- reading and changing metadata -----------------------------------------------------------------


@both
def test_get_metadata_gives_all_or_one_or_the_default(lib: Any) -> None:
    variable = lib.Param(1, a=2, b=None)
    assert variable.get_metadata() == {"a": 2, "b": None, **REQUIRED}
    assert variable.get_metadata(exclude_required=True) == {"a": 2, "b": None}
    assert variable.get_metadata("a") == 2
    assert variable.get_metadata("b", 7) is None
    assert variable.get_metadata("c", 7) == 7
    assert variable.get_metadata("c", None) is None


@both
def test_metadata_reads_as_attributes(lib: Any) -> None:
    variable = lib.Param(1, a=2)
    assert variable.a == 2
    assert (variable.ref, variable.hijax, variable.eager_sharding) == (False, False, True)
    assert not hasattr(variable, "b")


@both
def test_has_metadata_says_whether_there_is_an_item(lib: Any) -> None:
    variable = lib.Param(1, a=None)
    assert variable.has_metadata("a")
    assert variable.has_metadata("ref")
    assert not variable.has_metadata("b")


@both
def test_set_metadata_takes_keywords_a_pair_or_a_mapping(lib: Any) -> None:
    variable = lib.Param(1, a=2)
    variable.set_metadata(a=3, b=4)
    assert variable.get_metadata(exclude_required=True) == {"a": 3, "b": 4}
    variable.set_metadata("c", 5)
    assert variable.get_metadata(exclude_required=True) == {"a": 3, "b": 4, "c": 5}
    variable.set_metadata({"d": 6})
    assert variable.get_metadata(exclude_required=True) == {"d": 6}
    assert variable.get_metadata() == {"d": 6, **REQUIRED}


@both
@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.set_metadata(5),
        lambda v: v.set_metadata({"c": 1}, d=3),
        lambda v: v.set_metadata("a", 1, 2),
        lambda v: v.set_metadata("a"),
    ],
    ids=["number", "mapping and keyword", "three", "name alone"],
)
def test_other_arguments_of_set_metadata_are_an_error_that_changes_nothing(
    lib: Any, change: Any
) -> None:
    variable = lib.Param(1, a=2)
    with pytest.raises((TypeError, ValueError)):
        change(variable)
    assert variable.get_metadata() == {"a": 2, **REQUIRED}


@both
def test_del_metadata_removes_one_item(lib: Any) -> None:
    variable = lib.Param(1, a=2, b=3)
    variable.del_metadata("a")
    assert variable.get_metadata(exclude_required=True) == {"b": 3}


@both
@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.set_metadata(ref=True),
        lambda v: v.set_metadata("hijax", True),
        lambda v: v.set_metadata({"ref": True}),
        lambda v: v.del_metadata("ref"),
        lambda v: v.del_metadata("hijax"),
    ],
    ids=["set ref", "set hijax", "mapping", "delete ref", "delete hijax"],
)
def test_ref_and_hijax_cannot_be_changed_afterwards(lib: Any, change: Any) -> None:
    variable = lib.Param(jnp.ones(2))
    with pytest.raises(ValueError, match="ref|hijax"):
        change(variable)
    np.testing.assert_array_equal(variable[...], [1.0, 1.0])
    assert variable.get_metadata() == REQUIRED


@both
def test_what_they_are_may_be_said_again(lib: Any) -> None:
    variable = lib.Param(jnp.ones(2), a=1)
    variable.set_metadata({"b": 2, **REQUIRED})
    assert variable.get_metadata() == {"b": 2, **REQUIRED}
    variable.set_metadata(hijax=False)


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
@pytest.mark.parametrize("name", ["get_metadata", "del_metadata"])
def test_unknown_metadata_is_a_key_error(lib: Any, name: str) -> None:
    with pytest.raises(KeyError):
        getattr(lib.Param(1), name)("b")


@both
def test_setting_no_metadata_is_a_type_error(lib: Any) -> None:
    with pytest.raises(TypeError):
        lib.Param(1).set_metadata()


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


@both
@pytest.mark.parametrize("name", ["sharding_names", "out_sharding", "sharding"])
def test_the_older_names_of_sharding_metadata_are_understood(lib: Any, name: str) -> None:
    variable = lib.Param(jnp.ones(2), eager_sharding=False, **{name: ("data",)})
    assert variable.out_sharding == ("data",)
    assert variable.sharding_names == ("data",)
    assert lib.Param(1).sharding_names is None


# -- hooks -----------------------------------------------------------------------------------------


@both
def test_a_get_hook_changes_what_is_read_and_not_what_is_stored(lib: Any) -> None:
    variable = lib.Param(jnp.array([1.0, 2.0]), on_get_value=lambda v, x: x * 10)
    np.testing.assert_array_equal(variable[...], [10.0, 20.0])
    np.testing.assert_array_equal(variable[1], 20.0)
    np.testing.assert_array_equal(variable.get_value(), [10.0, 20.0])
    np.testing.assert_array_equal(variable.get_value(index=0), 10.0)
    np.testing.assert_array_equal(variable.get_raw_value(), [1.0, 2.0])
    np.testing.assert_array_equal(variable.raw_value, [1.0, 2.0])


@both
def test_a_set_hook_changes_what_is_stored(lib: Any) -> None:
    variable = lib.Param(jnp.zeros(2), on_set_value=lambda v, x: x + 100)
    np.testing.assert_array_equal(variable.get_raw_value(), [0.0, 0.0])
    variable.set_value(jnp.ones(2))
    np.testing.assert_array_equal(variable.get_raw_value(), [101.0, 101.0])
    variable[...] = jnp.ones(2)
    np.testing.assert_array_equal(variable.get_raw_value(), [101.0, 101.0])
    variable.set_raw_value(jnp.ones(2))
    np.testing.assert_array_equal(variable.get_raw_value(), [1.0, 1.0])


@both
@pytest.mark.parametrize("ref", [False, True])
def test_hooks_see_the_part_that_is_written(lib: Any, ref: bool) -> None:
    hooks = {"on_set_value": lambda v, x: x + 1, "on_get_value": lambda v, x: x * 10}
    variable = lib.Param(jnp.array([1.0, 2.0]), ref=ref, **hooks)
    variable[0] = 5.0
    np.testing.assert_array_equal(variable.get_raw_value()[...], [6.0, 2.0])
    variable.set_value(7.0, index=1)
    np.testing.assert_array_equal(variable.get_raw_value()[...], [6.0, 8.0])


@both
def test_hooks_get_the_variable_with_its_metadata(lib: Any) -> None:
    variable = lib.Param(1, scale=3, on_get_value=lambda v, x: x * v.scale)
    assert variable.get_value() == 3
    variable.set_metadata(scale=5)
    assert variable.get_value() == 5
    created = lib.Param(1, scale=3, on_create_value=lambda v, x: x * v.scale)
    assert created.get_raw_value() == 3


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
def test_a_subclass_defines_hooks_as_methods(lib: Any) -> None:
    class Hooked(lib.Variable):
        def on_get_value(self, value: Any) -> Any:
            return value + 1

        def on_set_value(self, value: Any) -> Any:
            return value * 10

        def on_create_value(self, value: Any) -> Any:
            return value + 1000

    class Inherits(Hooked):
        pass

    for cls in (Hooked, Inherits):
        variable = cls(1)
        assert variable.get_raw_value() == 1001
        assert variable.get_value() == 1002
        variable.set_value(5)
        assert variable.get_raw_value() == 50


@both
def test_a_hook_given_to_the_constructor_replaces_that_of_the_class(lib: Any) -> None:
    class Hooked(lib.Variable):
        def on_get_value(self, value: Any) -> Any:
            return value + 1

    assert Hooked(1, on_get_value=lambda v, x: x + 7).get_value() == 8


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


@both
def test_axis_hooks_may_be_methods_of_the_class_and_change_metadata(lib: Any) -> None:
    class Named(lib.Variable):
        def on_add_axis(self, index: int, name: str | None) -> None:
            names = list(self.names)
            names.insert(index, name)
            self.set_metadata(names=tuple(names))

        def on_remove_axis(self, index: int, name: str | None) -> None:
            names = list(self.names)
            assert names.pop(index) == name
            self.set_metadata(names=tuple(names))

    variable = Named(1, names=("in", "out"))
    variable.add_axis(0, "layers")
    assert variable.names == ("layers", "in", "out")
    variable.remove_axis(0, "layers")
    assert variable.names == ("in", "out")
