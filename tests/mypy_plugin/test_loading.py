"""mypy loads the plugin, also where neither jax nor a runtime can be imported."""

from __future__ import annotations

import sys
from pathlib import Path

import typed_nnx_mypy
from tests.support.processes import run_process
from typed_nnx_mypy.plugin import TypedNnxPlugin


def test_mypy_gets_the_plugin_class_for_any_version() -> None:
    assert typed_nnx_mypy.plugin("2.4.1") is TypedNnxPlugin


def test_a_file_without_nnx_reads_the_same_with_the_plugin_on(tmp_path: Path) -> None:
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = typed_nnx_mypy\n", encoding="utf-8")
    (tmp_path / "subject.py").write_text("reveal_type(1 + 1)\nx: str = 1\n", encoding="utf-8")
    done = run_process(
        [sys.executable, "-m", "mypy", "subject.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 'Revealed type is "int"' in done.stdout
    assert "[assignment]" in done.stdout
    assert done.stderr == ""
    assert done.returncode == 1


def test_importing_the_plugin_imports_no_runtime() -> None:
    program = "import sys, typed_nnx_mypy; print(*sorted(sys.modules))"
    done = run_process([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    tops = {name.partition(".")[0] for name in done.stdout.split()}
    assert "mypy" in tops
    assert not tops & {"jax", "jaxlib", "flax", "optax", "numpy", "libcst", "typed_nnx"}
