"""`with_attributes`, `view` and `view_info`; compared with flax.nnx."""

from __future__ import annotations

import functools
import typing as tp

import jax.numpy as jnp

import typed_nnx as nnx
from tests.support.peer import (
    Scenario,
    assert_as_in_flax,
    assert_refused_as_in_flax,
    scenarios,
)


@functools.cache
def model_class(nnx: tp.Any) -> tp.Any:
    class Dropout(nnx.Module):
        def __init__(self) -> None:
            self.deterministic, self.rate = False, 0.5

        def set_view(self, deterministic: bool | None = None) -> None:
            """Set the mode.

            Args:
                deterministic: whether nothing is dropped.
            """
            if deterministic is not None:
                self.deterministic = deterministic

    class Norm(nnx.Module):
        def __init__(self) -> None:
            self.scale = nnx.Param(jnp.ones(2))
            self.use_running_average = False

        def set_view(self, use_running_average: bool | None = None) -> None:
            """Set the mode.

            Args:
                use_running_average: whether to use stored statistics.
            """
            if use_running_average is not None:
                self.use_running_average = use_running_average

    class Model(nnx.Module):
        def __init__(self) -> None:
            self.first, self.blocks = Dropout(), nnx.List([Dropout(), Norm()])
            self.again = self.blocks[1]

    for cls in (Dropout, Norm, Model):
        cls.__qualname__ = cls.__name__
    Model.Dropout, Model.Norm = Dropout, Norm
    return Model


NAMES = ("deterministic", "rate", "use_running_average")


def flags(nnx: tp.Any, model: tp.Any) -> tp.Any:
    return {
        path: {name: getattr(m, name) for name in NAMES if hasattr(m, name)}
        for path, m in nnx.iter_modules(model)
    }


def other_attributes(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    made = nnx.with_attributes(model, deterministic=True, rate=0.1)
    return (
        flags(nnx, made), flags(nnx, model), made.again is made.blocks[1],
        made.again.scale is model.again.scale, made.first is model.first,
    )  # fmt: skip


def other_attributes_of_some(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    found = [
        nnx.with_attributes(model, only=nnx.PathContains("blocks"), deterministic=True),
        nnx.with_attributes(model, only=model.Norm, use_running_average=True),
        nnx.with_attributes(model, raise_if_not_found=False, nope=1, rate=0.3),
    ]
    return [flags(nnx, made) for made in found]


def viewed(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    made = nnx.view(model, deterministic=True, use_running_average=True)
    some = nnx.view(model, only=model.Dropout, deterministic=True)
    return (
        flags(nnx, made), flags(nnx, model), flags(nnx, some), made.again.scale is model.again.scale
    )  # fmt: skip


def viewed_with_unknown_arguments(nnx: tp.Any) -> tp.Any:
    return flags(nnx, nnx.view(model_class(nnx)(), raise_if_not_found=False, nope=1))


@scenarios(other_attributes, other_attributes_of_some, viewed, viewed_with_unknown_arguments)
def test_views_are_what_they_are_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def unknown_attribute(nnx: tp.Any) -> tp.Any:
    return nnx.with_attributes(model_class(nnx)(), nope=1)


def unknown_argument(nnx: tp.Any) -> tp.Any:
    return nnx.view(model_class(nnx)(), nope=1)


@scenarios(unknown_attribute, unknown_argument)
def test_what_flax_refuses_is_refused(scenario: Scenario) -> None:
    assert_refused_as_in_flax(scenario)


def test_view_info_names_classes_arguments_and_texts() -> None:
    lines = [line.strip() for line in nnx.view_info(model_class(nnx)()).splitlines()]
    assert lines == [
        "Dropout:", "deterministic: 'bool | None' = None", "whether nothing is dropped.",
        "Norm:", "use_running_average: 'bool | None' = None", "whether to use stored statistics.",
    ]  # fmt: skip
    only = nnx.view_info(model_class(nnx)(), only=model_class(nnx).Norm)
    assert "Dropout" not in only
    assert nnx.view_info(nnx.List([])) == ""
