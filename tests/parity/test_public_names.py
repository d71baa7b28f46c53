"""Everything public in flax.nnx is here, under the same name and with the same parameters."""

from __future__ import annotations

import functools
import json
import sys
import typing
from typing import Any

import pytest

import typed_nnx as nnx
from tests.parity.exceptions import EXCEPTIONS, patterns_for
from tests.parity.modules import (
    attributes_that_are_modules,
    modules_of_flax,
    our_module,
    public_names,
)
from tests.parity.signatures import differences
from tests.support.processes import run_process
from typed_nnx import compat

THEIRS = modules_of_flax()
ATTRIBUTES = attributes_that_are_modules()

# Looking up an older name warns, which is what other tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:nnx:DeprecationWarning")


@pytest.fixture(autouse=True)
def _other_tests_see_their_first_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compat, "_warned", set())


@functools.cache
def found_in(name: str) -> dict[str, str]:
    """Return what differs in a module: the dotted name of each thing, and how."""
    ours, theirs = our_module(name), THEIRS[name]
    if ours is None:
        return {name: "there is no such module"}
    found: dict[str, str] = {}
    for key, value in public_names(name, theirs).items():
        dotted = f"{name}.{key}".lstrip(".")
        mine = getattr(ours, key, None)
        if mine is None:
            found[dotted] = "is missing"
        elif not (name and _is_of_the_package(key, mine, value)):
            found.update(differences(dotted, mine, value))
    return found


def _is_of_the_package(key: str, mine: Any, value: Any) -> bool:
    """Whether both packages have the very objects, which are compared there."""
    return vars(THEIRS[""]).get(key) is value and vars(nnx).get(key) is mine


@pytest.mark.every_case
@pytest.mark.parametrize("name", sorted(THEIRS), ids=lambda name: name or "nnx")
def test_what_flax_offers_is_here_with_the_same_parameters(name: str) -> None:
    found = {key: how for key, how in found_in(name).items() if not patterns_for(key)}
    assert not found, "\n".join(f"{key} {how}" for key, how in found.items())


@pytest.fixture(scope="module")
def imported() -> dict[str, str]:
    """The modules that a fresh `import typed_nnx` gives as attributes; imports add more."""
    program = """
import json, types, typed_nnx
modules = {k: v.__name__ for k, v in vars(typed_nnx).items() if isinstance(v, types.ModuleType)}
print(json.dumps(modules))
"""
    done = run_process([sys.executable, "-c", program], check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("attribute", sorted(ATTRIBUTES))
def test_a_module_that_is_an_attribute_in_flax_is_one_here(
    attribute: str, imported: dict[str, str]
) -> None:
    target = ATTRIBUTES[attribute]
    expected = None if patterns_for(target) else f"typed_nnx.{target}"
    assert imported.get(attribute) == expected


@pytest.mark.parametrize("pattern", sorted(EXCEPTIONS))
def test_no_exception_outlives_what_it_excuses(pattern: str) -> None:
    found = [key for name in THEIRS for key in found_in(name)]
    assert any(pattern in patterns_for(key) for key in found), "take it out of the list"


@pytest.mark.parametrize("name", sorted(THEIRS), ids=lambda name: name or "nnx")
def test_type_variables_are_of_the_same_kind_and_name(name: str) -> None:
    ours = our_module(name)
    names = public_names(name, THEIRS[name]) if ours is not None else {}
    for key, value in names.items():
        if isinstance(value, (typing.TypeVar, typing.ParamSpec)):
            mine = getattr(ours, key)
            assert type(mine) is type(value), key
            assert mine.__name__ == value.__name__


def test_classes_of_users_are_generic_over_the_type_variables() -> None:
    class Count(nnx.Variable[nnx.A]):
        pass

    class Box(nnx.Module, typing.Generic[nnx.graphlib.B]):
        pass

    count: Count[int] = Count(1)
    assert count.get_value() == 1
    assert Box[int].__origin__ is Box  # type: ignore[attr-defined]  # of an alias, at run time


def test_the_walk_reaches_what_users_import() -> None:
    names = {name: public_names(name, module) for name, module in THEIRS.items()}
    assert {"Linear", "jit", "Optimizer", "State", "relu", "map"} <= set(names[""])
    assert {"ToNNX", "compact", "lazy_init"} <= set(names["bridge"])
    assert {"lecun_normal", "zeros_init", "Initializer"} <= set(names["nn.initializers"])
    assert {"Average", "Welford"} <= set(names["training.metrics"])
    assert {"jit", "split"} <= set(names["compat"])
    assert {"A", "M"} <= set(names[""])
    assert {"State", "HA", "Variable"} <= set(names["graphlib"])
    assert len(names[""]) > 200
