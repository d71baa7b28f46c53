"""The parts of the sweep that need no network: planted errors and comparisons of runs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.plugin.checking import Run, compare
from benchmarks.plugin.mutation import judge, mutants, spread
from benchmarks.plugin.packages import with_typed_nnx
from benchmarks.plugin.sources import Source
from tests.support.type_checkers import Finding

MODEL = '''\
import jax
from flax import nnx


class Base(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        """ü: columns are not bytes."""
        self.first = nnx.Linear(2, 3, rngs=rngs)
        self.size = 3


class Unknown(Other):
    def __init__(self) -> None:
        self.second = nnx.Linear(2, 3, rngs=nnx.Rngs(0))


def loss(model: Base) -> float:
    return 1.0


@nnx.jit(static_argnames="size")
def step(model: Base, size: int):
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    jax.vmap(lambda a, b: a, in_axes=(0, 1))
    return nnx.grad(loss)(model)
'''
SOURCE = Source(Path("package/module.py"), MODEL)


def test_each_kind_of_error_has_its_code_and_place() -> None:
    found = {(each.code, each.planter) for each in mutants([SOURCE])}
    assert {code for code, _ in found} >= {
        "nnx-argnums",
        "nnx-axes",
        "nnx-filter-coverage",
        "nnx-filter-order",
        "nnx-jax-mutation",
        "nnx-lost-update",
        "nnx-misplaced-mark",
        "nnx-optimizer-wrt",
        "nnx-plain-container",
        "nnx-state-excluded",
        "nnx-state-key",
        "nnx-state-mismatch",
        "nnx-state-missing",
        "nnx-static-args",
        "nnx-static-data",
    }
    assert ("nnx-filter-order", "`...` first, in real code") in found


def test_planted_errors_change_only_their_lines() -> None:
    for each in mutants([SOURCE]):
        ast.parse(each.text)
        first, last = each.lines
        new, old = each.text.splitlines(), MODEL.splitlines()
        assert new != old
        grown = len(new) - len(old)
        if not each.text.startswith(MODEL):  # those are added to the end
            assert new[: first - 1] == old[: first - 1], each.planter
            assert new[last:] == old[last - grown :], each.planter


def test_a_class_with_an_unknown_base_gets_no_error() -> None:
    assert [model.name for model in SOURCE.models] == ["Base"]
    assert [each.name for each in SOURCE.attributes] == ["first", "size"]


def test_a_place_is_found_when_its_code_is_reported_at_its_lines() -> None:
    each = next(one for one in mutants([SOURCE]) if one.code == "nnx-static-data")
    path = Path("package/module__planted_0.py")
    kind = (each.code, each.planter)

    def found(line: int, code: str) -> int:
        report = Finding(str(path), line, code, "")
        return judge({path: each}, [report], {kind: 1})[0].found

    assert found(each.lines[0], "nnx-static-data") == 1
    assert found(each.lines[0], "nnx-axes") == 0
    assert found(each.lines[1] + 1, "nnx-static-data") == 0


def test_errors_are_spread_over_the_places() -> None:
    every = [each for each in mutants([SOURCE]) if each.code == "nnx-static-data"]
    chosen, places = spread(every * 100)
    assert len(chosen) == 24
    assert places == {("nnx-static-data", "self.x = nnx.static(layer)"): 300}


def test_an_error_with_another_message_is_not_new() -> None:
    ours = Finding("a.py", 2, "nnx-axes", "axis")
    exact, vague = (Finding("a.py", 1, "assignment", text) for text in ("State[M]", "State[Any]"))
    gone, added = Finding("a.py", 3, "misc", "gone"), Finding("a.py", 4, "misc", "added")
    before, after = (Run(reports, "", 0, 0) for reports in ((vague, gone), (exact, ours, added)))
    found = compare(before, after)
    assert (found.new, found.others, found.gone) == ((ours,), (added,), (gone,))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from flax import nnx as nn", "import typed_nnx as nn"),
        ("import flax.nnx as nnx", "import typed_nnx as nnx"),
        ("from flax.nnx import Param", "from typed_nnx import Param"),
    ],
    ids=["alias", "import", "names"],
)
def test_code_is_moved_to_our_runtime(old: str, new: str) -> None:
    assert with_typed_nnx(old) == new
