from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.project.layers import cycles, imports_of_package, violations

REPOSITORY = Path(__file__).parents[2]


def build(folder: Path, files: dict[str, str]) -> Path:
    """Write a synthetic package ``pkg`` and return its folder."""
    package = folder / "pkg"
    for name, source in {"__init__.py": "", **files}.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return package


@pytest.mark.thorough
def test_our_package_keeps_its_layers() -> None:
    assert violations(REPOSITORY / "src" / "typed_nnx") == []


def test_the_hook_package_imports_nothing() -> None:
    imports = imports_of_package(REPOSITORY / "src" / "typed_nnx_models")
    targets = {one.target for of_module in imports.values() for one in of_module}
    assert targets <= {"__future__"}


def test_the_pytest_plugin_imports_pytest_and_the_standard_library_only() -> None:
    imports = imports_of_package(REPOSITORY / "src" / "typed_nnx_pytest")
    tops = {one.target.split(".")[0] for of_module in imports.values() for one in of_module}
    assert tops - sys.stdlib_module_names == {"pytest", "typed_nnx_pytest"}


def test_the_mypy_plugin_imports_neither_the_runtime_nor_jax() -> None:
    imports = imports_of_package(REPOSITORY / "mypy_plugin" / "typed_nnx_mypy")
    tops = {one.target.split(".")[0] for of_module in imports.values() for one in of_module}
    assert not tops & {"jax", "jaxlib", "flax", "optax", "numpy", "typed_nnx"}


# Folder -> what of ours it may import beside itself: the model of a class is below its two users.
BELOW = {
    "codegen/typed_nnx_codegen/facts": (),
    "codegen/typed_nnx_codegen/model_stubs/reading": (
        "typed_nnx_codegen.facts",
        "typed_nnx_codegen.model_stubs.models",
        "typed_nnx_codegen.model_stubs.overlay_file",  # names of files, no more
        "typed_nnx_codegen.module_names",
        "typed_nnx_codegen.mypy_run",
    ),
    "mypy_plugin/typed_nnx_mypy": ("typed_nnx_codegen.facts",),
}


@pytest.mark.parametrize("folder", BELOW)
def test_facts_are_below_the_mypy_plugin_and_the_generator_of_overlays(folder: str) -> None:
    package = REPOSITORY / folder.split("/")[0] / folder.split("/")[1]
    own = ".".join(folder.split("/")[1:])
    allowed = (own, *BELOW[folder])
    above = {
        f"{module}: {each.target}"
        for module, imports in imports_of_package(package).items()
        for each in imports
        if f"{module}.".startswith(f"{own}.")
        and each.target.startswith("typed_nnx_")
        and not any(f"{each.target}.".startswith(f"{name}.") for name in allowed)
    }
    assert above == set()


@pytest.mark.thorough
@pytest.mark.parametrize("package", ["codegen/typed_nnx_codegen", "mypy_plugin/typed_nnx_mypy"])
def test_tools_have_no_import_cycle(package: str) -> None:
    assert cycles(REPOSITORY / package) == []


def test_downward_imports_are_accepted(tmp_path: Path) -> None:
    package = build(
        tmp_path,
        {
            "__init__.py": "from pkg._core.variable import Variable as Variable\n",
            "errors.py": "import typing\n",
            "_core/__init__.py": "",
            "_core/variable.py": "import jax\nfrom pkg.errors import E\n",
            "_core/modules.py": "from pkg._core import variable\nfrom .variable import Variable\n",
            "_graph/__init__.py": "",
            "_graph/split.py": "import pkg._core.module as m\nfrom .._core import variable\n",
            "graph.py": "from pkg._graph.split import split as split\n",
            "bridge/__init__.py": "def use():\n    import flax\n",
        },
    )
    assert violations(package) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {"errors.py": "from pkg._core.a import x\n", "_core/a.py": ""},
            "pkg.errors:1: imports pkg._core.a, which is in a higher layer",
            id="upward",
        ),
        pytest.param(
            {"_core/a.py": "from .._graph.b import x\n", "_graph/b.py": ""},
            "pkg._core.a:1: imports pkg._graph.b, which is in a higher layer",
            id="upward, relative",
        ),
        pytest.param(
            {"_core/a.py": "from .._graph import b\n", "_graph/b.py": ""},
            "pkg._core.a:1: imports pkg._graph.b, which is in a higher layer",
            id="upward, a module from a package",
        ),
        pytest.param(
            {
                "_core/a.py": "from typing import TYPE_CHECKING\n"
                "if TYPE_CHECKING:\n    from pkg._graph.b import x\n",
                "_graph/b.py": "",
            },
            "pkg._core.a:3: imports pkg._graph.b, which is in a higher layer",
            id="upward, for types only",
        ),
        pytest.param(
            {"_core/a.py": "from pkg import Variable\n"},
            "pkg._core.a:1: imports pkg, the package root",
            id="root",
        ),
        pytest.param(
            {"_core/a.py": "import pkg\n"},
            "pkg._core.a:1: imports pkg, the package root",
            id="root, plain import",
        ),
        pytest.param(
            {"_core/a.py": "from .. import Variable\n"},
            "pkg._core.a:1: imports pkg, the package root",
            id="root, relative",
        ),
        pytest.param(
            {"_core/a.py": "def f():\n    from pkg.errors import E\n", "errors.py": ""},
            "pkg._core.a:2: imports pkg.errors inside a function",
            id="inside a function",
        ),
        pytest.param(
            {"_core/a.py": "class C:\n    async def f(self):\n        import pkg.errors\n"},
            "pkg._core.a:3: imports pkg.errors inside a function",
            id="inside a method",
        ),
        pytest.param(
            {"_core/a.py": "from . import b\n", "_core/b.py": "from .a import x\n"},
            "cycle: pkg._core.a -> pkg._core.b -> pkg._core.a",
            id="cycle of two",
        ),
        pytest.param(
            {
                "_core/a.py": "from pkg._core.b import x\n",
                "_core/b.py": "from pkg._core.c import x\n",
                "_core/c.py": "import typing\nif typing.TYPE_CHECKING:\n    from .a import x\n",
            },
            "cycle: pkg._core.a -> pkg._core.b -> pkg._core.c -> pkg._core.a",
            id="cycle of three closed for types only",
        ),
        pytest.param(
            {"_core/a.py": "try:\n    import flax\nexcept ImportError:\n    pass\n"},
            "pkg._core.a:2: imports flax at the top, which is no run-time dependency",
            id="optional package at the top",
        ),
        pytest.param({"utils.py": ""}, "pkg.utils: belongs to no known layer", id="unknown layer"),
    ],
)
def test_a_breach_is_reported(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    assert violations(build(tmp_path, files)) == [expected]


def test_a_cycle_through_a_package_init_is_reported(tmp_path: Path) -> None:
    files = {"_core/__init__.py": "from pkg._core.a import x\n", "_core/a.py": "from . import y\n"}
    assert violations(build(tmp_path, files)) == ["cycle: pkg._core -> pkg._core.a -> pkg._core"]
