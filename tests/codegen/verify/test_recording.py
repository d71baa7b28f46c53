"""A record of examples has the shapes of every call, though no array is computed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.codegen.verify.verifying import PAIRS
from tests.support.processes import run_process
from typed_nnx_codegen.migrate.linen.trace.recording import Tables
from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.recording import record

HEAD = """\
import jax.numpy as jnp
from typed_nnx_codegen.verify.examples import Build, Example

ROWS = jnp.ones((2, 5))
"""


def recorded(folder: Path, example: str) -> Tables:
    calls = folder / "calls.py"
    calls.write_text(f"{HEAD}\nEXAMPLES = [{example}]\n")
    return record([PAIRS / "linen_models.py"], calls)


def path_of(found: Tables, call: dict[str, Any]) -> tuple[str, ...]:
    """Return the names from the root on."""
    names: list[str] = []
    at = call["module"]
    while at is not None:
        module = found.modules[at]
        names = [module["name"], *names] if module["name"] else names
        at = module["parent"]
    return tuple(names)


def test_every_call_has_its_shapes_and_the_call_around_it(tmp_path: Path) -> None:
    found = recorded(tmp_path, 'Example(Build("MLP", (8, 6, 4)), ROWS)')

    root, *layers = found.calls
    assert found.classes[found.modules[root["module"]]["class"]]["name"] == "MLP"
    assert root["within"] is None
    assert [each["within"] for each in layers] == [0, 0, 0]
    assert [path_of(found, each) for each in layers] == [("Dense_0",), ("Dense_1",), ("head",)]
    shapes = [each["arguments"]["inputs"]["shape"] for each in layers]
    assert shapes == [[2, 5], [2, 8], [2, 6]]
    assert layers[-1]["outputs"] == {"shape": [2, 4], "dtype": "float32"}
    kernels = [each["variables"]["params"]["kernel"]["shape"] for each in layers]
    assert kernels == [[5, 8], [8, 6], [6, 4]]


def test_a_class_has_its_file_and_its_line(tmp_path: Path) -> None:
    found = recorded(tmp_path, 'Example(Build("MLP", (4,)), ROWS)')

    (cls,) = [each for each in found.classes if not each["library"]]
    line = Path(cls["file"]).read_text().splitlines()[cls["line"] - 1]
    assert (cls["name"], line) == ("MLP", "class MLP(nn.Module):")


def test_no_array_is_computed(tmp_path: Path) -> None:
    example = (
        'Example(Build("MLP", (4,)), __import__("jax").ShapeDtypeStruct((10**9, 10**3), "float32"))'
    )

    found = recorded(tmp_path, example)

    assert found.runs == [{"name": "MLP", "error": ""}]
    assert found.calls[-1]["outputs"] == {"shape": [10**9, 4], "dtype": "float32"}


def test_a_scanned_body_is_recorded_once(tmp_path: Path) -> None:
    found = recorded(tmp_path, 'Example(Build("Deep", 5, depth=3), ROWS)')

    paths = [path_of(found, each) for each in found.calls]
    assert paths == [(), ("steps",), ("steps", "Dense_0")]


def test_an_error_is_told_and_the_calls_before_it_are_kept(tmp_path: Path) -> None:
    found = recorded(tmp_path, 'Example(Build("Wrapper", inner=None), ROWS)')

    (run,) = found.runs
    assert "TypeError" in run["error"]
    assert "linen_models.py:" in run["error"]
    assert [path_of(found, each) for each in found.calls] == [(), ("Dense_0",)]


def test_code_that_needs_values_is_run_with_them(tmp_path: Path) -> None:
    old = tmp_path / "old.py"
    old.write_text(
        "import flax.linen as nn\n"
        "class Picky(nn.Module):\n"
        "    @nn.compact\n"
        "    def __call__(self, x, n):\n"
        "        for _ in range(int(n)):\n"
        "            x = nn.Dense(3)(x)\n"
        "        return x\n"
    )
    calls = tmp_path / "calls.py"
    calls.write_text(f"{HEAD}\nEXAMPLES = [Example(Build('Picky'), ROWS, jnp.array(2))]\n")

    found = record([old], calls)

    assert found.runs == [{"name": "Picky", "error": ""}]
    assert [path_of(found, each) for each in found.calls] == [(), ("Dense_0",), ("Dense_1",)]


def test_examples_of_several_files_build_the_classes_of_each(tmp_path: Path) -> None:
    layer = (
        "import flax.linen as nn\n\n\nclass {name}(nn.Module):\n    width: int = {width}\n\n"
        "    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(self.width)(x)\n"
    )
    files = [tmp_path / "pkg" / name for name in ("__init__.py", "one.py", "two.py")]
    files[0].parent.mkdir()
    files[0].write_text("")
    files[1].write_text(
        layer.format(name="One", width=3) + "\n\n" + layer.format(name="Both", width=1)
    )
    files[2].write_text(
        layer.format(name="Two", width=4) + "\n\n" + layer.format(name="Both", width=2)
    )
    calls = tmp_path / "calls.py"
    builds = ["One", "Two", "pkg.two.Both", "Both"]
    examples = ", ".join(f'Example(Build("{name}"), ROWS)' for name in builds)
    calls.write_text(f"{HEAD}\nEXAMPLES = [{examples}]\n")

    found = record(files, calls)

    outputs = [each["outputs"]["shape"] for each in found.calls if each["within"] is None]
    assert outputs == [[2, 3], [2, 4], [2, 2]]
    assert "'Both' is in several files" in found.runs[-1]["error"]
    assert "Fix: its full name, Build('pkg.one.Both')" in found.runs[-1]["error"]


@pytest.mark.thorough
def test_the_program_writes_its_record_into_a_folder(tmp_path: Path) -> None:
    calls = tmp_path / "calls.py"
    calls.write_text(f"{HEAD}\nprint('noise')\nEXAMPLES = [Example(Build('MLP', (4,)), ROWS)]\n")

    run_process(
        [
            *(sys.executable, "-m", "typed_nnx_codegen.verify.recording"),
            *(tmp_path, calls, PAIRS / "linen_models.py"),
        ],
        check=True,
    )

    said = json.loads((tmp_path / "examples.json").read_text())
    assert (said["typed_nnx_trace"], said["problem"]) == (1, "")
    assert said["calls"][1]["arguments"]["inputs"] == {"shape": [2, 5], "dtype": "float32"}


def test_files_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadUse, match="there is no such file"):
        record([tmp_path / "none.py"], tmp_path / "calls.py")
