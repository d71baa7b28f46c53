"""What completion offers for objects that exist: jedi's interpreter and a real IPython shell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jedi
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import typed_nnx as nnx


class Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.norm = nnx.BatchNorm(2, rngs=rngs)


class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.layers = nnx.List([Block(rngs), Block(rngs)])
        self.tables = nnx.Dict(left=nnx.Param(1.0), right=nnx.Param(2.0))
        self.calls = nnx.BatchStat(0)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    model = Net(nnx.Rngs(0))
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    return {
        "model": model,
        "graphdef": graphdef,
        "state": nnx.state(model),
        "params": params,
        "rest": rest,
        "whole": nnx.unpack(model),
        "flat": nnx.state(model).flat_state(),
    }


@pytest.fixture(scope="module", autouse=True)
def jedi_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jedi.settings, "cache_directory", str(tmp_path_factory.mktemp("jedi")))
        yield


def by_jedi(code: str, names: dict[str, Any]) -> set[str]:
    return {found.name for found in jedi.Interpreter(code, [names]).complete()}


@pytest.mark.parametrize(
    ("code", "offered", "absent"),
    [
        ("state.", {"layers", "tables", "calls", "flat_state"}, {"linear"}),
        ("state.tables.", {"left", "right"}, {"layers", "linear"}),
        ("params.", {"layers", "tables"}, {"calls"}),
        ("rest.", {"layers", "calls"}, {"tables"}),
        ("whole.", {"layers", "tables", "calls", "graphdef"}, {"linear"}),
        ("model.tables.", {"left", "right"}, {"layers"}),
        ("flat.", {"paths", "leaves", "to_nested_state"}, {"layers"}),
    ],
)
def test_jedi_offers_the_fields_of_an_object_in_the_namespace(
    code: str, offered: set[str], absent: set[str], names: dict[str, Any]
) -> None:
    found = by_jedi(code, names)
    assert offered <= found
    assert not absent & found


@pytest.fixture(scope="module")
def shell(names: dict[str, Any]) -> Iterator[InteractiveShell]:
    # Without history the shell opens no database.
    made = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    made.user_ns.update(names)
    made.user_ns["layer_states"] = names["state"].layers
    made.user_ns["tables"] = names["model"].tables
    yield made
    made.restore_sys_module_state()


def in_shell(code: str, shell: InteractiveShell) -> set[str]:
    with provisionalcompleter():
        return {found.text.lstrip(".") for found in shell.Completer.completions(code, len(code))}


@pytest.mark.parametrize("jedi_in_shell", [True, False], ids=["with_jedi", "without_jedi"])
@pytest.mark.parametrize(
    ("code", "keys"),
    [
        ("state['", {"calls", "layers", "tables"}),
        ('state["', {"calls", "layers", "tables"}),
        ("params['", {"layers", "tables"}),
        ("rest['", {"calls", "layers"}),
        ("whole['", {"calls", "layers", "tables"}),
        ("layer_states[", {"0", "1"}),
        ("tables['", {"left", "right"}),
    ],
)
def test_ipython_completes_keys_and_offers_nothing_else(
    code: str, keys: set[str], jedi_in_shell: bool, shell: InteractiveShell
) -> None:
    shell.Completer.use_jedi = jedi_in_shell
    assert in_shell(code, shell) == keys


@pytest.mark.parametrize("jedi_in_shell", [True, False], ids=["with_jedi", "without_jedi"])
def test_ipython_offers_the_fields_of_a_state(jedi_in_shell: bool, shell: InteractiveShell) -> None:
    shell.Completer.use_jedi = jedi_in_shell
    assert {"layers", "tables", "calls"} <= in_shell("state.", shell)
    assert "calls" not in in_shell("params.", shell)


@pytest.mark.parametrize(
    ("code", "offered"),
    [
        ("state.layers[0].", {"linear", "norm"}),
        ("state['layers'][0].linear.", {"kernel", "bias"}),
        ("state.layers[0].linear['", {"kernel", "bias"}),
        ("params.layers[1].norm.", {"scale", "bias"}),
        ("whole.layers[", {"0", "1"}),
        ("model.layers[0].", {"linear", "norm"}),
        ("model.tables['", {"left", "right"}),
    ],
)
def test_ipython_looks_through_items_where_the_user_lets_it_evaluate_them(
    code: str, offered: set[str], shell: InteractiveShell
) -> None:
    # `%config Completer.use_jedi = False` and `%config Completer.evaluation = "unsafe"`: by default
    # IPython calls no `__getitem__` but those of a few packages that it knows.
    shell.Completer.use_jedi = False
    shell.Completer.evaluation = "unsafe"
    try:
        assert offered <= in_shell(code, shell)
    finally:
        shell.Completer.evaluation = "limited"
