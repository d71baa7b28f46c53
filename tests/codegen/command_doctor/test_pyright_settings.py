"""Where pyright looks for stubs: pyright itself is the oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.type_checkers import TypeCheckers
from typed_nnx_codegen.settings.pyright_settings import find_stub_path

COMMENTED = '{ // here\n "stubPath": "build/stubs", /* and\n "stubPath": "no" */ "x": "//", }'
LAYOUTS: dict[str, dict[str, str]] = {
    "default": {},
    "pyproject": {"pyproject.toml": '[tool.pyright]\nstubPath = "build/stubs"\n'},
    "pyproject without it": {"pyproject.toml": "[tool.pyright]\nstrict = []\n"},
    "pyproject of others": {"pyproject.toml": '[tool.other]\nstubPath = "build/stubs"\n'},
    "JSON": {"pyrightconfig.json": '{"stubPath": "./build/stubs"}'},
    "JSON with comments": {"pyrightconfig.json": COMMENTED},
    "both": {
        "pyrightconfig.json": '{"stubPath": "other"}',
        "pyproject.toml": '[tool.pyright]\nstubPath = "build/stubs"\n',
    },
    "above": {"../pyproject.toml": '[tool.pyright]\nstubPath = "project/build/stubs"\n'},
    "above without it": {"../pyproject.toml": "[tool.pyright]\nstrict = []\n"},
}
FOLDERS = ("typings", "build/stubs", "other", "../typings")


@pytest.mark.slow
@pytest.mark.parametrize("files", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_stubs_are_looked_for_where_pyright_looks(tmp_path: Path, files: dict[str, str]) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name, text in files.items():
        (project / name).write_text(text, encoding="utf-8")
    for number, folder in enumerate(FOLDERS):
        place = project / folder
        place.mkdir(parents=True)
        text = f"class Place{number}: ...\n\nplace: Place{number}\n"
        (place / "a_stub_of_ours.pyi").write_text(text, encoding="utf-8")
    (project / "main.py").write_text(
        "from a_stub_of_ours import place\nreveal_type(place)\n", encoding="utf-8"
    )
    told = TypeCheckers(project).pyright()
    (revealed,) = [each.message for each in told if "Type of" in each.message]
    found = find_stub_path(project).folder.resolve()
    (ours,) = [
        number for number, folder in enumerate(FOLDERS) if (project / folder).resolve() == found
    ]
    assert revealed == f'Type of "place" is "Place{ours}"'
