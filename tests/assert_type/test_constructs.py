from __future__ import annotations

import pytest

from tests.assert_type.checked import CASES
from tests.assert_type.constructs import BOTH, POSITIVE, Construct, shown

SOURCE = """\
@nnx.jit
def step(x): ...

@nnx.grad(argnums="0")  # E
def loss(x): ...

def use(model):
    assert_type(step(1), int)
    step("1")  # E
    parts = nnx.split(model, nnx.Param)
    assert_type(parts, tuple)
    assert_type(step.lower(1).compile(), object)
    nnx.merge(parts)  # E
"""


def lines_of(construct: Construct) -> tuple[int, int]:
    """Return how many lines of all case files show it right, and how many show it wrong."""
    found = [shown(construct, source) for source in CASES.values()]
    return sum(len(right) for right, _ in found), sum(len(wrong) for _, wrong in found)


@pytest.mark.parametrize("construct", BOTH, ids=str)
def test_a_construct_is_shown_right_and_wrong(construct: Construct) -> None:
    right, wrong = lines_of(construct)
    assert right, "no assert_type"
    assert wrong, "no marked line"


@pytest.mark.parametrize("construct", POSITIVE, ids=str)
def test_each_number_of_arguments_is_shown(construct: Construct) -> None:
    assert lines_of(construct)[0]


@pytest.mark.parametrize(
    ("construct", "right", "wrong"),
    [
        (Construct("jit"), [8, 12], [9]),
        (Construct("jit", attribute="compile"), [12], []),
        (Construct("grad", keyword="argnums="), [], [4]),
        (Construct("split"), [11], [13]),
        (Construct("split", positional=2), [11], [13]),
        (Construct("split", positional=3), [], []),
        (Construct("merge"), [], [13]),
        (Construct("vmap"), [], []),
    ],
    ids=str,
)
def test_the_lines_that_show_a_construct_are_found(
    construct: Construct, right: list[int], wrong: list[int]
) -> None:
    assert shown(construct, SOURCE) == (right, wrong)
