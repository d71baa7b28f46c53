from __future__ import annotations

import sys
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from tests.support.processes import run_process

REPOSITORY = Path(__file__).parents[2]
# Top-level folder of the wheel -> folder of the repository.
PACKAGES = {
    "typed_nnx": "src/typed_nnx",
    "typed_nnx_models": "src/typed_nnx_models",
    "typed_nnx_pytest": "src/typed_nnx_pytest",
    "typed_nnx_mypy": "mypy_plugin/typed_nnx_mypy",
    "typed_nnx_codegen": "codegen/typed_nnx_codegen",
    "typed_nnx-stubs": "stubs/typed_nnx-stubs",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    run_process(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=REPOSITORY,
        check=True,
    )
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def sources_of(folder: Path) -> set[str]:
    """Return the files that belong to a package, relative to its folder."""
    wanted = {".py", ".pyi", ".typed", ".css", ".js", ".json", ".txt"}
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.suffix in wanted and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize(("name", "folder"), PACKAGES.items(), ids=PACKAGES)
def test_the_wheel_carries_every_source_file(
    wheel: zipfile.ZipFile, name: str, folder: str
) -> None:
    packed = {n.removeprefix(f"{name}/") for n in wheel.namelist() if n.startswith(f"{name}/")}
    assert packed == sources_of(REPOSITORY / folder)


def test_the_wheel_carries_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_an_installed_package_makes_the_stubs_that_it_carries(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    wheel.extractall(tmp_path)
    program = (
        "from pathlib import Path\n"
        "from typed_nnx_codegen.stubgen import __main__ as command\n"
        "print(command.__file__, command.stale(command.render(), Path('typed_nnx-stubs')))"
    )
    done = run_process([sys.executable, "-c", program], cwd=tmp_path, check=True)
    generator = tmp_path / "typed_nnx_codegen" / "stubgen" / "__main__.py"
    assert done.stdout.strip() == f"{generator} []"


def test_every_package_says_that_it_is_typed_and_the_stubs_that_they_are_partial(
    wheel: zipfile.ZipFile,
) -> None:
    marks = {name: wheel.read(f"{name}/py.typed").decode() for name in PACKAGES}
    assert marks.pop("typed_nnx-stubs") == "partial\n"
    assert set(marks.values()) == {""}


def test_the_runtime_depends_on_jax_and_little_else(wheel: zipfile.ZipFile) -> None:
    (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    metadata = message_from_string(wheel.read(name).decode())
    always = [one for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one]
    names = {one.split(">")[0] for one in always}
    assert names == {"jax", "jaxlib", "optax", "typing-extensions"}
    extras = set(metadata.get_all("Provides-Extra", []))
    assert extras == {
        "checkers",
        "checkpoint",
        "demo",
        "dev",
        "docs",
        "export",
        "notebook",
        "tools",
    }
