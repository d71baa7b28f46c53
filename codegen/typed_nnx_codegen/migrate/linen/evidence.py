"""What a project gives for the fields of its modules, wherever it constructs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOT_KNOWN
from typed_nnx_codegen.migrate.analysis.values import External, ProjectClass
from typed_nnx_codegen.migrate.linen.classes import Field, LinenClass, LinenClasses
from typed_nnx_codegen.migrate.linen.frames import Frame
from typed_nnx_codegen.migrate.linen.values import Value

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.executor import Executor


class Evidence:
    """Collects the arguments of the constructors of modules.

    Args:
        classes: The Linen modules of the project.
    """

    def __init__(self, classes: LinenClasses) -> None:
        self._classes = classes
        self._found: dict[tuple[LinenClass, str], list[tuple[cst.BaseExpression, Analysis]]] = {}
        self._is_read = False

    def of(self, one: Field, executor: Executor, frame: Frame) -> list[Value]:
        """Return what callers give for a field, where it is a name of their file."""
        if not self._is_read:
            self._is_read = True
            for analysis in self._classes.analyses:
                self._read(analysis)
        found: list[Value] = []
        for (cls, name), given in self._found.items():
            if name == one.name and one.owner in cls.ancestry():
                found += [
                    value
                    for node, analysis in given
                    if (value := executor.value_of_file(node, _at(analysis, frame))) is not None
                ]
        return found

    def _read(self, analysis: Analysis) -> None:
        for call in analysis.nodes.of(cst.Call):
            target: cst.BaseExpression = call.func
            args = list(call.args)
            value = analysis.values.get(target, NOT_KNOWN)
            if isinstance(value, External) and value.name == "functools.partial" and args:
                target = args[0].value
                args = args[1:]
                value = analysis.values.get(target, NOT_KNOWN)
            if not isinstance(value, ProjectClass):
                continue
            cls = self._classes.of(value)
            if cls is None:
                continue
            names = [field.name for field in cls.fields()]
            for position, arg in enumerate(args):
                if arg.star:
                    break
                if arg.keyword is not None:
                    name = arg.keyword.value
                elif position < len(names):
                    name = names[position]
                else:
                    continue
                self._found.setdefault((cls, name), []).append((arg.value, analysis))


def _at(analysis: Analysis, frame: Frame) -> Frame:
    return Frame(frame.recorder, analysis, records=False)
