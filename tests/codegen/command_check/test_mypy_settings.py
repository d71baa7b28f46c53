"""The settings of mypy, found and read as mypy finds and reads them: mypy itself is the oracle."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from mypy.config_parser import parse_config_file
from mypy.options import Options

from typed_nnx_codegen.settings.mypy_settings import UnreadableSettings, find_mypy_settings
from typed_nnx_codegen.settings.with_plugin import write_with_plugin
from typed_nnx_mypy.config import find_pyproject, read_config

INI = "[mypy]\nplugins = a, b.c\n"
TOML = '[tool.mypy]\nplugins = ["a", "b.c"]\n'
OTHER = "[tool.other]\nx = 1\n"

LAYOUTS = {
    "nothing": {},
    "mypy.ini": {"mypy.ini": INI},
    "hidden": {".mypy.ini": INI},
    "pyproject": {"pyproject.toml": TOML},
    "setup.cfg": {"setup.cfg": INI},
    "the first name counts": {"mypy.ini": "[mypy]\n", "pyproject.toml": TOML},
    "a pyproject of others": {"pyproject.toml": OTHER, "setup.cfg": INI},
    "a setup.cfg of others": {"setup.cfg": "[metadata]\nname = x\n"},
    "an empty mypy.ini": {"mypy.ini": "", "pyproject.toml": TOML},
    "above": {"../pyproject.toml": TOML},
    "nearer": {"../mypy.ini": INI, "pyproject.toml": TOML},
    "beyond the repository": {".git/x": "", "../mypy.ini": INI},
    "at the root of the repository": {"../.git/x": "", "../mypy.ini": INI},
    "several lines": {"mypy.ini": "[mypy]\nplugins =\n    a,\n    b.c\n"},
    "a text in TOML": {"pyproject.toml": '[tool.mypy]\nplugins = "a, b.c"\n'},
    "with a factory": {"mypy.ini": "[mypy]\nplugins = typed_nnx_mypy:plugin\n"},
    "of the user": {"../home/.config/mypy/config": INI},
    "of the user, older": {"../home/.mypy.ini": INI},
    "of the user, by XDG": {"../xdg/mypy/config": "[mypy]\n", "../home/.mypy.ini": INI},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a home of its own beside it."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("mypy.defaults.USER_CONFIG_FILES", user_files())
    return project


def user_files() -> list[str]:
    """Return what mypy makes of the environment when it is imported."""
    named = [Path(os.environ["XDG_CONFIG_HOME"], "mypy/config")]
    named += [Path("~/.config/mypy/config").expanduser(), Path("~/.mypy.ini").expanduser()]
    return [str(path) for path in named]


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files by their paths from a folder on."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def of_mypy(file: str | None = None) -> Options:
    """Return the options that mypy reads in the current folder, or from a file."""
    options = Options()
    errors = io.StringIO()
    parse_config_file(options, lambda: None, file, errors, errors)
    assert not errors.getvalue() or "No [mypy] section" in errors.getvalue()
    return options


@pytest.mark.parametrize("files", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_the_file_and_the_plugins_are_those_that_mypy_finds(
    folder: Path, files: dict[str, str]
) -> None:
    write(folder, files)
    theirs = of_mypy()
    ours = find_mypy_settings(folder)
    found = None if ours is None else ours.path.resolve()
    assert found == (Path(theirs.config_file).resolve() if theirs.config_file else None)
    assert list(ours.plugins if ours is not None else ()) == theirs.plugins
    if ours is not None:
        assert ours.has_plugin == any("typed_nnx_mypy" in each for each in theirs.plugins)


FULL_TOML = """
[tool.mypy]
strict = true
python_version = "3.12"
plugins = ["a", "plugins/b.py", "c:make"]
mypy_path = "$MYPY_CONFIG_FILE_DIR/src:${MYPY_CONFIG_FILE_DIR}/stubs"
files = ["src", 'te"st\\s']
exclude = ["^build/", 'x\\.py$']
enable_error_code = ["redundant-expr", "truthy-bool"]
always_true = ["A"]

