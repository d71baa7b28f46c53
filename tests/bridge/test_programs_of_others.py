"""Programs that import flax.nnx, run by `typed-nnx run`, write the arrays that they write with flax, bit for bit."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.processes import PATIENCE, run_process, run_together

ROOT = Path(__file__).parents[2]
STAND_IN = "tests/bridge/decoder_of_others.py"
OURS = ("-c", "from typed_nnx_codegen.cli import main; main()", "run")

# What the models import beside what the tests need; the package itself wants far more.
TUNIX = ("google-tunix==0.1.7", "einops==0.8.2", "huggingface-hub==2.4.0")


def arrays_of_both(
    program: tuple[str, ...], folder: Path, more: Mapping[str, str], timeout: float = PATIENCE
) -> list[dict[str, Any]]:
    """Run a program with flax and with typed_nnx; return what each wrote."""
    outs = {name: folder / f"{name}.npz" for name in ("flax", "ours")}
    python = [sys.executable, "-W", "ignore"]
    commands = [
        [*python, *program, str(outs["flax"])],
        [*python, *OURS, *program, str(outs["ours"])],
    ]
    settings = {**os.environ, "JAX_PLATFORMS": "cpu", **more}
    run_together(commands, folder, timeout=timeout, cwd=ROOT, env=settings)
    found = []
    for out in outs.values():
        with np.load(out) as arrays:
            found.append(dict(arrays))
    return found


def assert_equal(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert (theirs.pop("library"), ours.pop("library")) == ("flax.nnx", "typed_nnx")
    assert theirs.keys() == ours.keys()
    for name, expected in theirs.items():
        assert ours[name].dtype == expected.dtype, name
        np.testing.assert_array_equal(ours[name], expected, err_msg=name)


@pytest.mark.thorough
def test_a_decoder_in_the_shape_of_those_of_tunix_is_built_trained_and_decodes(
    tmp_path: Path,
) -> None:
    theirs, ours = arrays_of_both((STAND_IN,), tmp_path, {})
    assert len(theirs) > 60
    assert not np.array_equal(theirs["scanned/losses"][0], theirs["scanned/losses"][1])
    assert_equal(theirs, ours)


@pytest.mark.slow
def test_the_models_of_google_tunix_are_built_and_trained(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    run_process([*command, str(packages), *TUNIX], timeout=900, check=True)
    theirs, ours = arrays_of_both(
        ("-m", "benchmarks.tunix_models"), tmp_path, {"PYTHONPATH": str(packages)}, timeout=900
    )
    assert {name.split(":")[0].split(" ")[0] for name in theirs} - {"library"} == {
        *("llama3", "qwen2", "qwen3", "gemma", "gemma3", "gemma4")
    }
    assert_equal(theirs, ours)
