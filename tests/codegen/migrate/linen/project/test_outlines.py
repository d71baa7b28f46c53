"""What the analysis reads of the modules that code with jax imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from typed_nnx_codegen.migrate.project import Project

MODEL = "import jax\nfrom lib import Config, Named\n\ndef f(config: Config): return config.width, Named\n"
CONFIG = """
class Config:
    width: int = 3

    def made(self):
        from more import Other
        return Other()
"""
PACKAGE = """
try:
    from config import Config
    from one import Named
except ImportError:
    from config import Config
    from two import Named
"""


@pytest.mark.parametrize(
    ("near", "is_whole"), [(("model.py",), False), (("model.py", "config.py"), True)]
)
def test_the_bodies_of_functions_without_jax_are_read_where_their_file_is_migrated(
    tmp_path: Path, near: tuple[str, ...], is_whole: bool
) -> None:
    files = {"model.py": MODEL.replace("lib", "config").replace(", Named", ""), "config.py": CONFIG}
    project = _project(
        tmp_path, files | {"more.py": "from flax import nnx\nclass Other: pass\n"}, near
    )

    read = {path.name for path in project.read}

    assert ("more.py" in read) is is_whole


def test_names_that_two_imports_bind_are_not_looked_up_until_something_reads_them(
    tmp_path: Path,
) -> None:
    files = {"model.py": MODEL.replace(", Named", ""), "lib.py": PACKAGE, "config.py": CONFIG}
    named = {f"{name}.py": "from flax import nnx\nclass Named: pass\n" for name in ("one", "two")}
    (tmp_path / "unread").mkdir()
    (tmp_path / "read").mkdir()

    unread = _project(tmp_path / "unread", files | named, ("model.py",))
    read = _project(tmp_path / "read", files | named | {"model.py": MODEL}, ("model.py",))

    assert {path.name for path in unread.read} == {"model.py"}
    assert {path.name for path in read.read} == {"model.py", "one.py", "two.py"}


def _project(folder: Path, files: dict[str, str], near: tuple[str, ...]) -> Project:
    for name, text in files.items():
        (folder / name).write_text(text)
    project = Project((folder,), [folder / name for name in near])
    for name in near:
        project.analysis_of(folder / name)
    return project
