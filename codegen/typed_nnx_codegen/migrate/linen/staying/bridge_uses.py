"""Code that holds Linen modules in a bridge already: `bridge.ToNNX(Old(...))`; it stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, ProjectClass, options_of
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass, LinenClasses

_BRIDGE: Final = "nnx.bridge.ToNNX"


def bridge_arguments(analysis: Analysis) -> Iterator[cst.BaseExpression]:
    """Yield the Linen modules that a file gives to a bridge, as they are written."""
    for call in analysis.nodes.of(cst.Call):
        value = analysis.values.get(call.func, UNKNOWN)
        if isinstance(value, External) and value.public == _BRIDGE and call.args:
            yield call.args[0].value


def code_in_bridges(analysis: Analysis) -> set[cst.CSTNode]:
    """Return the code of a file that is given to a bridge."""
    return {below for node in bridge_arguments(analysis) for below in descendants(node)}


def bridged_classes(analyses: Iterable[Analysis], classes: LinenClasses) -> Iterator[LinenClass]:
    """Yield the Linen modules of a project that bridges hold."""
    for analysis in analyses:
        for node in code_in_bridges(analysis):
            for option in options_of(analysis.values.get(node, UNKNOWN)):
                found = classes.of(option) if isinstance(option, ProjectClass) else None
                if found is not None:
                    yield found
