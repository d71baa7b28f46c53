"""The settings of the plugin and those of mypy that are about error codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mypy_plugin.subject import run_mypy, said, settings_folder
from typed_nnx_mypy.config import Config, ConfigError, find_pyproject, read_config
from typed_nnx_mypy.errorcodes import ALL, NNX

BOTH = """\
from flax import nnx as flax_nnx
import typed_nnx as nnx
nnx.split(nnx.Dict(), ..., nnx.Param)
flax_nnx.split(flax_nnx.Dict(), ..., flax_nnx.Param)
"""


# -- [tool.typed_nnx] ---------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param("", [(3, "error"), (4, "error")], id="nothing"),
        pytest.param('runtimes = ["flax.nnx"]', [(4, "error")], id="flax"),
        pytest.param('runtimes = ["typed_nnx"]', [(3, "error")], id="typed_nnx"),
        pytest.param("runtimes = []", [], id="none"),
        pytest.param(
            'severity = {"nnx-filter-order" = "note"}', [(3, "note"), (4, "note")], id="note"
        ),
        pytest.param('severity = {"nnx-filter-order" = "off"}', [], id="off"),
        pytest.param(
            'severity = {"nnx-axes" = "off", "nnx-filter-order" = "error"}',
            [(3, "error"), (4, "error")],
            id="another-code",
        ),
    ],
)
def test_settings_choose_what_is_reported_and_how(
    settings: str, expected: list[tuple[int, str]]
) -> None:
    # One after the other on one cache: what is kept there must not hide a change of the settings.
    found = said(BOTH, f"[tool.typed_nnx]\n{settings}\n")
    assert found == [(line, severity, "nnx-filter-order") for line, severity in expected]


def test_without_a_file_or_a_table_the_defaults_hold(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text('[tool.other]\nruntimes = "mine"\n', encoding="utf-8")
    assert read_config(None) == read_config(path) == Config(("typed_nnx", "flax.nnx"), {})
    assert {Config().of(code.code) for code in ALL} == {"error"}


def test_what_is_set_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(
        '[tool.typed_nnx]\nruntimes = ["flax.nnx"]\n'
        '[tool.typed_nnx.severity]\nnnx-carry = "off"\nnnx-axes = "note"\n',
        encoding="utf-8",
    )
    config = read_config(path)
    assert config.runtimes == ("flax.nnx",)
    assert [config.of(f"nnx-{name}") for name in ("axes", "carry", "branches")] == [
        "note",
        "off",
        "error",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("[tool.typed_nnx", "cannot be read as TOML", id="toml"),
        pytest.param("[tool]\ntyped_nnx = 1", r"\[tool.typed_nnx\] is not a table", id="table"),
        pytest.param(
            "[tool.typed_nnx]\nruntime = 1",
            "has no setting 'runtime'. Fix: use runtimes or severity or report_open or lint",
            id="setting",
        ),
        pytest.param(
            '[tool.typed_nnx]\nruntimes = "flax.nnx"',
            "`runtimes` .* is 'flax.nnx'. Fix: give a list of 'typed_nnx' and 'flax.nnx'",
            id="runtimes",
        ),
        pytest.param(
            '[tool.typed_nnx]\nruntimes = ["flax"]', r"is \['flax'\]. Fix: give", id="runtime"
        ),
        pytest.param(
            "[tool.typed_nnx]\nruntimes = [[]]", r"is \[\[\]\]. Fix: give", id="runtime-of-a-list"
        ),
        pytest.param(
            '[tool.typed_nnx]\nseverity = "off"', "is 'off'. Fix: write a table", id="severity"
        ),
        pytest.param(
            '[tool.typed_nnx.severity]\nnnx-axis = "off"',
            "names 'nnx-axis', which is not an error code .* Fix: use one of nnx-argnums, nnx-attribute",
            id="code",
        ),
        pytest.param(
            '[tool.typed_nnx.severity]\nnnx-axes = "warning"',
            "of 'nnx-axes' .* is 'warning'. Fix: use one of error, note, off",
            id="level",
        ),
        pytest.param("[tool.typed_nnx.severity]\nnnx-axes = []", r"is \[\]. Fix: use", id="list"),
    ],
)
def test_settings_that_are_wrong_are_refused_with_the_remedy(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=says) as error:
        read_config(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot be read as TOML"):
        read_config(path)


def test_mypy_shows_wrong_settings_as_one_line_without_a_traceback() -> None:
    done = run_mypy("x = 1\n", "[tool.typed_nnx]\nruntime = 1\n")
    path = settings_folder() / "pyproject.toml"
    expected = f"{path}: [tool.typed_nnx] has no setting 'runtime'."
    assert done.stderr == f"{expected} Fix: use runtimes or severity or report_open or lint.\n"
    assert "Traceback" not in done.stdout
    assert done.returncode == 2


def test_the_pyproject_beside_mypys_configuration_comes_before_those_above(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    beside = tmp_path / "config"
    beside.mkdir()
    assert find_pyproject(str(beside / "mypy.ini"), inner) in (None, *_above(tmp_path))
    (tmp_path / "a" / "pyproject.toml").touch()
    assert find_pyproject(None, inner) == tmp_path / "a" / "pyproject.toml"
    assert find_pyproject(str(beside / "mypy.ini"), inner) == tmp_path / "a" / "pyproject.toml"
    (beside / "pyproject.toml").touch()
    assert find_pyproject(str(beside / "mypy.ini"), inner) == beside / "pyproject.toml"


def _above(folder: Path) -> list[Path]:
    return [each / "pyproject.toml" for each in folder.parents]


OPEN = """\
import typed_nnx as nnx
class Sown(nnx.Module):
    def __call__(self, name: str) -> None:
        self.sow(nnx.Intermediate, name, 1)
