"""mypy loads the plugin, also where neither jax nor a runtime can be imported."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from mypy.errors import CompileError

import typed_nnx_mypy
from tests.support.processes import run_process
from tests.support.type_checkers import TypeCheckers
from typed_nnx_codegen.facts.caching import FACTS
from typed_nnx_mypy.plugin_class import TypedNnxPlugin

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.mark.parametrize("version", ["2.2.0", "2.4.1", "3.0", "2.10.0+dev.5a1b", "unknown"])
def test_mypy_gets_the_plugin_class_for_each_version_from_the_oldest_on(version: str) -> None:
    assert typed_nnx_mypy.plugin(version) is TypedNnxPlugin


@pytest.mark.parametrize("version", ["1.18.2", "2.1.9", "0.991", "2.1.0+dev.5a1b.dirty"])
def test_an_older_mypy_ends_with_one_line(version: str) -> None:
    with pytest.raises(CompileError) as caught:
        typed_nnx_mypy.plugin(version)
    assert caught.value.messages == [
        f"typed_nnx_mypy: this is mypy {version}, the plugin needs 2.2 or newer. "
        "Fix: pip install 'mypy>=2.2'"
    ]


def test_the_oldest_mypy_is_the_one_that_is_asked_for() -> None:
    tools = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert f"mypy>={'.'.join(map(str, typed_nnx_mypy.OLDEST_MYPY))}" in tools["tools"]


def test_private_names_of_mypy_are_used_in_one_file() -> None:
    private = re.compile(
        r"api\.(errors|expr_checker|local_type_map|msg|pass_num|scope|tscope)\b"
        r"|^from mypy\.(plugins|server|checker\w+)|\._watchers|\._fullname",
        re.MULTILINE,
    )
    using = {
        path.name
        for folder in (Path(typed_nnx_mypy.__path__[0]), FACTS)
        for path in folder.rglob("*.py")
        if private.search(path.read_text(encoding="utf-8"))
    }
    assert using == {"internals.py"}


@pytest.mark.thorough
def test_a_file_without_nnx_reads_the_same_with_the_plugin_on(tmp_path: Path) -> None:
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = typed_nnx_mypy\n", encoding="utf-8")
    (tmp_path / "subject.py").write_text("reveal_type(1 + 1)\nx: str = 1\n", encoding="utf-8")
    done = TypeCheckers(tmp_path).run("-m", "mypy", "subject.py")
    assert 'Revealed type is "int"' in done.stdout
    assert "[assignment]" in done.stdout
    assert done.stderr == ""
    assert done.returncode == 1


def test_importing_the_plugin_imports_no_runtime() -> None:
    program = "import sys, typed_nnx_mypy.hooks; print(*sorted(sys.modules))"
    done = run_process([sys.executable, "-c", program], check=True)
    tops = {name.partition(".")[0] for name in done.stdout.split()}
    assert "mypy" in tops
    assert not tops & {"jax", "jaxlib", "flax", "optax", "numpy", "typed_nnx"}
    assert not tops & {"click", "libcst", "pygls", "rich"}
