"""The log of an evaluation: what queries find, and what a trial leaves."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst
import pytest

from typed_nnx_codegen.migrate.linen.domain.class_plan import Event, Log


@dataclass(frozen=True, eq=False)
class _Seen(Event):
    node: cst.CSTNode
    text: str = ""


@dataclass(frozen=True)
class _Equal(Event):
    node: cst.CSTNode


_X, _Y = cst.Name("x"), cst.Name("y")


def _texts(events: list[_Seen]) -> list[str]:
    return [one.text for one in events]


@pytest.fixture
def log() -> Log:
    log = Log()
    for node, text in [(_X, "first"), (_Y, "other"), (_X, "second")]:
        log.append(_Seen(node, text))
    return log


def test_events_of_a_kind_are_in_the_order_of_appending(log: Log) -> None:
    log.append(_Equal(_X))

    assert _texts(log.of(_Seen)) == ["first", "other", "second"]
    assert _texts(log.about(_Seen, _X)) == ["first", "second"]
    assert [_texts(one) for one in log.groups(_Seen)] == [["first", "second"], ["other"]]


def test_a_log_within_another_sees_that_and_leaves_it_as_it_is(log: Log) -> None:
    inner = Log(log)
    inner.append(_Seen(_X, "third"))
    inner.drop(*inner.about(_Seen, _Y))

    assert _texts(inner.of(_Seen)) == ["first", "second", "third"]
    assert inner.about(_Seen, _Y) == []
    assert _texts(log.of(_Seen)) == ["first", "other", "second"]


def test_extending_appends_what_is_not_of_the_log_around(log: Log) -> None:
    inner = Log(log)
    inner.append(_Seen(_X, "third"))

    log.extend(inner)

    assert _texts(log.of(_Seen)) == ["first", "other", "second", "third"]


def test_an_event_equal_to_one_taken_back_is_another_event(log: Log) -> None:
    before, after = _Equal(_X), _Equal(_X)
    log.append(before)
    log.drop(before)
    log.append(after)

    assert before == after
    assert log.of(_Equal) == [after]
