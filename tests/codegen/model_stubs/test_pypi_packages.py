"""The overlay of models in packages of PyPI: the command succeeds, and no checker reports more."""

from __future__ import annotations

import pytest

from benchmarks.pypi_packages import (
    PACKAGES,
    RUNTIMES,
    Outcome,
    Package,
    Unreachable,
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
    __getattr__: None

class BlockParamState(State[Any, Any, Block, type[Param]]):
    """What `Param` takes of `app.Block`."""
    weight: _Param[_Array]
    __getattr__: None
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
