"""Filters of the plugin: which leaves pass, what one leaves to the next, and their form as types."""

from __future__ import annotations

import itertools

import pytest
from mypy.nodes import Block, ClassDef, SymbolTable, TypeInfo
from mypy.types import AnyType, Instance, TypeOfAny, UnionType

from typed_nnx_codegen.facts.filters import (
    AllOf,
    AnyOf,
    Everything,
    Filter,
    Negation,
    Nothing,
    PathContains,
    PathIn,
    Unknown,
    WithTag,
    all_of,
    any_of,
    below,
    decode,
    describe,
    encode,
    implies,
    in_order,
    negation,
    of_class,
    passes,
)


def _class(name: str, *bases: TypeInfo, module: str = "typed_nnx") -> TypeInfo:
    definition = ClassDef(name, Block([]))
    definition.fullname = f"{module}.{name}"
    info = TypeInfo(SymbolTable(), definition, module)
    info.bases = [Instance(base, []) for base in bases]
    info.mro = [info, *dict.fromkeys(base for each in bases for base in each.mro)]
    return info


OBJECT = _class("object", module="builtins")
VARIABLE = _class("Variable", OBJECT)
PARAM = _class("Param", VARIABLE)
LORA = _class("LoRAParam", PARAM)
STAT = _class("BatchStat", VARIABLE)
ARRAY = _class("Array", OBJECT, module="jax._src.basearray")
BASE = Instance(OBJECT, [])

Param, Stat, Lora = of_class(PARAM), of_class(STAT), of_class(LORA)
FILTERS: list[Filter] = [
    Everything(),
    Nothing(),
    Unknown(),
    Param,
    WithTag("dropout"),
    PathContains("a"),
    PathContains("a", exact=False),
    PathContains(3),
    PathIn((("a", 0), ())),
    AnyOf((Param, Stat)),
    AllOf((Param, Negation(PathContains("a")))),
    Negation(AnyOf((Param, WithTag("x")))),
]


@pytest.mark.parametrize("of", FILTERS, ids=describe)
def test_a_filter_is_the_same_after_it_was_a_type(of: Filter) -> None:
    assert decode(encode(of, BASE)) == of


@pytest.mark.parametrize(
    ("of", "leaf", "expected"),
    [
        (Param, PARAM, True),
        (Param, LORA, True),
        (Param, VARIABLE, None),
        (Param, STAT, False),
        (Param, ARRAY, False),
        (of_class(ARRAY), PARAM, False),
        (of_class(ARRAY), ARRAY, True),
        (Unknown(), PARAM, None),
        (WithTag("x"), PARAM, None),
        (WithTag("x"), ARRAY, False),
        (negation(Param), PARAM, False),
        (negation(Param), VARIABLE, None),
        (any_of((Param, Unknown())), PARAM, True),
        (all_of((Stat, Unknown())), PARAM, False),
    ],
)
def test_which_leaves_pass(of: Filter, leaf: TypeInfo, expected: bool | None) -> None:
    assert passes(of, Instance(leaf, [])) is expected


def test_a_leaf_of_several_or_no_known_types() -> None:
    either = UnionType([Instance(PARAM, []), Instance(LORA, [])])
    mixed = UnionType([Instance(PARAM, []), Instance(STAT, [])])
    assert passes(Param, either) is True
    assert passes(Param, mixed) is None
    assert passes(Param, AnyType(TypeOfAny.special_form)) is None


@pytest.mark.parametrize(
    ("of", "path", "expected"),
    [
        (PathContains("a"), ("b", "a"), True),
        (PathContains("a"), ("ab",), False),
        (PathContains("a", exact=False), ("cab",), True),
        (PathContains(0), ("a", 0), True),
        (PathContains("a"), (None,), None),
        (PathContains("a"), (None, "a"), True),
        (PathIn((("a", 0),)), ("a", 0), True),
        (PathIn((("a", 0),)), ("a",), False),
        (PathIn((("a", 0),)), ("a", 0, 1), False),
        (PathIn((("a", 0),)), ("a", None), None),
        (negation(PathContains("a")), ("a",), False),
    ],
)
def test_which_paths_pass(
    of: Filter, path: tuple[str | int | None, ...], expected: bool | None
) -> None:
    assert passes(of, Instance(PARAM, []), path) is expected


def test_filters_below_a_key_answer_as_those_with_the_whole_path() -> None:
    leaf = Instance(PARAM, [])
    for of, first, second in itertools.product(FILTERS, ["a", "b", 0, None], ["a", 3, None]):
        assert passes(below(of, first), leaf, (second,)) is passes(of, leaf, (first, second))


def test_filters_in_order_leave_the_rest() -> None:
    assert in_order([Param, Stat, Everything()]) == [Param, Stat, negation(any_of((Param, Stat)))]
    assert in_order([Lora, Param]) == [Lora, all_of((Param, negation(Lora)))]
    assert in_order([Everything(), Param]) == [Everything(), Nothing()]


@pytest.mark.parametrize(
    ("narrow", "wide", "expected"),
    [
        (Param, Param, True),
        (Lora, Param, True),
        (Param, Lora, False),
        (Param, Everything(), True),
        (Everything(), any_of((Param, negation(Param))), True),
        (Everything(), any_of((Param, Stat)), False),
        (negation(Param), negation(Lora), True),
        (negation(Lora), negation(Param), False),
        (all_of((Param, PathContains("a"))), Param, True),
        (Param, all_of((Param, PathContains("a"))), False),
        (any_of((Param, Stat)), Param, False),
        (Unknown(), Unknown(), False),
    ],
)
def test_what_is_surely_taken_by_another(narrow: Filter, wide: Filter, expected: bool) -> None:
    assert implies(narrow, wide) is expected


def test_what_is_implied_passes() -> None:
    leaves = [Instance(each, []) for each in (PARAM, LORA, STAT, VARIABLE, ARRAY)]
    for narrow, wide in itertools.product([*FILTERS, Stat, Lora], repeat=2):
        if implies(narrow, wide):
            for leaf, path in itertools.product(leaves, [(), ("a",), ("a", 0), ("b", 3)]):
                assert not (passes(narrow, leaf, path) and passes(wide, leaf, path) is False)
