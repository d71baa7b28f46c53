"""What the plugin says of the attributes of library layers, compared with the layers themselves."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from flax import nnx as flax_nnx

import typed_nnx
from tests.mypy_plugin.run import FOLDER, Report, footer, reports, write
from tests.support.once import once

SHOW = Path(__file__).with_name("show_fields.py")
RUNTIMES = {"typed_nnx": typed_nnx, "flax": flax_nnx}
LAYERS = (
    "nnx.Linear(2, 3, rngs=rngs)",
    "nnx.Embed(2, 3, rngs=rngs)",
    "nnx.Conv(2, 3, (3,), rngs=rngs)",
    "nnx.BatchNorm(2, rngs=rngs)",
    "nnx.LayerNorm(2, rngs=rngs)",
    "nnx.Dropout(0.1, rngs=rngs)",
    "nnx.MultiHeadAttention(2, 4, rngs=rngs)",
    "nnx.LSTMCell(2, 3, rngs=rngs)",
    "nnx.RNN(nnx.GRUCell(2, 3, rngs=rngs), rngs=rngs)",
    "nnx.LoRALinear(2, 3, lora_rank=1, rngs=rngs)",
    "nnx.SpectralNorm(nnx.Linear(2, 3, rngs=rngs), rngs=rngs)",
    "nnx.Sequential(nnx.Linear(2, 3, rngs=rngs))",
    "nnx.metrics.Welford()",
)


def source(runtime: str) -> str:
    start = "import typed_nnx as nnx" if runtime == "typed_nnx" else "from flax import nnx"
    lines = [f"nnx.state({layer}, ...)" for layer in LAYERS]
    return "\n".join([start, "rngs = nnx.Rngs(0)", *lines, ""]) + footer()


def statuses(runtime: str, shared_folder: Path) -> dict[str, dict[str, str]]:
    """Return the status of each attribute of each layer, as the plugin says it."""

    def work() -> list[Report]:
        folder = FOLDER / runtime
        write([], folder)
        (folder / "show_fields.py").write_text(source(runtime), encoding="utf-8")
        return reports(["show_fields.py"], folder, mypy=(str(SHOW),))["show_fields.py"]

    said = [Report(*each) for each in once(f"plugin_fields_{runtime}", shared_folder, work)]
    return {
        LAYERS[each.line - 3]: dict(pair.split("=") for pair in each.message.split())
        for each in said
        if "=" in each.message
    }


def made(layer: str, nnx: ModuleType) -> object:
    found: object = eval(layer, {"nnx": nnx, "rngs": nnx.Rngs(0)})  # written above
    return found


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_fields_are_the_attributes_and_the_data_is_what_is_in_the_state(
    runtime: str, layer: str, shared_folder: Path
) -> None:
    nnx = RUNTIMES[runtime]
    model = made(layer, nnx)
    found = statuses(runtime, shared_folder)[layer]
    attributes = {name: value for name, value in vars(model).items() if not name.startswith("_")}
    assert found.keys() == attributes.keys()
    data = {name for name, value in attributes.items() if name in nnx.state(model)}
    assert {name for name in data if found[name] != "data"} == set()
    surely = {name for name, status in found.items() if status == "data"}
    # A layer without a bias has the attribute, with nothing in it.
    assert {name for name in surely - data if attributes[name] is not None} == set()
