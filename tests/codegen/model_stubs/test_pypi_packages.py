"""The overlay of models in packages of PyPI: the command succeeds, and no checker reports more."""

from __future__ import annotations

import pytest

from benchmarks.pypi_packages import (
    PACKAGES,
    RUNTIMES,
    Outcome,
    Package,
    Place,
    Unreachable,
    compare,
    count_fields,
    try_package,
    with_our_runtime,
)
from tests.support.once import locked
from tests.support.type_checkers import REPOSITORY

OVERLAY = '''
class BlockState(State[Any, Any, Block, _Everything]):
    """The State of `app.Block`."""
    weight: _Param[_Array]
    extra: _Any  # Any: its type is Any
    __getattr__: NoSuchField

class BlockParamState(State[Any, Any, Block, type[Param]]):
    """What `Param` takes of `app.Block`."""
    weight: _Param[_Array]
    __getattr__: NoSuchField
'''


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("from flax import nnx\n", "import typed_nnx as nnx\n"),
        ("    from flax import nnx as nnx\n", "    import typed_nnx as nnx\n"),
        ("from flax.nnx import Module, Rngs\n", "from typed_nnx import Module, Rngs\n"),
        ("from flax import nnx_like\n", "from flax import nnx_like\n"),
    ],
)
def test_a_copy_uses_our_runtime(theirs: str, ours: str) -> None:
    assert with_our_runtime(theirs) == ours


def test_only_the_fields_of_whole_states_are_counted() -> None:
    outcome = Outcome(PACKAGES[0], RUNTIMES[1])
    count_fields(outcome, OVERLAY)
    assert (outcome.models, outcome.typed, outcome.untyped) == (1, 1, 1)


def test_only_errors_of_aliases_that_were_wrong_before_are_kept_apart() -> None:
    before = {
        Place("mypy", "a.py", 1, "valid-type"): 'Variable "a.Tree" is not valid as a type',
        Place("mypy", "b.py", 5, "union-attr"): 'Item "None" of "Any | None" has no attribute "x"',
    }
    repeated = {
        Place("mypy", "b.py", 2, "valid-type"): 'Variable "a.Tree" is not valid as a type',
        Place("mypy", "b.py", 3, "index"): "Value of type Tree? is not indexable",
        Place("mypy", "b.py", 5, "attr-defined"): '"None" has no attribute "x"',
    }
    new = {
        Place("mypy", "c.py", 1, "valid-type"): 'Variable "c.Branch" is not valid as a type',
        Place("mypy", "c.py", 2, "misc"): 'Cannot determine type of "__slots__" in "Tree"',
        Place("pyright", "b.py", 5, "reportAttributeAccessIssue"): '"x" is unknown',
    }
    outcome = Outcome(PACKAGES[0], RUNTIMES[1])
    compare(outcome, before, {**repeated, **new})
    assert (outcome.repeated, outcome.new) == (repeated, new)


def test_without_wrong_aliases_every_error_that_came_is_new() -> None:
    outcome = Outcome(PACKAGES[0], RUNTIMES[1])
    new = {Place("mypy", "b.py", 1, "misc"): "Value of type Tree? is not indexable"}
    compare(outcome, {Place("mypy", "b.py", 1, "call-arg"): "Too many arguments"}, new)
    assert (outcome.repeated, outcome.new) == ({}, new)


@pytest.mark.slow
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_overlay_of_a_package_brings_no_error(package: Package, runtime: str) -> None:
    try:
        with locked(REPOSITORY / "build" / "pypi_packages.lock"):  # one folder for all
            outcome = try_package(package, runtime)
    except Unreachable as error:
        pytest.skip(f"PyPI does not answer: {error}")
    assert outcome.status == 0, outcome.said
    assert outcome.models
    assert not outcome.new
