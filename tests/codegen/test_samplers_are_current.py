"""The generated samplers are what the generator writes, on every Python."""

from __future__ import annotations

import inspect
from pathlib import Path

import jax
import pytest

from typed_nnx_codegen import samplers

WRITTEN_FROM = f"from jax {jax.__version__}."


def written() -> str:
    """The committed file."""
    return samplers.TARGET.read_text(encoding="utf-8")


# Other versions of jax have other signatures; the committed file is of one of them.
of_this_jax = pytest.mark.skipif(
    samplers.TARGET.is_file() and WRITTEN_FROM not in written(),
    reason=f"the committed file was not written from jax {jax.__version__}",
)


@of_this_jax
def test_the_committed_file_is_what_the_generator_writes() -> None:
    assert written() == samplers.render(), f"Fix: {samplers.COMMAND}"


@of_this_jax
def test_check_accepts_the_committed_file() -> None:
    assert samplers.main(["--check"]) == 0


def test_check_refuses_a_changed_file_and_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "samplers.py"
    changed.write_text(samplers.render() + "\n", encoding="utf-8")
    monkeypatch.setattr(samplers, "TARGET", changed)
    assert samplers.main(["--check"]) == 1
    assert f"Fix: {samplers.COMMAND}" in capsys.readouterr().err
    assert samplers.main(["--write"]) == 0
    assert samplers.main(["--check"]) == 0


def test_the_header_names_the_command_and_the_version_of_jax() -> None:
    header = samplers.render().split('"""')[1]
    assert samplers.COMMAND in header
    assert WRITTEN_FROM in header


def test_an_unknown_annotation_stops_the_generation(monkeypatch: pytest.MonkeyPatch) -> None:
    count = inspect.Parameter("count", inspect.Parameter.KEYWORD_ONLY, annotation="Mystery")
    strange = {"strange": inspect.Signature([count])}
    monkeypatch.setattr(samplers, "samplers", lambda: strange)
    with pytest.raises(SystemExit, match="uses the type 'Mystery'"):
        samplers.render()
