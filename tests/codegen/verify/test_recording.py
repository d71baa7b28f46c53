"""A recording has the shapes of every call of a submodule, by the place of the call."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.codegen.verify.verifying import PAIRS
from tests.support.processes import run_process
from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.recording import ExampleRecord, SubmoduleCall, record

HEAD = """\
import jax.numpy as jnp
from typed_nnx_codegen.verify.examples import Build, Example

ROWS = jnp.ones((2, 5))
"""


def recorded(folder: Path, example: str) -> ExampleRecord:
    calls = folder / "calls.py"
    calls.write_text(f"{HEAD}\nEXAMPLES = [{example}]\n")
    (found,) = record(PAIRS / "linen_models.py", calls).examples
    return found


def text_at(call: SubmoduleCall) -> str:
    """Return the source of a call that stands in one line."""
    site = call.site
    assert site is not None
    line = Path(site.file).read_text().splitlines()[site.line - 1]
    return line.encode()[site.column : site.end_column].decode()


def test_every_call_has_its_shapes_and_its_place(tmp_path: Path) -> None:
    found = recorded(tmp_path, 'Example(Build("MLP", (8, 6, 4)), ROWS)')

    root, *layers = found.calls
    assert (root.module, root.path, root.site) == ("MLP", (), None)
    assert [each.path for each in layers] == [("Dense_0",), ("Dense_1",), ("head",)]
    shapes = [each.arguments["inputs"]["shape"] for each in layers]
    assert shapes == [[2, 5], [2, 8], [2, 6]]
    assert [each.outputs for each in layers][-1] == {"shape": [2, 4], "dtype": "float32"}
    assert [text_at(each) for each in layers] == [
        "nn.Dense(width)(x)",
        "nn.Dense(width)(x)",
        'nn.Dense(self.features[-1], name="head")(x)',
    ]
    assert {each.site.parent for each in layers if each.site} == {"MLP"}
    assert {each.site.function for each in layers if each.site} == {"MLP.__call__"}


def test_what_a_library_layer_calls_is_told_apart(tmp_path: Path) -> None:
    found = recorded(tmp_path, 'Example(Build("Reader", 5, 4), jnp.ones((2, 3), jnp.int32))')

    inside = [each for each in found.calls if each.path[:1] == ("attention",)]
    assert [each.site.via for each in inside if each.site] == [
        (),
        *[("MultiHeadDotProductAttention",)] * 4,
    ]


def test_no_array_is_computed(tmp_path: Path) -> None:
    example = (
        'Example(Build("MLP", (4,)), __import__("jax").ShapeDtypeStruct((10**9, 10**3), "float32"))'
    )

    found = recorded(tmp_path, example)

    assert found.error == ""
    assert found.calls[-1].outputs == {"shape": [10**9, 4], "dtype": "float32"}


def test_a_scanned_body_is_recorded_once(tmp_path: Path) -> None:
    found = recorded(tmp_path, 'Example(Build("Deep", 5, depth=3), ROWS)')

    assert [each.path for each in found.calls] == [(), ("steps",), ("steps", "Dense_0")]


def test_an_error_is_told_and_the_calls_before_it_are_kept(tmp_path: Path) -> None:
    found = recorded(tmp_path, 'Example(Build("Wrapper", inner=None), ROWS)')

    assert "TypeError" in found.error
    assert "linen_models.py:" in found.error
    assert [each.path for each in found.calls] == [(), ("Dense_0",)]


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

    (found,) = record(old, calls).examples

    assert found.error == ""
    assert [each.path for each in found.calls] == [(), ("Dense_0",), ("Dense_1",)]


@pytest.mark.thorough
def test_the_module_prints_json_and_nothing_else(tmp_path: Path) -> None:
    calls = tmp_path / "calls.py"
    calls.write_text(f"{HEAD}\nprint('noise')\nEXAMPLES = [Example(Build('MLP', (4,)), ROWS)]\n")

    done = run_process(
        [
            *(sys.executable, "-m", "typed_nnx_codegen.verify.recording"),
            *(PAIRS / "linen_models.py", calls),
        ],
        capture_output=True,
        text=True,
        check=True,
    )

    said = json.loads(done.stdout)
    assert said["version"] == 1
    (example,) = said["examples"]
    assert example["calls"][1]["site"]["line"] > 0
    assert example["calls"][1]["arguments"]["inputs"] == {"shape": [2, 5], "dtype": "float32"}


def test_files_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadUse, match="there is no such file"):
        record(tmp_path / "none.py", tmp_path / "calls.py")