[[tool.mypy.overrides]]
module = ["flax.*", "optax"]
follow_imports = "skip"
ignore_missing_imports = true

[[tool.mypy.overrides]]
module = "tests.*"
disallow_untyped_defs = false

[tool.typed_nnx]
runtimes = ["flax.nnx"]
"""
FULL_INI = r"""
[mypy]
warn_return_any = True
python_version = 3.12
plugins = a,
  plugins/b.py, c:make
mypy_path = $MYPY_CONFIG_FILE_DIR/src:${MYPY_CONFIG_FILE_DIR}/stubs
files = src, tests
exclude = (?x)(
    ^build/ # built
    | x\.py$
  )
enable_error_code = redundant-expr, truthy-bool

[mypy-flax.*,optax]
follow_imports = skip
ignore_missing_imports = True

[mypy-tests.*]
disallow_untyped_defs = False
"""
PLAIN = {"pyproject.toml": FULL_TOML, "mypy.ini": FULL_INI, "setup.cfg": f"[metadata]\n{FULL_INI}"}


@pytest.mark.parametrize("name", PLAIN)
def test_settings_with_the_plugin_differ_from_the_others_in_the_plugin_alone(
    folder: Path, tmp_path: Path, name: str
) -> None:
    write(folder, {name: PLAIN[name]})
    before = of_mypy()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    file = write_with_plugin(find_mypy_settings(folder), temporary)
    after = of_mypy(str(file))
    # A plugin that is a file is looked for beside the settings.
    assert before.plugins == ["a", "plugins/b.py", "c:make"]
    assert after.plugins == ["a", str(folder / "plugins/b.py"), "c:make", "typed_nnx_mypy"]
    theirs, ours = before.snapshot(), after.snapshot()
    told = {key for key in theirs if theirs[key] != ours[key]}
    assert told <= {"config_file", "plugins"}
    assert before.per_module_options == after.per_module_options
    assert str(folder / "src") in after.mypy_path


def test_without_settings_there_is_the_plugin_alone(folder: Path, tmp_path: Path) -> None:
    options = of_mypy(str(write_with_plugin(None, tmp_path)))
    assert options.plugins == ["typed_nnx_mypy"]


@pytest.mark.parametrize("beside", ["pyproject.toml", "mypy.ini"])
def test_the_settings_of_the_plugin_itself_come_along(
    folder: Path, tmp_path: Path, beside: str
) -> None:
    write(folder, {"pyproject.toml": FULL_TOML, beside: PLAIN[beside]})
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    file = write_with_plugin(find_mypy_settings(folder), temporary)
    assert read_config(find_pyproject(str(file), folder)).runtimes == ("flax.nnx",)


@pytest.mark.parametrize("text", ["[tool.mypy\n", b"\xff\xfe", '[tool]\nmypy = "x\n'])
def test_a_file_that_cannot_be_read_is_named(folder: Path, text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    (folder / "pyproject.toml").write_bytes(data)
    with pytest.raises(UnreadableSettings, match="pyproject.toml: cannot be read: "):
        find_mypy_settings(folder)


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"pyproject.toml": "[tool.mypy]\n"}, 'plugins = ["typed_nnx_mypy"]'),
        ({"pyproject.toml": TOML}, 'plugins = ["a", "b.c", "typed_nnx_mypy"]'),
        ({"mypy.ini": INI}, "plugins = a, b.c, typed_nnx_mypy"),
    ],
)
def test_the_line_to_write_switches_the_plugin_on(
    folder: Path, files: dict[str, str], line: str
) -> None:
    write(folder, files)
    settings = find_mypy_settings(folder)
    assert settings is not None
    assert settings.line_to_write == line
    (name,) = files
    section = "[tool.mypy]" if settings.is_toml else "[mypy]"
    write(folder, {name: f"{section}\n{line}\n"})
    again = find_mypy_settings(folder)
    assert again is not None
    assert again.has_plugin
    assert "typed_nnx_mypy" in of_mypy().plugins
