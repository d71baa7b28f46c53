"""The Variable types, their hierarchy and their names; laws run against flax too."""

from __future__ import annotations

import uuid
from typing import Any

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.support.peer import both_libraries

PARENTS = {
    "Param": "Variable",
    "BatchStat": "Variable",
    "Cache": "Variable",
    "Intermediate": "Variable",
    "Perturbation": "Intermediate",
    "LoRAParam": "Param",
    "RngState": "Variable",
    "RngKey": "RngState",
    "RngCount": "RngState",
    "OptState": "Variable",
    "OptArray": "OptState",
    "OptVariable": "OptState",
}
NAMES = {
    "params": "Param",
    "batch_stats": "BatchStat",
    "cache": "Cache",
    "intermediates": "Intermediate",
    "perturbations": "Perturbation",
}


def fresh_name() -> str:
    """Return a name that no registry has: they outlive the test."""
    return f"name_{uuid.uuid4().hex}"


@both
@pytest.mark.parametrize("name", PARENTS)
def test_each_type_derives_from_the_type_that_filters_expect(lib: Any, name: str) -> None:
    cls = getattr(lib, name)
    assert cls.__base__ is getattr(lib, PARENTS[name])
    assert issubclass(cls, lib.Variable)


@both
@pytest.mark.parametrize("name", PARENTS)
def test_an_instance_knows_its_type(lib: Any, name: str) -> None:
    variable = getattr(lib, name)(jnp.ones(2))
    assert variable.type is variable.var_type is getattr(lib, name)


@both
def test_user_subclasses_are_variables_with_their_own_attributes(lib: Any) -> None:
    class Scaled(lib.Param):
        def __init__(self, value: Any, scale: int, **metadata: Any) -> None:
            super().__init__(value, scale=scale, **metadata)

        @property
        def scaled(self) -> Any:
            return self[...] * self.scale

        @scaled.setter
        def scaled(self, value: Any) -> None:
            self[...] = value / self.scale

    variable = Scaled(jnp.float32(2), 3, tag="t")
    assert (variable.scaled, variable.tag) == (6.0, "t")
    variable.scaled = jnp.float32(12)
    assert variable[...] == 4.0
    assert variable.copy().scaled == 12.0
    state = lib.state(lib.Dict(a=variable, b=lib.BatchStat(1)), lib.Param)
    assert list(state) == ["a"]


def test_a_subclass_needs_no_slots_and_then_has_no_dict_of_its_own_use() -> None:
    class Plain(nnx.Variable[Any]):
        pass

    with pytest.raises(AttributeError):
        Plain(1)._unknown  # noqa: B018 -- it is the reading that fails


# -- names -----------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("name", NAMES)
def test_the_collections_of_linen_are_names_of_types(lib: Any, name: str) -> None:
    cls = getattr(lib, NAMES[name])
    assert lib.variable_type_from_name(name) is cls
    assert lib.variable_name_from_type(cls) == name


@both
def test_a_type_is_registered_by_call_or_decorator(lib: Any) -> None:
    one, two = fresh_name(), fresh_name()

    class Called(lib.Variable):
        pass

    assert lib.register_variable_name(one, Called) is Called

    @lib.register_variable_name(two)
    class Decorated(lib.Variable):
        pass

    assert lib.variable_type_from_name(one) is Called
    assert lib.variable_name_from_type(Decorated) == two


@both
def test_a_taken_name_is_an_error_unless_overwritten(lib: Any) -> None:
    name = fresh_name()
    lib.register_variable_name(name, lib.Param)
    with pytest.raises(ValueError, match=name):
        lib.register_variable_name(name, lib.BatchStat)
    assert lib.variable_type_from_name(name) is lib.Param
    lib.register_variable_name(name, lib.BatchStat, overwrite=True)
    assert lib.variable_type_from_name(name) is lib.BatchStat


@both
def test_an_unknown_name_is_an_error_or_makes_a_type(lib: Any) -> None:
    name = fresh_name()
    with pytest.raises(ValueError, match=name):
        lib.variable_type_from_name(name)
    made = lib.variable_type_from_name(name, base=lib.Param, allow_register=True)
    assert made.__name__ == name
    assert made.__base__ is lib.Param
    assert lib.variable_type_from_name(name) is made
    assert made(jnp.ones(2)).shape == (2,)


@both
def test_an_unknown_type_is_an_error_or_gets_its_own_name(lib: Any) -> None:
    cls = type(fresh_name(), (lib.Variable,), {})
    with pytest.raises(ValueError, match=cls.__name__):
        lib.variable_name_from_type(cls)
    assert lib.variable_name_from_type(cls, allow_register=True) == cls.__name__
    assert lib.variable_name_from_type(cls) == cls.__name__
    same_name = type(cls.__name__, (lib.Variable,), {})
    with pytest.raises(ValueError, match="already"):
        lib.variable_name_from_type(same_name, allow_register=True)


# -- the older name --------------------------------------------------------------------------------


@both_libraries
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_variable_state_is_variable(nnx: Any) -> None:
    assert nnx.VariableState is nnx.variablelib.VariableState is nnx.Variable
    assert nnx.VariableState[int].__origin__ is nnx.Variable
