"""Arguments that calls of a submodule give on one side of a branch of the constructor only."""

from __future__ import annotations

from typed_nnx_codegen.migrate.linen.lists.grown_lists import is_of_fields
from typed_nnx_codegen.migrate.linen.plan import Condition, Lifted, Site
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.values import NONE, OPEN, Array


def given_when(value: Array, site: Site, lifted: Lifted, recorder: Recorder) -> str:
    """Return the condition on which calls give an argument; empty where none decides it.

    Args:
        value: The argument.
        site: The submodule.
        lifted: The parameter of its constructor that is for the argument.
        recorder: What was seen of the module that has it.
    """
    given: list[tuple[Condition, ...]] = []
    absent: list[tuple[Condition, ...]] = []
    if not lifted.is_optional:
        return ""
    if value.condition not in ("", OPEN):
        return value.condition
    if len(site.call_conditions) != len(site.calls):
        return ""
    for (_, method, values), conditions in zip(site.calls, site.call_conditions, strict=True):
        if method == lifted.method and isinstance(values.get(lifted.argument), Array):
            given.append(conditions)
        elif method == lifted.method and values.get(lifted.argument, NONE) == NONE:
            absent.append(conditions)
    if not given or not absent:
        return ""
    for one in given[0]:
        sides = {_side(one.number, conditions) for conditions in given}
        others = {_side(one.number, conditions) for conditions in absent}
        code = recorder.branch_codes.get(one.number, "")
        if sides == {one.side} and others == {not one.side} and code and is_of_fields(code):
            return code if one.side else f"not ({code})"
    return ""


def _side(number: int, conditions: tuple[Condition, ...]) -> bool | None:
    return next((one.side for one in conditions if one.number == number), None)
