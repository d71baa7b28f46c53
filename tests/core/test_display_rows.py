"""The rules of showing objects that flax does not share, and the protocol behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.shown import Lines
from typed_nnx._core import display
from typed_nnx._core.display_rows import Size, size_text

from .shown import bag, pair

# -- where flax fails or misleads --------------------------------------------------------------


def test_a_list_that_holds_itself_is_cut() -> None:
    items: Any = nnx.List([])
    items.append(items)
    assert repr(items) == "List([\n  List([...])\n])"


def test_a_variable_that_holds_its_module_is_cut() -> None:
    module = bag(nnx)
    module.p = nnx.Param(module)
    assert "Bag(...)" in repr(module)


def test_a_plain_list_that_holds_itself_is_cut() -> None:
    items: list[Any] = [1]
    items.append(items)
    assert repr(nnx.Param(1, note=items)) == "Param(\n  value=1,\n  note=[1, [...]]\n)"


def test_dict_keys_that_do_not_sort_stay_in_order() -> None:
    class Settings(nnx.Object):
        def __init__(self) -> None:
            self.x = {"z": 1, 2: 3}

    assert repr(Settings()) == "Settings(\n  x={'z': 1, 2: 3}\n)"


def test_a_deleted_array_is_shown_as_deleted() -> None:
    x = pair() + 1
    variable = nnx.Param(x)
    x.delete()
    assert "value=<deleted Array(shape=(2,), dtype=dtype('float32'))>" in repr(variable)


def test_an_object_after_a_failed_repr_is_shown_in_full() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise ZeroDivisionError

    module = bag(nnx, x=1, y=nnx.static(Broken()))
    with pytest.raises(ZeroDivisionError):
        repr(module)
    module.y = nnx.static(2)
    assert repr(module) == "Bag(\n  x=1,\n  y=2\n)"


def test_text_is_never_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in repr(bag(nnx, p=nnx.Param(pair())))


# -- the protocol ------------------------------------------------------------------------------


class Custom(display.Representable):
    def __nnx_repr__(self) -> display.Rows:
        yield display.ObjectHeader("Mine", "<", ">", "->", comment=lambda: "note")
        yield display.Attribute("k", [1, Lines()])
        yield display.Attribute(None, "x", start="(", end=")")


def test_an_object_may_yield_rows_of_its_own() -> None:
    assert repr(Custom()) == "Mine< # note\n  k->[1, Lines(\n    x\n  )],\n  ('x')\n>"


def test_rows_without_a_header_are_an_error_that_says_so() -> None:
    class Headless(display.Representable):
        def __nnx_repr__(self) -> display.Rows:
            yield display.Attribute("k", 1)

    with pytest.raises(TypeError, match="must yield an ObjectHeader first"):
        repr(Headless())


def test_a_size_is_written_with_separators_and_units() -> None:
    assert size_text(Size(1_000_000, 4_000_000)) == "1,000,000 (4.0 MB)"


def test_counting_visits_each_node_once() -> None:
    visits = 0

    class Counted(nnx.Param):
        def get_raw_value(self) -> Any:
            nonlocal visits
            visits += 1
            return super().get_raw_value()

    module = bag(nnx, p=Counted(1))
    for _ in range(50):
        module = bag(nnx, inner=module)
    repr(module)
    assert visits <= 3


# -- treescope ---------------------------------------------------------------------------------

treescope = pytest.importorskip("treescope")


@pytest.mark.parametrize(
    "make",
    [
        lambda lib: lib.Param(pair(), note=1),
        lambda lib: bag(lib, a=lib.Param(pair()), b=1, c=bag(lib, w=lib.Param(pair()))),
        lambda lib: bag(lib),
        lambda lib: lib.State({"a": {"b": lib.Param(pair())}}),
        lambda lib: lib.Rngs(0),
    ],
    ids=["variable", "module", "empty", "state", "rngs"],
)
def test_treescope_shows_what_it_shows_of_flax(make: Callable[[Any], Any]) -> None:
    ours, theirs = make(nnx), make(flax_nnx)
    assert treescope.render_to_text(ours) == treescope.render_to_text(theirs)
    assert "<" in treescope.render_to_html(ours)


def test_treescope_shows_containers_as_what_they_are() -> None:
    assert treescope.render_to_text(nnx.List([1, nnx.Param(2)])) == "List([1, Param(value=2)])"
    assert treescope.render_to_text(nnx.Dict(a=1)) == "Dict({'a': 1})"
