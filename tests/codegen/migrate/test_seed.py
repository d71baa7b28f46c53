"""The early program of the seed document ``why_nnx.txt``, migrated, runs and prints what it says.

`why_nnx_cells.txt` has the code of its cells; ``In [n]:`` stands before each.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from typed_nnx_codegen.migrate.engine import migrate_text
from typed_nnx_codegen.migrate.files import migrate_bytes
from typed_nnx_codegen.migrate.findings import DECIDE
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project

HERE = Path(__file__)
DOCUMENT = HERE.parents[4] / "shared" / "seeds" / "why_nnx.txt"
Target = Literal["typed_nnx", "flax.nnx"]
TARGETS: tuple[Target, ...] = ("typed_nnx", "flax.nnx")


def cells() -> list[str]:
    text = (HERE.parent / "why_nnx_cells.txt").read_text()
    return [cell.rstrip() for cell in re.split(r"^In \[\d+\]:\n", text, flags=re.MULTILINE)[1:]]


def migrated_program(target: Target) -> str:
    """Return the program, which has to need no decision of a person."""
    result = migrate_text("\n\n\n".join(cells()), HERE, Project((HERE,)), Options(target))

    assert [found for found in result.findings if found.kind == DECIDE] == []
    return result.text + "\n"


def migrated_notebook(target: Target) -> list[str]:
    """Return the cells of a notebook of the program after the migration."""
    notebook = {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": cell.splitlines(keepends=True),
            }
            for cell in cells()
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = HERE.with_suffix(".ipynb")
    result = migrate_bytes(json.dumps(notebook).encode(), path, Project((path,)), Options(target))

    assert not result.error
    return ["".join(cell["source"]) for cell in json.loads(result.after)["cells"]]


def run(codes: list[str]) -> dict[str, Any]:
    """Run cells one after the other and return the names that they bind."""
    names: dict[str, Any] = {"__name__": "seed"}
    for code in codes:
        exec(compile(code, "why_nnx", "exec"), names)
    return names


def shapes(state: object) -> dict[str, tuple[int, ...]]:
    """Return the shape of each leaf, by its path with slashes: as the document prints them."""
    leaves, _ = jax.tree.flatten_with_path(state)
    return {
        jax.tree_util.keystr(path, simple=True, separator="/").removesuffix("/value"): leaf.shape
        for path, leaf in leaves
    }


def assert_is_as_the_document_says(names: dict[str, Any], printed: str, nnx: Any) -> None:
    assert re.findall(r"^y\.shape = .*$", printed, re.MULTILINE) == [
        "y.shape = (2, 4)",
        "y.shape = (8, 4)",
    ]
    for line in ("model.count = ", 'state["count"] = ', "ensemble.models.count = "):
        after = printed.partition(line)[2]
        assert re.search(r"Array\((.*?), dtype=int32\)", after)[1] == "1"  # type: ignore[index]  # a failure is a failure
    # `state` was printed before anything was called.
    assert "Array(0, dtype=int32)" in printed.partition("\nstate = ")[2].partition("y.shape")[0]
    assert shapes(nnx.state(names["ensemble"])) == {
        "models/count": (),
        "models/linear/bias": (8, 4),
        "models/linear/kernel": (8, 4, 4),
    }
    last = printed.rpartition("state = State(")[2]
    assert re.findall(r"\((?:\d+, \d+(?:, \d+)?)?\)", last) == ["()", "(8, 4)", "(8, 4, 4)"]
    assert type(names["model"]).__name__ == "CounterLinear"


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
def test_the_migrated_program_does_what_the_document_says(
    target: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    names = run([migrated_program(target)])

    assert_is_as_the_document_says(names, capsys.readouterr().out, names["nnx"])


@pytest.mark.thorough
def test_the_migrated_notebook_does_what_the_document_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = run(migrated_notebook("typed_nnx"))

    assert_is_as_the_document_says(names, capsys.readouterr().out, names["nnx"])


def test_each_model_of_the_ensemble_gives_what_it_gives_alone() -> None:
    names = run([migrated_program("typed_nnx")])
    models, nnx = names["ensemble"].models, names["nnx"]
    kernel, bias = models.linear.kernel[...], models.linear.bias[...]

    x = jnp.ones((4,))
    expected = np.stack([x @ kernel[i] + bias[i] for i in range(8)])
    np.testing.assert_allclose(names["y"], expected, rtol=1e-5)
    assert len({float(row[0, 0]) for row in kernel}) == 8
    assert isinstance(models.count, nnx.Variable)


@pytest.mark.skipif(not DOCUMENT.is_file(), reason="the document is beside the repository only")
def test_the_program_is_that_of_the_document() -> None:
    document = DOCUMENT.read_text()

    for number, cell in enumerate(cells(), 1):
        assert f"\nIn [{number}]:\n{cell}\n" in f"{document}\n"
