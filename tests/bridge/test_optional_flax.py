"""The bridge is light to import, and says what it needs where flax is missing."""

from __future__ import annotations

import sys
import textwrap

import pytest

from tests.support.processes import run_process
from typed_nnx import bridge

WITHOUT_FLAX = """
import sys
sys.modules["flax"] = None  # an import of it fails as if it were not there
"""


def run(program: str) -> str:
    """Run a program in a fresh interpreter and return what it prints."""
    source = textwrap.dedent(program)
    done = run_process([sys.executable, "-c", source], check=True)
    return done.stdout.strip()


@pytest.mark.thorough
def test_importing_the_bridge_does_not_import_flax() -> None:
    program = "import sys, typed_nnx.bridge; print('flax' in sys.modules)"
    assert run(program) == "False"


USES = {
    "ToLinen": "bridge.ToLinen",
    "NNXMeta": "bridge.NNXMeta",
    "to_linen": "bridge.to_linen(nnx.Module)",
    "to_linen_class": "bridge.wrappers.to_linen_class(nnx.Module)",
    "with_partitioning": "bridge.with_partitioning(None, ())",
}


@pytest.mark.thorough
def test_without_flax_every_use_says_what_to_install() -> None:
    lines = [
        f"""
try:
    {use}
except ImportError as error:
    print({name!r}, "pip install flax" in str(error), {name!r} in str(error))
"""
        for name, use in USES.items()
    ]
    program = (
        WITHOUT_FLAX + "import typed_nnx as nnx\nfrom typed_nnx import bridge\n" + "".join(lines)
    )
    printed = run(program).splitlines()
    assert [line.split()[0] for line in printed] == list(USES)
    # `to_linen` and `to_linen_class` need the class `ToLinen`, and say so.
    assert all(line.split()[1] == "True" for line in printed)
    assert [line.split()[2] for line in printed] == ["True", "True", "False", "False", "True"]


@pytest.mark.thorough
def test_without_flax_the_rest_of_the_package_works() -> None:
    program = WITHOUT_FLAX + "import typed_nnx as nnx\nprint(int(nnx.Param(1).get_value()))"
    assert run(program) == "1"


@pytest.mark.parametrize("module", [bridge, bridge.variables, bridge.wrappers])
def test_an_unknown_name_is_an_attribute_error(module: object) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        getattr(module, "nope")  # noqa: B009  # as code that looks for it does


def test_classes_that_are_made_later_are_made_once() -> None:
    assert bridge.ToLinen is bridge.wrappers.ToLinen
    assert bridge.NNXMeta is bridge.variables.NNXMeta
    assert bridge.ToLinen.__module__ == "typed_nnx.bridge.wrappers"
    assert bridge.NNXMeta.__qualname__ == "NNXMeta"
