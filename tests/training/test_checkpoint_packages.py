"""orbax and safetensors are needed when they are used, and not before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.training.checkpoint_models import Network
from typed_nnx.errors import MissingPackageError
from typed_nnx.training import checkpoint

USES: dict[str, Any] = {
    "save": lambda path: checkpoint.save(path, Network(0)),
    "restore": lambda path: checkpoint.restore(path, Network(0)),
    "load": lambda path: checkpoint.load(path, lambda: Network(0)),
    "CheckpointManager": checkpoint.CheckpointManager,
    "save_safetensors": lambda path: checkpoint.save_safetensors(path, Network(0)),
    "load_safetensors": lambda path: checkpoint.load_safetensors(path, Network(0)),
}


@pytest.mark.parametrize("function", sorted(USES))
def test_a_missing_package_is_named_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    package = "safetensors" if "safetensors" in function else "orbax.checkpoint"
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=r"pip install 'typed-nnx\[checkpoint\]'") as info:
        USES[function](tmp_path / "c")
    assert info.value.function == function
    assert not (tmp_path / "c").exists()


def test_importing_the_module_imports_neither() -> None:
    code = (
        "import sys, typed_nnx.training.checkpoint\n"
        "print([m for m in ('orbax', 'safetensors') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
