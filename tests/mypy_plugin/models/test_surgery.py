"""A file that gives models other attributes after they are made: little is said of their States.

The case files cannot have this: it holds for a whole file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mypy_plugin.run import FOLDER, footer, reports, write
from tests.support.once import once

STARTS = {"typed_nnx": "import typed_nnx as nnx", "flax": "from flax import nnx"}
MODEL = """
import jax

class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.norm = nnx.BatchNorm(2, rngs=rngs)

def inject(model: nnx.Module) -> None: ...
def pruned(model: nnx.Module) -> Model:
    return Model(nnx.Rngs(1))
def train(model: Model) -> None: ...
def count(model: nnx.Module) -> int:
    return 1

def change(module: nnx.Module, name: str) -> None:
    CHANGE

model = Model(nnx.Rngs(0))
"""
USES = """
nnx.state(model).linear.a
nnx.split(model, nnx.Param)
graphdef, params = nnx.split(model, nnx.Variable)
nnx.merge(graphdef, nnx.state(model, nnx.Param))
"""
OF_NEW = "nnx.split(Model(nnx.Rngs(0)), nnx.Param)\n"
FOUND = ["nnx-filter-coverage", "nnx-state-key", "nnx-state-missing"]
LESS = ["nnx-filter-coverage"]
# What a file does, and what is reported after it.
CHANGES = {
    "pass": FOUND,
    "train(model)": FOUND,
    "print(model)": FOUND,
    "parameters = count(model)": FOUND,
    "nnx.pop(model, nnx.Intermediate)": FOUND,
    "model.norm = nnx.BatchNorm(2, rngs=nnx.Rngs(1))": FOUND,
    "inject(model)": LESS,
    "model = pruned(model)": LESS,
    "setattr": LESS,
    "nnx.pop(model, nnx.Param)": FOUND,
    # Nothing is known of what is in the place of the Linear.
    'setattr(model, "linear", nnx.LoRA(2, 1, 2, rngs=nnx.Rngs(1)))': [*LESS, "nnx-state-missing"],
    "model.linear = nnx.LoRA(2, 1, 2, rngs=nnx.Rngs(1))  # type: ignore[assignment]": [
        *LESS,
        "nnx-state-missing",
    ],
    'setattr(model, "linear", nnx.Linear(2, 2, rngs=nnx.Rngs(1)))': FOUND,
    # It has no other attributes than before, and may have lost some.
    "nnx.pop(model, nnx.BatchStat)": [*LESS, "nnx-state-key"],
}


def file(runtime: str, change: str) -> str:
    inside = "setattr(module, name, 1)" if change == "setattr" else "pass"
    after = "" if change == "setattr" else change
    text = MODEL.replace("CHANGE", inside)
    return "\n".join([STARTS[runtime], text, after, USES + OF_NEW]) + footer()


def codes(runtime: str, shared_folder: Path) -> list[list[str]]:
    """Return the codes that the plugin reports for each of the changes."""

    def work() -> list[list[str]]:
        folder = FOLDER / runtime
        write([], folder)
        names = [f"surgery_{at}.py" for at in range(len(CHANGES))]
        for name, change in zip(names, CHANGES, strict=True):
            (folder / name).write_text(file(runtime, change), encoding="utf-8")
        said = reports(names, folder)
        return [
            sorted({each.code for each in said.get(name, []) if each.code.startswith("nnx")})
            for name in names
        ]

    return [list(each) for each in once(f"plugin_surgery_{runtime}", shared_folder, work)]


@pytest.mark.parametrize("runtime", STARTS)
@pytest.mark.parametrize(("at", "change"), list(enumerate(CHANGES)))
def test_of_models_that_a_file_may_change_only_a_new_one_is_looked_at(
    runtime: str, at: int, change: str, shared_folder: Path
) -> None:
    assert codes(runtime, shared_folder)[at] == CHANGES[change]
