"""A bounded cache keeps what is asked for and forgets the rest."""

from __future__ import annotations

from typed_nnx._core.bounded import Bounded


def test_what_is_asked_for_stays_and_what_is_not_goes() -> None:
    cache: Bounded[int, str] = Bounded(10)
    cache.add(-1, "kept")
    for number in range(1000):
        cache.add(number, str(number))
        assert cache[-1] == "kept"
    assert [number for number in range(1000) if cache[number] is not None][-1] == 999
    assert sum(cache[number] is not None for number in range(900)) == 0


def test_it_never_holds_more_than_it_may() -> None:
    cache: Bounded[int, object] = Bounded(10)
    for number in range(100):
        cache.add(number, object())
        assert len(cache.all_values()) <= 10


def test_the_first_value_of_a_key_counts() -> None:
    cache: Bounded[str, int] = Bounded(4)
    assert cache.add("a", 1) == 1
    assert cache.add("a", 2) == 1
    cache.clear()
    assert cache["a"] is None
