from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import typed_nnx_mypy
from typed_nnx_mypy.plugin import TypedNnxPlugin


def test_mypy_gets_the_plugin_class_for_any_version() -> None:
    assert typed_nnx_mypy.plugin("2.4.1") is TypedNnxPlugin


def test_a_checked_file_reads_the_same_with_the_plugin_on(tmp_path: Path) -> None:
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = typed_nnx_mypy\n", encoding="utf-8")
    (tmp_path / "subject.py").write_text("reveal_type(1 + 1)\nx: str = 1\n", encoding="utf-8")
    done = subprocess.run(
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
