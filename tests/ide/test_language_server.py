"""What an editor shows: pyright-langserver on a project with the overlay of ``typed-nnx stubs``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ide.questions import (
    COMPLETIONS,
    DEFINITIONS,
    FLAX_COMPLETIONS,
    FLAX_MISTAKES,
    HOVERS,
    MISTAKES,
    NEW_FIELD,
    SIGNATURES,
    Completion,
    ask_about_flax,
    ask_all,
)
from tests.support.once import once


@pytest.fixture(scope="session")
def asked(
    tmp_path_factory: pytest.TempPathFactory, shared_folder: Path
) -> Callable[[str, Callable[[Path], Any]], Any]:
    """Ask a server once for all workers of a test run, in a folder for the project."""

    def ask(name: str, work: Callable[[Path], Any]) -> Any:
        return once(name, shared_folder, lambda: work(tmp_path_factory.mktemp(name).resolve()))

    return ask


@pytest.fixture(scope="session")
def answers(asked: Callable[[str, Callable[[Path], Any]], Any]) -> Any:
    return asked("language_server", ask_all)


@pytest.fixture(scope="session")
def flax_answers(asked: Callable[[str, Callable[[Path], Any]], Any]) -> Any:
    return asked("language_server_flax", ask_about_flax)


def check(wanted: Completion, labels: list[str]) -> None:
    assert set(labels[: len(wanted.fields)]) == wanted.fields
    assert not wanted.absent & set(labels)
    assert wanted.others or len(labels) == len(wanted.fields)


@pytest.mark.thorough
@pytest.mark.parametrize("wanted", COMPLETIONS, ids=str)
def test_completion_offers_the_fields_first_and_no_excluded_ones(
    wanted: Completion, answers: Any
) -> None:
    check(wanted, answers["completion"][wanted.code])


@pytest.mark.thorough
def test_a_field_that_a_second_run_of_the_command_finds_is_offered_at_once(answers: Any) -> None:
    assert "tail" not in answers["completion"]["state.$0"]
    check(NEW_FIELD, answers["new_field"][NEW_FIELD.code])


@pytest.mark.parametrize("code", HOVERS)
def test_hover_shows_the_type_and_the_documentation(code: str, answers: Any) -> None:
    shown = answers["hover"][code]
    assert [text for text in HOVERS[code] if text not in shown] == []


@pytest.mark.parametrize("code", SIGNATURES)
def test_signature_help_names_the_parameters_of_the_function(code: str, answers: Any) -> None:
    shown = answers["signature"][code]
    assert any(all(text in signature for text in SIGNATURES[code]) for signature in shown), shown


@pytest.mark.parametrize("code", DEFINITIONS)
def test_go_to_definition_finds_the_line(code: str, answers: Any) -> None:
    file, text = DEFINITIONS[code]
    assert any(name == file and text in line for name, line in answers["definition"][code])


@pytest.mark.parametrize("code", MISTAKES)
def test_a_mistake_is_underlined_with_its_rule(code: str, answers: Any) -> None:
    assert MISTAKES[code] in rules_of(list(MISTAKES).index(code), answers)


def test_right_lines_and_the_script_itself_are_not_underlined(answers: Any) -> None:
    assert errors_elsewhere(len(MISTAKES), answers) == []


@pytest.mark.thorough
@pytest.mark.parametrize("wanted", FLAX_COMPLETIONS, ids=str)
def test_completion_offers_the_fields_of_a_flax_model(
    wanted: Completion, flax_answers: Any
) -> None:
    labels = set(flax_answers["completion"][wanted.code])
    assert wanted.fields <= labels
    assert not wanted.absent & labels


@pytest.mark.thorough
@pytest.mark.parametrize("code", FLAX_MISTAKES)
def test_a_mistake_with_a_flax_model_is_underlined(code: str, flax_answers: Any) -> None:
    assert FLAX_MISTAKES[code] in rules_of(list(FLAX_MISTAKES).index(code), flax_answers)


def test_right_lines_with_a_flax_model_are_not_underlined(flax_answers: Any) -> None:
    assert errors_elsewhere(len(FLAX_MISTAKES), flax_answers) == []


def rules_of(line: int, answers: Any) -> list[str]:
    return [rule for number, rule, _ in answers["diagnostics"] if number == line]


def errors_elsewhere(mistakes: int, answers: Any) -> list[Any]:
    # The lines with mistakes come first after the script, whose lines have numbers below zero.
    return [found for found in answers["diagnostics"] if found[0] not in range(mistakes)]
