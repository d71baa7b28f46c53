"""`display`: text in a terminal, treescope in a notebook."""

from __future__ import annotations

import re
import sys
import types
from typing import Any

import flax.nnx
import jax.numpy as jnp
import pytest

import typed_nnx
import typed_nnx.visualization
from tests.core.libraries import both
from tests.summary.tables import Terminal
from typed_nnx.visualization import _coloured


def model(lib: Any) -> Any:
    class Model(lib.Module):
        def __init__(self) -> None:
            self.w, self.name, self.rate = lib.Param(jnp.ones((2, 3))), "it's (a=1)", -1.5e-3

    return Model()


def objects(lib: Any) -> list[Any]:
    return [1, "a b", None, lib.Param(jnp.ones(2)), model(lib), {"a": lib.Param(1)}, [1, "x"]]


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[\d+m", "", text)


@both
def test_without_arguments_nothing_is_shown(lib: Any, capsys: pytest.CaptureFixture[str]) -> None:
    lib.visualization.display()
    assert capsys.readouterr().out == ""


def test_each_argument_is_printed_as_flax_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    typed_nnx.visualization.display(*objects(typed_nnx))
    ours = capsys.readouterr().out
    flax.nnx.display(*objects(flax.nnx))
    assert ours == capsys.readouterr().out
    assert "\x1b" not in ours


def in_terminal(monkeypatch: pytest.MonkeyPatch, *values: Any) -> str:
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        typed_nnx.visualization.display(*values)
    return terminal.getvalue()


def test_a_terminal_shows_the_same_text_in_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    shown = in_terminal(monkeypatch, *objects(typed_nnx))
    expected = "".join(f"{value}\n" for value in objects(typed_nnx))
    assert without_colours(shown) == expected
    assert "\x1b[36mParam\x1b[0m(" in shown
    assert "\x1b[2m# Param: 6 (24 B)\x1b[0m\n" in shown
    assert '\x1b[34mname\x1b[0m=\x1b[32m"it\'s (a=1)"\x1b[0m' in shown
    assert "\x1b[34mrate\x1b[0m=\x1b[33m-0.0015\x1b[0m" in shown
    assert "a b\n" in shown


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_switched_off(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert in_terminal(monkeypatch, model(typed_nnx)) == f"{model(typed_nnx)}\n"


def test_colours_change_nothing_but_colours() -> None:
    text = "Foo(a=1, b='x # (y=2)', c=[1.5, x2, 3e-4]) # 3 (4 B)"
    assert without_colours(_coloured(text)) == text
    assert "\x1b[32m'x # (y=2)'\x1b[0m" in _coloured(text)
    assert "\x1b[33mx2" not in _coloured(text)


class Shell:
    """What IPython gives code in a notebook."""

    kernel = object()


def notebook(monkeypatch: pytest.MonkeyPatch, shell: object) -> list[Any]:
    """Pretend that this is IPython; return what treescope shows."""
    shown: list[Any] = []
    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    treescope: Any = types.ModuleType("treescope")
    treescope.display = lambda value, **options: shown.append((value, sorted(options)))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "treescope", treescope)
    return shown


def test_a_notebook_shows_each_argument_by_treescope(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = notebook(monkeypatch, Shell())
    typed_nnx.visualization.display(1, "x")
    assert shown == [
        (1, ["autovisualize", "ignore_exceptions"]), ("x", ["autovisualize", "ignore_exceptions"]),
    ]  # fmt: skip
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("shell", [None, object()], ids=["no shell", "a terminal"])
def test_ipython_outside_a_notebook_shows_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shell: object
) -> None:
    shown = notebook(monkeypatch, shell)
    typed_nnx.visualization.display(1)
    assert (shown, capsys.readouterr().out) == ([], "1\n")


def test_a_notebook_without_treescope_shows_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook(monkeypatch, Shell())
    monkeypatch.setitem(sys.modules, "treescope", None)
    typed_nnx.visualization.display(1)
    assert capsys.readouterr().out == "1\n"
