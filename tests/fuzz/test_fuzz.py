"""A small part of `make fuzz` in every run of the tests, and what failed in earlier ones."""

from __future__ import annotations

import functools
from pathlib import Path

import jax
import pytest

import typed_nnx
from tests.fuzz import compare, graphs, reference, slow_objects, threads
from tests.fuzz.campaign import FOUND, entries
from tests.fuzz.programs import write_program

PROGRAMS = 96
WORLDS = 80
THREADS = 20


def check_program(source: str, closures: bool) -> None:
    verdict = compare.judge(source, closures)
    assert (verdict.mismatch, verdict.unexcused) == (None, None), source


@pytest.mark.parametrize("first", range(0, PROGRAMS, 8))
def test_programs_mean_what_the_reference_and_flax_say(first):
    for seed in range(first, first + 8):
        program = write_program(seed)
        check_program(program.source(), program.closures)


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


def unshared(function, **options):
    """Stand in for `jit`: each argument is another copy of what they share."""
    return lambda *args: function(args[0], *(typed_nnx.clone(arg) for arg in args[1:]))


def returning_copies(function, **options):
    """Stand in for `jit`: results are no objects of the caller."""
    return lambda *args, **kwargs: typed_nnx.clone(function(*args, **kwargs))


def other_error(function, **options):
    """Stand in for `jit`: an error has another type."""

    def call(*args, **kwargs):
        try:
            return typed_nnx.jit(function, **options)(*args, **kwargs)
        except Exception as error:
            raise RuntimeError from error

    return call


def twice(function, **options):
    """Stand in for `jit`: the function runs twice."""
    jitted = typed_nnx.jit(function, **options)

    def call(*args, **kwargs):
        jitted(*args, **kwargs)
        return jitted(*args, **kwargs)

    return call


def mode_of_first_call(function, **options):
    """Stand in for `jit`: a cache whose key forgets a static attribute."""
    jitted = typed_nnx.jit(function, **options)
    first: dict[int, str] = {}

    def call(*args, **kwargs):
        modules = [arg for arg in args if hasattr(arg, "mode")]
        modes = [module.mode for module in modules]
        for n, module in enumerate(modules):
            module.mode = first.setdefault(n, module.mode)
        try:
            return jitted(*args, **kwargs)
        finally:
            for module, mode in zip(modules, modes, strict=True):
                module.mode = mode

    return call


def doubled(function, **options):
    """Stand in for `grad`: gradients are too large."""
    gradient = typed_nnx.grad(function, **options)
    return lambda *args: jax.tree.map(lambda leaf: leaf * 2, gradient(*args))


WRONG = {
    "jit loses changes": {"jit": on_clones},
    "jit unshares": {"jit": unshared},
    "jit returns copies": {"jit": returning_copies},
    "jit changes errors": {"jit": other_error},
    "jit undoes nothing": {"jit": lambda function, **options: function},
    "jit runs twice": {"jit": twice},
    "jit forgets modes": {"jit": mode_of_first_call},
    "remat loses changes": {"remat": on_clones},
    "clone copies nothing": {"clone": lambda x: x},
    "vmap loses changes": {"vmap": lambda f, **axes: on_clones(typed_nnx.vmap(f, **axes))},
    "grad is doubled": {"grad": doubled},
    "value_and_grad loses changes": {
        "value_and_grad": lambda f, **of: on_clones(typed_nnx.value_and_grad(f, **of))
    },
    "scan is reversed": {"scan": functools.partial(typed_nnx.scan, reverse=True)},
    "cond takes the other branch": {"cond": lambda p, *rest: typed_nnx.cond(~p, *rest)},
    "switch wraps around": {"switch": lambda i, f, *x: typed_nnx.switch(i % len(f), f, *x)},
    "fori_loop stops early": {
        "fori_loop": lambda low, high, *rest: typed_nnx.fori_loop(low, high - 1, *rest)
    },
    "while_loop loses changes": {
        "while_loop": lambda test, body, init: typed_nnx.while_loop(
            test, body, typed_nnx.clone(init)
        )
    },
}


@pytest.mark.parametrize("changed", WRONG.values(), ids=WRONG)
def test_programs_tell_a_library_that_is_wrong(changed):
    for seed in range(PROGRAMS):
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
