"""`typed-nnx run`: a program runs as Python runs it, with typed_nnx in the place of flax.nnx."""

from __future__ import annotations

import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

from tests.codegen.command.running import environment, run
from tests.support.processes import run_process

# What a program can see of how it was started.
SHOWS = """
import __main__, os, pickle, sys
class Here:
    pass
print(sys.argv, os.path.realpath(sys.path[0]), __name__, __file__, __package__)
print(__spec__ and __spec__.name, type(__loader__).__name__, __main__.__dict__ is globals())
print(type(pickle.loads(pickle.dumps(Here()))) is Here, sorted({*vars(__main__)} - {"__annotations__"}))
"""
# An exception below two frames, with a cause.
FAILS = """
def inner():
    raise KeyError("lost")
try:
    inner()
except KeyError as error:
    raise ValueError("wrong") from error
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "shows.py": SHOWS,
        "fails.py": FAILS,
        "exits.py": "import sys; sys.exit(int(sys.argv[1]))",
        "complains.py": "import sys; print('out'); sys.exit('no good')",
        "typo.py": "x = = 1",
        "app/__init__.py": "",
        "app/__main__.py": SHOWS,
        "app/train.py": SHOWS,
        "app/broken.py": "import there_is_no_such_module",
        "library/__init__.py": "",
        "folder/__main__.py": SHOWS,
        "interrupted.py": "raise KeyboardInterrupt",
        "hooked.py": "import sys; sys.excepthook = lambda *e: print('hook', e[0]); 1 / 0",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "link.py").symlink_to(tmp_path / "app" / "train.py")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.writestr("__main__.py", SHOWS)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "shows.py",
        "shows.py --help -m x -- --debug",
        "./app/train.py one",
        "link.py",
        "folder 1",
        "packed.zip 1",
        "-m app --help",
        "-m app.train -m --version",
        "-mapp.train x",
        "-m shows -- y",
        "fails.py",
        "-m fails",
        "-m app.broken",
        "typo.py",
        "exits.py 0",
        "exits.py 3",
        "-m exits 70",
        "complains.py",
        "hooked.py",
    ],
)
def test_a_program_sees_and_does_what_it_does_under_python(project: Path, line: str) -> None:
    words = line.split()
    expected = run_process([sys.executable, *words], cwd=project, env=environment({}))
    found = run("run", *words, folder=project)
    assert found.returncode == expected.returncode, found.stderr
    assert found.stdout == expected.stdout
    # Python shows its own frames of `-m`; and how a line is marked depends on the version.
    assert found.stderr == without_python_s_own(expected.stderr)


def without_python_s_own(traceback: str) -> str:
    kept: list[str] = []
    hidden = False
    for line in traceback.splitlines(keepends=True):
        if line.startswith("  File"):
            hidden = '"<frozen runpy>"' in line
        elif not line.startswith("    "):
            hidden = False
        if not hidden:
            kept.append(line)
    return "".join(kept)


def test_an_interrupt_ends_it_as_a_shell_expects(project: Path) -> None:
    found = run("run", "interrupted.py", folder=project)
    assert found.returncode == 130
    assert found.stderr.splitlines()[-1] == "KeyboardInterrupt"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "which program?"),
        (("nowhere.py",), "cannot open 'nowhere.py': No such file or directory"),
        (("-m", "nowhere"), "no module named 'nowhere'"),
        (("-m", "nowhere.at.all"), "no module named 'nowhere.at.all'"),
        (("-m", "library"), "no module named 'library', or a package that cannot be run"),
        (("library",), "there is no '__main__' module in 'library'"),
    ],
)
def test_a_program_that_is_not_there_is_wrong_use(
    project: Path, words: tuple[str, ...], message: str
) -> None:
    found = run("run", *words, folder=project)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.thorough
def test_imports_of_flax_nnx_give_typed_nnx_and_jax_sees_the_environment_of_the_program(
    project: Path,
) -> None:
    (project / "models.py").write_text("from flax.nnx import Linear\nfrom flax import linen\n")
    program = """
        import os, sys
        assert "jax" not in sys.modules
        os.environ["JAX_ENABLE_X64"] = "1"
        import flax, models
        from flax import nnx
        import jax.numpy as jnp
        layer = nnx.jit(lambda: models.Linear(2, 3, rngs=nnx.Rngs(0)))()
        print(type(layer).__module__.split(".")[0], nnx.__name__, jnp.ones(()).dtype)
        print(flax.linen.__name__, issubclass(models.linen.Dense, flax.linen.Module))
    """
    (project / "train.py").write_text(textwrap.dedent(program))
    found = run("run", "train.py", folder=project)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == ["typed_nnx typed_nnx float64", "flax.linen True"]
