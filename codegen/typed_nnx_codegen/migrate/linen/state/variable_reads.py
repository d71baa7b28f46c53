"""Reads of variables through their module: `self.encoder.variables["params"]["embed"]["kernel"]`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Entry, Site, given_of
from typed_nnx_codegen.migrate.linen.running.frames import Evaluate, Frame, Recorder, VariableRead
from typed_nnx_codegen.migrate.linen.running.references import ModuleValue, SelfValue
from typed_nnx_codegen.migrate.linen.running.values import Array, Seq, Value
from typed_nnx_codegen.migrate.linen.shapes.operands import wanted_shape

_MESSAGE: Final = "which variable this is in `.variables` is not known"
# The settings of a layer that are the shape of a variable.
_SHAPES: Final = {("flax.linen.Embed", "embedding"): ("num_embeddings", "features")}


class VariableReads:
    """Finds such reads, and writes them as attributes.

    Args:
        evaluate: Goes through an expression.
    """

    def __init__(
        self,
        evaluate: Evaluate,
    ) -> None:
        self._evaluate = evaluate

    def read(self, node: cst.Subscript, frame: Frame) -> Value | None:
        """Return the variable that an expression reads; None where it is something else."""
        found = _path(node)
        if found is None:
            return None
        owner, path = found
        site: Site | None = None
        match self._evaluate(owner, frame):
            case SelfValue() as instance if instance is frame.instance:
                pass
            case ModuleValue(site=given) if not (given.transforms or given.alternatives):
                site = given
            case _:
                return None
        if frame.records and frame.recorder.is_recording:
            frame.recorder.reads.append(VariableRead(node, owner, site, path))
        return _value(site, path)


def write_reads(recorder: Recorder, plan_of: Callable[[LinenClass], ClassPlan]) -> None:
    """Write the reads of a module, whose variables are known now."""
    for read in recorder.reads:
        target = recorder.plan.cls if read.site is None else read.site.target
        place = _place(read.path, _entries(target, read.site, recorder, plan_of))
        if place is None:
            recorder.mark(read.node, _MESSAGE)
        else:
            own = recorder.variables.get(read.path) if read.site is None else None
            is_array = own is None or isinstance(own.value, Array)
            reading = "[...]" if is_array else ".get_value()"
            recorder.replace(read.node, f"{code_of(read.owner)}{place}{reading}")


def _entries(
    target: str | LinenClass,
    site: Site | None,
    recorder: Recorder,
    plan_of: Callable[[LinenClass], ClassPlan],
) -> Iterable[Entry]:
    """Return the variables of what is read from."""
    if site is None:
        return recorder.plan.entries
    if isinstance(target, LinenClass):
        plan = plan_of(target)
        return [] if plan.stays or not plan.is_done else plan.entries
    layer = find_layer(target)
    if layer is None or site.is_bridged:
        return []
    return [
        Entry(one.linen, one.nnx)
        for one in layer.variables(given_of(site))
        if one.transpose is None and one.reshape is None
    ]


def _place(path: str, entries: Iterable[Entry]) -> str | None:
    """Return the attributes that lead to a variable: ``.layers[0].kernel``."""
    for entry in entries:
        names = [*re.finditer(r"\{(\w+)\}", entry.linen)]
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(entry.linen))
        match = re.fullmatch(pattern, path) if len({m[1] for m in names}) == len(names) else None
        if match is None:
            continue
        if entry.to is None or entry.change:
            return None
        parts = entry.to.format_map(match.groupdict()).split(".") if names else entry.to.split(".")
        if not all(part.isidentifier() or part.isdecimal() for part in parts):
            return None
        return "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts)
    return None


def _path(node: cst.Subscript) -> tuple[cst.BaseExpression, str] | None:
    """Return the module and the path of `module.variables["params"]["kernel"]`."""
    keys: list[str] = []
    current: cst.BaseExpression = node
    while isinstance(current, cst.Subscript):
        match current.slice:
            case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]:
                keys.insert(0, str(key.evaluated_value))
            case _:
                return None
        current = current.value
    match current:
        case cst.Attribute(value=owner, attr=cst.Name(value="variables")) if len(keys) > 1:
            return (owner, "/".join(keys)) if _is_name(owner) else None
    return None


def _is_name(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def _value(site: Site | None, path: str) -> Array:
    """Return what is known of a variable."""
    name = path.rpartition("/")[2]
    settings = _SHAPES.get((str(site.target), name)) if site is not None else None
    if site is None or settings is None or path.count("/") != 1:
        return Array()
    given = [site.given.get(setting) for setting in settings]
    if any(one is None for one in given):
        return Array()
    return Array(wanted_shape(Seq(tuple(one.value for one in given if one is not None))))
