from __future__ import annotations

import importlib.machinery
import importlib.metadata
import importlib.util
import sys

import pytest

from typed_nnx_codegen import cli


def test_the_command_tells_its_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["typed-nnx", "--version"])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert leaving.value.code == 0
    version = importlib.metadata.version("typed-nnx")
    assert capsys.readouterr().out == f"typed-nnx, version {version}\n"


def test_without_the_tools_the_command_names_the_missing_package_and_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find_nothing(name: str) -> importlib.machinery.ModuleSpec | None:
        del name
        return None

    monkeypatch.setattr(importlib.util, "find_spec", find_nothing)
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert leaving.value.code == 2
    assert capsys.readouterr().err == (
        "typed-nnx: the command needs packages that are not installed: click.\n"
        "  Fix: pip install 'typed-nnx[tools]'\n"
    )


def test_the_entry_point_is_declared() -> None:
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="typed-nnx")
    assert entry.load() is cli.main
