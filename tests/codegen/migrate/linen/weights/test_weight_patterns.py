"""Which paths match a path with names in braces, and what the names stand for."""

from __future__ import annotations

import pytest

from typed_nnx_codegen.migrate.weight_patterns import BadPattern, pattern

MATCHES = {
    "plain": ("params/a", "params/a", {}),
    "a whole part": ("params/{name}/b", "params/x_1/b", {"name": "x_1"}),
    "a piece of a part": ("params/Dense_{i}", "params/Dense_12", {"i": "12"}),
    "the same name twice": ("params/a_{i}/b_{i}", "params/a_3/b_3", {"i": "3"}),
    "a longer path": ("params/a", "params/a/b/c", {}),
    "a number with an offset": ("params/Dense_{i+1}", "params/Dense_3", {"i": "2"}),
    "every second number": ("params/Dense_{2*i}", "params/Dense_4", {"i": "2"}),
    "the others": ("params/Dense_{2*i+1}", "params/Dense_5", {"i": "2"}),
    "letters of expressions": ("params/a.b+", "params/a.b+", {}),
}
MISMATCHES = {
    "another name": ("params/a", "params/b"),
    "a shorter path": ("params/a/b", "params/a"),
    "an empty piece": ("params/Dense_{i}", "params/Dense_"),
    "two values for one name": ("params/a_{i}/b_{i}", "params/a_3/b_4"),
    "a negative number": ("params/Dense_{i+1}", "params/Dense_0"),
    "an odd number": ("params/Dense_{2*i}", "params/Dense_3"),
    "no number": ("params/Dense_{i+1}", "params/Dense_x"),
    "a dot that is no dot": ("params/a.b", "params/axb"),
}


@pytest.mark.parametrize("name", MATCHES)
def test_a_path_matches_and_binds_its_names(name: str) -> None:
    text, path, bindings = MATCHES[name]

    assert pattern(text, "/").matched(path.split("/")) == bindings


@pytest.mark.parametrize("name", MISMATCHES)
def test_a_path_does_not_match(name: str) -> None:
    text, path = MISMATCHES[name]

    assert pattern(text, "/").matched(path.split("/")) is None


def test_names_are_put_into_the_target() -> None:
    assert pattern("blocks.{i}.{j+1}.x_{2*i+1}", ".").written({"i": "2", "j": "0"}) == (
        "blocks",
        "2",
        "1",
        "x_5",
    )


def test_a_bound_value_with_a_dot_stays_one_part() -> None:
    assert pattern("blocks.{name}", ".").written({"name": "a.b"}) == ("blocks", "a.b")


def test_a_number_cannot_be_computed_from_text() -> None:
    with pytest.raises(BadPattern, match="a number is computed from it"):
        pattern("blocks.{i+1}", ".").written({"i": "x"})


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("params/a/b", "params/a"),
        ("params/Dense_0", "params/Dense_{i}"),
        ("params/Dense_{i}", "params/{name}"),
        ("params/Dense_{2*i}", "params/Dense_{i}"),
        ("params/Dense_{i}", "params/D{i}"),
    ],
)
def test_the_more_exact_path_weighs_more(more: str, less: str) -> None:
    assert pattern(more, "/").weight > pattern(less, "/").weight
