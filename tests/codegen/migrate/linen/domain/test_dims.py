"""Sizes: what is simplified has the value that it had, and chains of divisions are one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece, as_dim, product


class Sized(NamedTuple):
    """A size, and what computes it."""

    dim: Dim
    of: Callable[[int], int]


def ceil_divided(value: int, by: int) -> int:
    """Return a number divided, rounded up."""
    return -(-value // by)


N = Sized(as_dim(Piece("n")), lambda n: n)
SMALL = st.integers(1, 5)


def grown(inner: st.SearchStrategy[Sized]) -> st.SearchStrategy[Sized]:
    """Return what one operation makes of sizes."""
    return st.one_of(
        st.builds(lambda a, b: Sized(a.dim + b.dim, lambda n: a.of(n) + b.of(n)), inner, inner),
        st.builds(lambda a, k: Sized(a.dim + k, lambda n: a.of(n) + k), inner, st.integers(-7, 7)),
        st.builds(lambda a, k: Sized(a.dim * k, lambda n: a.of(n) * k), inner, SMALL),
        st.builds(lambda a, k: Sized(a.dim // k, lambda n: a.of(n) // k), inner, SMALL),
        st.builds(lambda a, k: Sized(a.dim % k, lambda n: a.of(n) % k), inner, SMALL),
        st.builds(
            lambda a, k: Sized(a.dim.ceil_divided(k), lambda n: ceil_divided(a.of(n), k)),
            inner,
            SMALL,
        ),
    )


@given(st.recursive(st.just(N), grown, max_leaves=4), st.integers(0, 200))
def test_a_size_has_the_value_of_what_it_was_computed_from(sized: Sized, n: int) -> None:
    assert eval(sized.dim.code(), {"n": n}) == sized.of(n)


@given(st.lists(st.recursive(st.just(N), grown, max_leaves=3), min_size=2, max_size=3), SMALL)
def test_a_product_has_the_value_of_what_it_was_computed_from(parts: list[Sized], n: int) -> None:
    code = product(part.dim for part in parts).code()
    assert eval(code, {"n": n}) == math.prod(part.of(n) for part in parts)


M = as_dim(Piece("m"))


@pytest.mark.parametrize(
    ("dim", "code"),
    [
        ((N.dim - 4) * (M - 3), "(m - 3) * (n - 4)"),
        ((N.dim // 8 - 4) * (M // 8 - 4) * 64, "64 * (m // 8 - 4) * (n // 8 - 4)"),
        ((N.dim - 1) * (M // 2 + 1) * as_dim(Piece("k")), "k * (m // 2 + 1) * (n - 1)"),
        (N.dim * M + N.dim + 2, "2 + m * n + n"),
        ((N.dim + 1) * 3, "3 + 3 * n"),
    ],
    ids=["two", "windows", "with_an_atom", "no_product", "one_sum"],
)
def test_products_of_sums_stay_products(dim: Dim, code: str) -> None:
    found = dim.code()
    assert sorted(found) == sorted(code)  # in any order
    assert all(
        eval(found, {"n": n, "m": m, "k": 3}) == eval(code, {"n": n, "m": m, "k": 3})
        for n in range(20)
        for m in range(20)
    )


@pytest.mark.parametrize(
    ("dim", "code"),
    [
        (N.dim // 2 // 2 // 2, "n // 8"),
        (((N.dim - 3) // 2 + 1 - 3) // 2 + 1, "(n - 7) // 4 + 1"),
        (N.dim.ceil_divided(2).ceil_divided(2), "-(-n // 4)"),
        (N.dim.ceil_divided(2) // 2, "-(-n // 2) // 2"),
        (-(N.dim // 2), "-(n // 2)"),
    ],
    ids=["halves", "windows", "ceilings", "mixed", "negative"],
)
def test_chains_of_divisions(dim: Dim, code: str) -> None:
    normal = dim.code()
    assert all(eval(normal, {"n": n}) == eval(code, {"n": n}) for n in range(100))
    assert normal.count("//") == code.count("//")
