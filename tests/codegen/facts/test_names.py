"""Full names and public names; the table of jax's functions against jax itself."""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any

import flax.nnx
import pytest

import typed_nnx
from typed_nnx_codegen.facts.names import JAX, RUNTIMES, Name, name_of, runtime_of


def object_of(fullname: str) -> Any:
    """Return what a full name stands for: the module is as much of it as can be imported."""
    parts = fullname.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        return functools.reduce(getattr, parts[count:], module)
    raise AssertionError(f"{fullname} is in no module")


# Names of jax that stand for another object than their public name does.
OTHER_OBJECTS = {
    "jax._src.tree_util.tree_map": "jax.tree_util.tree_map",  # which jax.tree.map calls
    "jax._src.tree_util.tree_map_with_path": "jax.tree_util.tree_map_with_path",
}
# What has no public name: the class that checkers take a jitted function for.
WITHOUT_PUBLIC_NAME = {"jax._src.pjit.JitWrapped.__call__"}


@pytest.mark.parametrize("fullname", JAX)
def test_a_name_of_jax_is_where_the_table_says_and_is_the_public_one(fullname: str) -> None:
    found = object_of(fullname)
    if fullname not in WITHOUT_PUBLIC_NAME:
        assert found is object_of(OTHER_OBJECTS.get(fullname, JAX[fullname]))
    assert name_of(fullname) == Name(JAX[fullname], "jax")


def test_exceptions_of_the_table_are_in_it() -> None:
    assert {*OTHER_OBJECTS, *WITHOUT_PUBLIC_NAME} <= set(JAX)


@pytest.mark.parametrize(
    ("module", "runtime"),
    [(typed_nnx, "typed_nnx"), (flax.nnx, "flax.nnx")],
    ids=["typed_nnx", "flax"],
)
def test_every_function_and_class_of_a_runtime_has_its_own_name(module: Any, runtime: str) -> None:
    known = 0
    for name, value in vars(module).items():
        is_defined = inspect.isfunction(value) or inspect.isclass(value)
        if name.startswith("_") or not is_defined or not runtime_of(value.__module__):
            continue
        if value.__name__ != name:
            continue  # an alias of a class: mypy knows it by the other name
        known += 1
        found = name_of(f"{value.__module__}.{value.__qualname__}")
        assert found == Name(value.__qualname__, runtime), name
    assert known > 100


@pytest.mark.parametrize(
    ("fullname", "public", "runtime"),
    [
        ("typed_nnx._graph.split.split", "split", "typed_nnx"),
        ("typed_nnx.split", "split", "typed_nnx"),
        ("flax.nnx.graphlib.split", "split", "flax.nnx"),
        ("flax.experimental.nnx.graph.split", "split", "flax.nnx"),
        ("flax.nnx.training.optimizer.Optimizer.update", "Optimizer.update", "flax.nnx"),
        ("typed_nnx._core.state._Private.get", "_Private.get", "typed_nnx"),
    ],
)
def test_a_full_name_is_a_public_name_and_a_runtime(
    fullname: str, public: str, runtime: str
) -> None:
    assert name_of(fullname) == Name(public, runtime)


@pytest.mark.parametrize(
    "fullname",
    [
        "jax._src.api.no_such_function",
        "jax.jit_of_mine",
        "jaxtyping.split",
        "flax.linen.Module",
        "flax.nnxtra.split",
        "typed_nnx_models.State",
        "typed_nnx_mypy.plugin.split",
        "app.typed_nnx.split",
        "builtins.complex.__eq__",
        "split",
    ],
)
def test_other_names_are_no_names_of_ours(fullname: str) -> None:
    assert name_of(fullname) is None


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_modules_of_a_runtime_are_its_own(runtime: str) -> None:
    for package in RUNTIMES[runtime]:
        assert runtime_of(package) == runtime_of(f"{package}.deep.inside") == runtime
        assert runtime_of(f"{package}_more") == ""
