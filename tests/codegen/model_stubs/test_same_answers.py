"""The overlay and the plugin get the same classes, and say the same of what is in their States."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from tests.codegen.model_stubs.reading_project import attributes, library_cache
from tests.codegen.model_stubs.test_reading_attributes import write_cases
from tests.codegen.model_stubs.test_reading_classes import FILES
from tests.mypy_plugin.run import Report
from tests.mypy_plugin.same_project import Project
from typed_nnx_codegen.model_stubs.models import Models
from typed_nnx_codegen.model_stubs.reading import read

# The plugin has the types of mypy, and the overlay those of all that is assigned.
MORE_IN_THE_OVERLAY = {
    "case_plain_containers:Model.held": ("list[Gate | Block]", "list[Module]"),
    "case_a_Dict:Model.x": ("Dict[Gate | Block]", "Dict[Module]"),
    "case_a_List:Model.mixed": ("List[Gate | Block]", "List[Module]"),
    "case_a_List:Model.functions": ("List[Any | Gate]", "List[object]"),
    "case_of_several_types:Model.x": ("Block | Gate", "Block"),
    "case_of_several_types:Model.y": ("Gate | static", "Gate"),
    "app.more:Child.second": ("List[Gate]", "Gate"),
    "app.more:Uses.flat": ("List[Gate]", "Flat"),
}


@pytest.mark.thorough
def test_the_overlay_and_the_plugin_say_the_same(
    tmp_path: Path, shared_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_cases(tmp_path)
    sources = ["app", *(path.name for path in sorted(tmp_path.glob("case_*.py")))]
    project = Project(tmp_path)
    project.write({name: textwrap.dedent(text) for name, text in FILES.items()})
    models = read(sources, cache=library_cache(shared_folder))
    text, asked = _questions(models)
    project.write({"questions.py": text})
    said = {each.line: each for name, each in project.check("questions.py") if "quest" in name}
    assert said.keys() == asked.keys()
    answers = {name: (found, _answer(said[line])) for line, (name, found) in asked.items()}
    different = {name: pair for name, pair in answers.items() if not _is_same(*pair)}
    assert different == MORE_IN_THE_OVERLAY


def _questions(models: Models) -> tuple[str, dict[int, tuple[str, str]]]:
    """Return source that asks for each attribute, and by line which one and what the overlay says."""
    lines = ["import typed_nnx as nnx"]
    asked = {}
    for name in models.roots:
        module, _, qualified = name.partition(":")
        lines += [
            f"import {module}",
            f"def f{len(lines)}(model: {module}.{qualified}) -> None:",
            "    state = nnx.state(model)",
        ]
        for attribute, found in attributes(models.classes[name]).items():
            lines.append(f"    reveal_type(state.{attribute})")
            asked[len(lines)] = f"{name}.{attribute}", _spelled(found)
    return "\n".join(lines) + "\n", asked


def _spelled(found: str) -> str:
    """Return what the overlay says as mypy writes it; None has no place in a State."""
    options = [each for each in found.split(" | ") if each != "None"]
    text = "static" if set(options) == {"static"} else " | ".join(options)
    text = text.replace("tuple[?]", "tuple[?, ...]")  # of any length; the others are a `Tuple`
    for old, new in {"?": "Any", "Rngs[RngStream]": "Rngs", "Tuple": "tuple", "Outer.": ""}.items():
        text = text.replace(old, new)
    return re.sub(r"\b[MN]\b", "Any", text).replace("dict[Gate]", "dict[str, Gate]")


def _answer(report: Report) -> str:
    if report.code == "nnx-state-excluded":
        return "static"
    assert report.kind == "R", report
    return re.sub(r"^State\[Any, Any, (.*), Any\]$", r"\1", report.message)


def _is_same(overlay: str, plugin: str) -> bool:
    """Tell whether the answers agree; where the plugin says Any it is not sure."""
    sure = re.escape(plugin.replace("ndarray[tuple[int], dtype[float64]]", "ndarray"))
    return re.fullmatch(sure.replace("Any", ".*"), overlay) is not None
