"""What is a TrainState, what are its parameters, in the values of the analysis."""

from __future__ import annotations

from collections.abc import Callable

from typed_nnx_codegen.migrate.analysis.linen_training import MODEL_PARAMS, OPT_STATE, TRAIN_STATE
from typed_nnx_codegen.migrate.analysis.values import (
    Collection,
    External,
    Instance,
    Method,
    ProjectClass,
    ProjectFunction,
    Value,
    Wrapped,
    options_of,
    without_none,
)


class NotKnownError(Exception):
    """The training code does something with its state that has no known form in NNX."""


def is_state_class(value: Value | str) -> bool:
    """Whether a value is TrainState, or a class of the program right below it."""
    if isinstance(value, str):
        return value == TRAIN_STATE
    if isinstance(value, External):
        return value.name == TRAIN_STATE
    return isinstance(value, ProjectClass) and any(
        isinstance(base, External) and base.name == TRAIN_STATE for base in value.bases
    )


def is_state(value: Value) -> bool:
    """Whether a value is surely a TrainState."""
    return _is_object(value, is_state_class)


def is_params(value: Value) -> bool:
    """Whether a value is surely the parameters of a TrainState."""
    return _is_object(value, lambda cls: cls == MODEL_PARAMS)


def is_opt_state(value: Value) -> bool:
    """Whether a value is surely the state of a transformation of optax."""
    return _is_object(value, lambda cls: cls == OPT_STATE)


def is_changing(value: Value) -> bool:
    """Whether a value is what NNX changes in place: a TrainState, parameters, an optimizer."""
    return is_state(value) or is_params(value) or is_opt_state(value)


def _is_object(value: Value, test: Callable[[ProjectClass | str], bool]) -> bool:
    options = options_of(without_none(value))
    return all(isinstance(one, Instance) and test(one.cls) for one in options)


def holds_state(value: Value) -> bool:
    """Whether a state, or its parameters, may be in a value."""
    for option in options_of(value):
        if isinstance(option, Collection):
            if holds_state(option.element) or any(map(holds_state, option.items or ())):
                return True
        elif is_changing(option):
            return True
    return False


def function_of(value: Value) -> ProjectFunction | None:
    """Return the function of the program that a value is, under transforms or not."""
    while isinstance(value, Wrapped):
        value = value.function
    if isinstance(value, Method):
        return value.function
    return value if isinstance(value, ProjectFunction) else None
