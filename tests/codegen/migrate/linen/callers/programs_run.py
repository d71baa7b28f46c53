"""Runs the caller programs in Linen and migrated, the second with the initial weights of the first."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from unittest import mock

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.migrate import weights
from typed_nnx_codegen.migrate.linen.migration import (
    LinenResult,
    map_path,
    map_text,
    migrate_linen,
)
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.weights.models import runtime_of


def programs(folder: str = "programs") -> list[Path]:
    """Return the files of the programs."""
    return sorted(Path(__file__).with_name(folder).glob("*.py"))


def migrated(path: Path, target: str, *, gradual: bool = False) -> LinenResult:
    """Return what becomes of a program."""
    options = Options(target)  # type: ignore[arg-type]  # from the parameters of tests
    (result,) = migrate_linen([path], [path], options, gradual=gradual)
    return result


def imported(path: Path, name: str) -> ModuleType:
    """Return a program, imported under a name of its own."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def recorded() -> Iterator[list[tuple[str, Any]]]:
    """Note what Linen's `init` gives, by class, unless it is traced."""
    found: list[tuple[str, Any]] = []
    before = nn.Module.init_with_output

    def init_with_output(self: Any, *args: Any, **kwargs: Any) -> Any:
        output, variables = before(self, *args, **kwargs)
        if _is_concrete(variables):
            # The program may donate its own.
            found.append((type(self).__name__, jax.tree.map(jnp.copy, variables)))
        return output, variables

    # `init` calls it.
    patched = mock.patch.object(nn.Module, "init_with_output", init_with_output)
    with patched, mock.patch.object(jax, "jit", _not_of_init):
        yield found


_jit = jax.jit
_INITS: Final = ("init", "init_with")


def _not_of_init(function: Any = None, **options: Any) -> Any:
    """Jit functions as jax does, but not `model.init`, whose variables are to be seen."""
    called = function
    while isinstance(called, partial):
        called = called.func
    if getattr(called, "__name__", "") in _INITS:
        return function
    return _jit(function, **options) if function is not None else partial(_not_of_init, **options)


def _is_concrete(tree: Any) -> bool:
    leaves = jax.tree.leaves(tree)
    return not any(isinstance(leaf, jax.core.Tracer | jax.ShapeDtypeStruct) for leaf in leaves)


def transplant(module: ModuleType, variables: list[tuple[str, Any]], map_file: Path) -> None:
    """Let what the migrated program constructs have the variables that Linen made, in order."""
    depth = [0]
    mapped = json.loads(map_file.read_text())
    # A class in a function is made when that runs, and layers have no map.
    names = [name for name in mapped["classes"] if hasattr(module, name)]
    waiting = [one for one in variables if one[0] in names]

    def wrapped(cls: type) -> None:
        before = cls.__init__  # type: ignore[misc]  # to call it within the new one

        @wraps(before)  # helpers read its signature
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            depth[0] += 1
            try:
                before(self, *args, **kwargs)
            finally:
                depth[0] -= 1
            is_root = depth[0] == 0 and type(self) is cls and not _is_in("bound_to")
            is_next = is_root and waiting and waiting[0][0] == cls.__name__
            if is_next and _is_concrete(_values(self)):
                weights.load(waiting.pop(0)[1], self, mapped)

        cls.__init__ = __init__  # type: ignore[misc]  # that is what this is for

    for name in names:
        wrapped(getattr(module, name))


def _values(model: Any) -> list[Any]:
    return jax.tree.leaves(runtime_of(type(model)).state(model))


def _is_in(function: str) -> bool:
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == function:
            return True
        frame = frame.f_back  # type: ignore[assignment]  # None ends the loop
    return False


def close(one: Any, other: Any) -> None:
    """Assert that two results are the same numbers."""
    first, second = jax.tree.leaves(one), jax.tree.leaves(other)
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-5)


def same_numbers(path: Path, target: str, new: Path, *, gradual: bool = False) -> str:
    """Assert that a program gives the same numbers when it is migrated; return its new text.

    Args:
        path: The program.
        target: The library that it is migrated to.
        new: Where the new program is written.
        gradual: Whether modules stay in Linen that would need a person.
    """
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        with recorded() as variables:
            expected = imported(path, f"linen_{path.stem}").run()
        result = migrated(path, target, gradual=gradual)
        new.write_text(result.after)
        map_path(new).write_text(map_text(result.map, None))
        with mock.patch.object(jax, "jit", _not_of_init):
            module = imported(new, f"migrated_{path.stem}_{target.replace('.', '_')}")
            transplant(module, variables, map_path(new))
            close(module.run(), expected)
    return result.after