class Own(nnx.Module):
    def __getattr__(self, name: str) -> int:
        return 1
class Closed(nnx.Module):
    def __init__(self) -> None:
        self.scale = nnx.Param(1.0)
        self.scale[...] = 2.0
        setattr(object(), "scale", 1)
def change(model: Closed, name: str) -> None:
    nnx.state(model).scale
    setattr(model, name, 1)
    model.scale[...] = 3.0
    nnx.state(model).missing
"""


@pytest.mark.thorough
def test_report_open_has_a_note_for_each_place_that_opens_a_class_and_quiets_a_check() -> None:
    assert said(OPEN) == []
    settings = "[tool.typed_nnx]\nreport_open = true\n"
    expected = [(4, "note", "nnx"), (5, "note", "nnx"), (15, "note", "nnx")]
    assert sorted(said(OPEN, settings)) == expected
    texts = run_mypy(OPEN, settings).stdout  # from the cache
    assert "Sown is open, by `self.sow`: nnx-state-key" in texts
    assert "Own is open, by its own `__getattr__`" in texts
    assert "what its State lacks in line 17 is not reported" in texts


# -- error codes --------------------------------------------------------------------------------

# Each line without what silences it is a report.
IGNORES = """\
import typed_nnx as nnx
model = nnx.Dict()
nnx.split(model, ..., nnx.Param)
nnx.split(model, ..., nnx.Param)  # type: ignore[nnx-filter-order]
nnx.split(model, ..., nnx.Param)  # type: ignore[nnx]
nnx.split(model, ..., nnx.Param)  # type: ignore
nnx.split(model, ..., nnx.Param)  # type: ignore[nnx-axes]
nnx.split(model, nnx.Param, ...)  # type: ignore[nnx-filter-order]
nnx.split(model, nnx.Param, ...)  # type: ignore[nnx]
"""


@pytest.mark.thorough
def test_a_report_is_ignored_by_its_code_and_by_the_code_of_all() -> None:
    found = said(IGNORES, options="[mypy-subject]\nwarn_unused_ignores = true")
    reported = [line for line, _, code in found if code == "nnx-filter-order"]
    unused = [line for line, _, code in found if code == "unused-ignore"]
    assert reported == [3, 7]
    # Line 5: mypy asks for the narrower code there.
    assert unused == [5, 7, 8, 9]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param("disable_error_code = nnx-filter-order", 0, id="its-code"),
        pytest.param("disable_error_code = nnx", 0, id="all"),
        pytest.param("disable_error_code = nnx-axes", 1, id="another"),
        pytest.param(
            "disable_error_code = nnx\nenable_error_code = nnx-filter-order", 1, id="all-but-one"
        ),
    ],
)
# With options of all modules mypy checks every library again.
@pytest.mark.parametrize("module", ["[mypy-subject]", pytest.param("", marks=pytest.mark.slow)])
def test_a_check_is_switched_off_by_its_code_and_by_the_code_of_all(
    module: str, options: str, expected: int
) -> None:
    source = "import typed_nnx as nnx\nnnx.split(nnx.Dict(), ..., nnx.Param)\n"
    assert len(said(source, options=f"{module}\n{options}")) == expected


def test_all_codes_are_in_one_category_and_below_one_code() -> None:
    assert {code.category for code in (*ALL, NNX)} == {"NNX"}
    assert {code.sub_code_of for code in ALL} == {NNX}
    assert all(code.code.startswith("nnx-") for code in ALL)
    assert len({code.code for code in ALL}) == len(ALL)
