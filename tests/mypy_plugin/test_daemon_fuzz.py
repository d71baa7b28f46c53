"""After random edits the daemon of mypy, and a run from its cache, say what a run from nothing says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.mypy_plugin.daemon_fuzz import Checker, CheckerProcess, daemon, differences, from_files
from tests.mypy_plugin.edits import CLASSES, Class, Program, Use, edited

_PARTS = """\
from __future__ import annotations
from typing import Any
import jax.numpy as jnp
import typed_nnx as nnx

class Inner(nnx.Module):
    def __init__(self) -> None:
        self.weight = nnx.Param(jnp.ones(2))

class Model(nnx.Module):
    def __init__(self) -> None:
        self.inner = nnx.Linear(2, 2, rngs=nnx.Rngs(0))

class Holder(nnx.Module):
    def __init__(self) -> None:
        self.part = nnx.Linear(2, 2, rngs=nnx.Rngs(1))

def new() -> nnx.Linear:
    return nnx.Linear(2, 2, rngs=nnx.Rngs(2))

"""
_OTHER = "class Other(nnx.Module):\n    pass\n"
_USES = """\
from __future__ import annotations
import typed_nnx as nnx
import parts

def change(other: parts.Other) -> None:
    other.late = 1

def read(model: parts.Model) -> None:
    nnx.state(model).late

def read_below(model: parts.Model) -> None:
    nnx.state(model).inner.weight

def put(holder: parts.Holder) -> None:
    holder.part = parts.new()

def read_part(holder: parts.Holder) -> None:
    nnx.state(holder).part.weight
"""
_EDITS = {
    "at the start": _PARTS + _OTHER,
    "what another function changes may be a Model": _PARTS,
    "and not any more": _PARTS + _OTHER,
    "a subclass has the key": (
        f"{_PARTS}{_OTHER}class Below(Model):\n    def __init__(self) -> None:\n"
        "        super().__init__()\n        self.late = nnx.Param(jnp.ones(2))\n"
    ),
    "the class of an attribute": (_PARTS + _OTHER).replace(
        "nnx.Linear(2, 2, rngs=nnx.Rngs(0))", "Inner()"
    ),
    "and what that class has": (_PARTS + _OTHER)
    .replace("nnx.Linear(2, 2, rngs=nnx.Rngs(0))", "Inner()")
    .replace("self.weight", "self.width"),
    "what takes the place of an attribute": (_PARTS + _OTHER)
    .replace("nnx.Linear(2, 2, rngs=nnx.Rngs(0))", "Inner()")
    .replace("self.weight", "self.width")
    .replace("def new() -> nnx.Linear:", "def new() -> Any:"),
}


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_the_daemon_checks_again_what_the_plugin_read_in_another_place(tmp_path: Path) -> None:
    with (
        CheckerProcess(tmp_path / "nothing", from_files) as nothing,
        CheckerProcess(tmp_path / "daemon", daemon) as by_daemon,
    ):
        said = []
        for number, (edit_, parts) in enumerate(_EDITS.items()):
            files = {"parts.py": parts, "uses.py": _USES}
            said.append(nothing.check(files, f"# {number}\n"))
            assert by_daemon.check(files) == said[-1], edit_
    assert all(one != other for one, other in pairwise(said))


@pytest.mark.parametrize(
    ("edits", "seed"),
    [
        pytest.param(3, 1, marks=[pytest.mark.thorough, pytest.mark.timeout(600)], id="a-few"),
        pytest.param(200, 6, marks=[pytest.mark.slow, pytest.mark.timeout(3600)], id="many"),
    ],
)
def test_each_way_says_the_same_after_each_edit(edits: int, seed: int, tmp_path: Path) -> None:
    log: list[str] = []
    found = [str(each) for each in differences(edited(edits, seed), tmp_path, log)]
    assert not found, "\n".join(found)
    assert len(log) == edits + 1


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_what_mypy_itself_finds_out_in_another_order_is_no_difference(tmp_path: Path) -> None:
    classes = {name: Class({}) for name in CLASSES}
    classes["Model2"] = Class({"gamma": "Model3"})
    reads = Use(form=3, model="Model2", name="gamma", other="gamma", filter="")
    before = Program(classes, {"use0.py": []})
    after = Program(classes, {"use0.py": [reads]})

    log: list[str] = []
    edits = [("the start", before), ("use0.py reads an attribute at its top", after)]
    assert not [*differences(edits, tmp_path, log)]
    assert "as mypy alone differs" in log[-1]


@pytest.mark.parametrize("kind", [from_files, daemon])
def test_each_way_sees_a_change_that_keeps_size_and_second(
    kind: Callable[[], Checker], tmp_path: Path
) -> None:
    with CheckerProcess(tmp_path, kind, config="[mypy]\ncache_dir = mypy_cache\n") as checker:
        said = [checker.check({"each.py": f"reveal_type({number})\n"}) for number in range(4)]
    assert len({*said}) == 4


@pytest.mark.xfail(raises=EOFError, strict=True, reason="a defect of mypy 2.4.1, not of the plugin")
def test_the_daemon_of_mypy_survives_a_file_that_goes_while_what_imports_it_is_broken(
    tmp_path: Path,
) -> None:
    with CheckerProcess(tmp_path, daemon, config="[mypy]\n") as checker:
        checker.check({"uses.py": "import part\n", "part.py": ""})
        checker.check({"uses.py": "import part\nbroken(:\n"})
        checker.check({"uses.py": "import part\n"})


def test_a_seed_decides_the_edits_and_most_of_them_change_a_file() -> None:
    programs, again = ([each.files() for _, each in edited(100, seed=1)] for _ in range(2))

    assert programs == again
    assert sum(one != other for one, other in pairwise(programs)) > 50
