"""A small part of `make fuzz` in every run of the tests, and what failed in earlier ones."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

import typed_nnx
from tests.fuzz import compare, graphs, reference, slow_objects, threads
from tests.fuzz.campaign import FOUND, entries
from tests.fuzz.programs import write_program

PROGRAMS = 16
WORLDS = 80
THREADS = 20


def check_program(source: str, closures: bool) -> None:
    verdict = compare.judge(source, closures)
    assert (verdict.mismatch, verdict.unexcused) == (None, None), source


@pytest.mark.thorough
@pytest.mark.parametrize("first", range(0, PROGRAMS, 8))
def test_programs_mean_what_the_reference_and_flax_say(first):
    for seed in range(first, first + 8):
        program = write_program(seed)
        check_program(program.source(), program.closures)


@pytest.mark.thorough
@pytest.mark.parametrize("first", range(0, WORLDS, 20))
def test_every_view_of_a_graph_agrees_with_a_slow_walk(first):
    for seed in range(first, first + 20):
        _, failure = graphs.play(seed)
        assert failure is None, str(graphs.cut_down(failure))


@pytest.mark.thorough
def test_threads_see_what_some_order_of_their_operations_explains():
    for seed in range(THREADS):
        assert threads.play(seed) == []


@pytest.mark.parametrize(("head", "source"), entries(FOUND.read_text()), ids=lambda part: part[:25])
def test_what_failed_once_does_not_fail_again(head, source):
    words = head.split()
    if words[1] == "program":
        check_program(source, "closures" in words)
    else:
        _, failure = graphs.play(int(words[2]), skip=frozenset(map(int, words[4:])))
        assert failure is None, str(failure)


# -- the fuzzer itself ----------------------------------------------------------------------------------


class Wrong:
    """typed_nnx with something else in the place of one of its functions."""

    def __init__(self, **changed):
        self.changed = changed

    def __getattr__(self, name):
        return self.changed[name] if name in self.changed else getattr(typed_nnx, name)


def on_clones(function, **options):
    """Stand in for `jit`: what the function changes is lost."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        args, kwargs = typed_nnx.clone((args, kwargs))
        return function(*args, **kwargs)

    return call


@pytest.mark.thorough
@pytest.mark.parametrize(
    "changed",
    [
        {"jit": on_clones},
        {"remat": on_clones},
        {"clone": lambda x: x},
        {"jit": lambda function, **options: function},
    ],
    ids=["jit loses changes", "remat loses changes", "clone copies nothing", "jit undoes nothing"],
)
def test_programs_tell_a_library_that_is_wrong(changed):
    for seed in range(300):
        source = write_program(seed).source()
        if not any(f"nnx.{name}" in source or f"H.{name}" in source for name in changed):
            continue
        expected = compare.run(source, reference.Reference())
        if isinstance(expected.error, slow_objects.UnclearError):
            continue
        if compare.differs(compare.run(source, Wrong(**changed)), expected, 1) is not None:
            return
    pytest.fail("no program tells the difference")


def test_a_difference_from_flax_is_excused_by_a_row_of_the_page_only():
    page = (Path(__file__).parents[2] / "docs" / "differences.md").read_text()
    assert [row for row in compare.EXCUSES.values() if f"\n| {row} |" not in page] == []


def test_a_program_is_cut_down_to_what_the_mismatch_needs():
    def shows_it(program):
        return "nnx.fori_loop" in program.source()

    program = next(p for p in map(write_program, range(100)) if shows_it(p))
    small = compare.smallest(program, shows_it)
    assert len(small.source().splitlines()) <= 6
    assert shows_it(small)
