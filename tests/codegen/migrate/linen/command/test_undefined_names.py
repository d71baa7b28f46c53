"""No file is written that reads names which nothing defines, or that others can no longer import from."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import written
from typed_nnx_codegen.migrate.linen import migration
from typed_nnx_codegen.migrate.linen.migration import LinenResult, migrate_linen
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.undefined_names import Undefined, undefined_names

LAYERS = """
    import flax.linen as nn
    import jax.numpy as jnp
    from flax.linen import Dense


    class Good(nn.Module):
        @nn.compact
        def __call__(self, x):
            return Dense(3)(x)


    class Bad(nn.Module):
        @nn.compact
        def __call__(self, x):
            return jnp.tanh(Dense(3)(x))
"""
HOLDERS = """
    import flax.linen as nn
    from layers import Bad, Good


    class HoldsGood(nn.Module):
        @nn.compact
        def __call__(self, x):
            return Good()(x)


    class HoldsBad(nn.Module):
        @nn.compact
        def __call__(self, x):
            return Bad()(x)
"""


def _migrated(folder: Path, files: dict[str, str]) -> dict[str, LinenResult]:
    written(folder, {name: textwrap.dedent(text).lstrip() for name, text in files.items()})
    results = migrate_linen([folder / name for name in files], [folder], Options())
    return {one.path.name: one for one in results}


def _marked(result: LinenResult) -> set[str]:
    return {plan.cls.name for plan in result.plans if plan.marks or plan.stays}


def test_a_class_that_would_read_an_undefined_name_stays_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def undefined(texts: dict[Path, tuple[str, str]]) -> dict[Path, tuple[Undefined, ...]]:
        bad = [path for path, (_, after) in texts.items() if "class Bad(nnx.Module)" in after]
        return dict.fromkeys(bad, (Undefined(7, "missing"),))

    monkeypatch.setattr(migration, "newly_undefined", undefined)
    results = _migrated(tmp_path, {"layers.py": LAYERS, "holders.py": HOLDERS})

    layers, holders = results["layers.py"], results["holders.py"]
    assert "class Good(nnx.Module)" in layers.after
    assert "class Bad(nn.Module)" in layers.after
    assert "read `missing` in line 7, which nothing defines" in layers.error
    assert [one.before for one in layers.findings if "`missing` in line 7" in one.message] == [
        "class Bad(nn.Module):"
    ]
    assert (_marked(layers), _marked(holders)) == ({"Bad"}, {"HoldsBad"})
    found = undefined_names({name: one.after for name, one in results.items()})
    assert not any(found.values())


def test_a_file_of_which_no_class_is_to_blame_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        migration,
        "newly_undefined",
        lambda texts: {
            path: (Undefined(1, "missing"),)
            for path, (before, after) in texts.items()
            if before != after
        },
    )
    results = _migrated(tmp_path, {"layers.py": LAYERS})

    assert results["layers.py"].after == results["layers.py"].before
    assert _marked(results["layers.py"]) == {"Good", "Bad"}
    assert "`missing`" in results["layers.py"].error


def test_a_file_keeps_the_imports_that_others_import_from_it(tmp_path: Path) -> None:
    package = (
        "from .layers import Bad, Dense, Good  # of flax\n\n__all__ = ['Bad', 'Dense', 'Good']\n"
    )
    reads = "import flax.linen as nn\nfrom . import layers\n\nNAMES = vars(layers.jnp)\nKEPT = layers.nn\n"
    files = {"layers.py": LAYERS, "__init__.py": package, "reads.py": reads}
    results = _migrated(tmp_path, files)

    assert "from flax.linen import Dense\n" in results["layers.py"].after
    assert "class Bad(nnx.Module)" in results["layers.py"].after


def test_imports_that_nobody_needs_any_more_go(tmp_path: Path) -> None:
    results = _migrated(tmp_path, {"layers.py": LAYERS, "holders.py": HOLDERS})

    assert "flax" not in results["layers.py"].after
