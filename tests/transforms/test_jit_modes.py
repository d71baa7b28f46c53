"""`jit`: what `graph=False` and `graph_updates=False` demand, and when a mode is read."""

from __future__ import annotations

import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.jit_models import counter, in_fixed_modes, pair


def shared_inside(lib):
    model = pair(lib)
    model.layers[1] = model.layers[0]
    return (model,)


def shared_between(lib):
    model = pair(lib)
    return model, model.layers[0].count


@both
@pytest.mark.parametrize("arguments", [shared_inside, shared_between])
def test_trees_must_not_share(lib, arguments):
    with pytest.raises(ValueError, match="(?s)Duplicate.*layers"):
        lib.jit(lambda *args: 0, graph=False)(*arguments(lib))


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        (shared_inside, r"(?s)\[0\]\.layers\[0\].*\[0\]\.layers\[1\]"),
        (shared_between, r"(?s)\[0\]\.layers\[0\]\.count.*\[1\]"),
    ],
)
def test_the_error_of_sharing_in_a_tree_names_both_paths_as_one_writes_them(arguments, places):
    with pytest.raises(ValueError, match=places):
        nnx.jit(lambda *args: 0, graph=False)(*arguments(nnx))


@both
@in_fixed_modes
@pytest.mark.parametrize(
    "result",
    [lambda m: m, lambda m: {"a": m.kernel}, lambda m: [m.count]],
    ids=["module", "variable", "other_variable"],
)
def test_without_updates_an_input_must_not_come_out(lib, modes, result):
    with pytest.raises(ValueError, match=r"(?s)count|kernel"):
        lib.jit(result, **modes)(counter(lib))


@both
def test_a_tree_must_not_come_out_shared(lib):
    def build():
        model = counter(lib)
        return [model, model]

    with pytest.raises(ValueError, match=r"(?s)\[0\].*\[1\]"):
        lib.jit(build, graph=False)()


@both
def test_the_default_mode_is_read_when_the_function_is_decorated(lib):
    model = counter(lib)
    grows = lib.jit(lambda m: m)
    with lib.set_graph_updates(False):
        fixed = lib.jit(lambda m: m)
        assert grows(model) is model
    with pytest.raises(ValueError, match="count"):
        fixed(model)


@both
def test_trees_have_no_updates_whatever_is_asked(lib):
    with pytest.raises(ValueError, match="count"):
        lib.jit(lambda m: m, graph=False, graph_updates=True)(counter(lib))
