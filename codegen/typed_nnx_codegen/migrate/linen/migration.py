"""Migrates the Linen code of files: all are read first, then each is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.import_statements import finish_imports
from typed_nnx_codegen.migrate.linen.classes import LinenClasses
from typed_nnx_codegen.migrate.linen.emission import Emission
from typed_nnx_codegen.migrate.linen.linen_names import nnx_name
from typed_nnx_codegen.migrate.linen.plan import ClassPlan
from typed_nnx_codegen.migrate.linen.planner import Planner
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project


@dataclass(frozen=True)
class LinenResult:
    """What became of a file.

    Attributes:
        path: The file.
        before: Its text.
        after: Its text when migrated; the same where it has nothing of Linen.
        plans: The modules that it defines.
    """

    path: Path
    before: str
    after: str
    plans: tuple[ClassPlan, ...] = field(default=())

    @property
    def map(self) -> dict[str, object]:
        """The weight map, as JSON has it."""
        classes: dict[str, object] = {}
        for plan in self.plans:
            lifted: list[dict[str, object]] = []
            for one in plan.lifted:
                if one.argument:
                    lifted.append({"name": one.name, "expr": one.expression})
                else:
                    lifted.append({"name": one.name})
            variables = {
                one.linen: {"to": one.to, **one.change} if one.change else one.to
                for one in plan.entries
            }
            classes[plan.cls.name] = {"lifted": lifted, "variables": variables}
        return {"version": 1, "classes": classes}


def migrate_linen(
    paths: Sequence[Path], roots: Sequence[Path], options: Options
) -> list[LinenResult]:
    """Migrate files; nothing is written.

    Args:
        paths: The files.
        roots: What imports may lead to.
        options: What is asked for.
    """
    project = Project(tuple(roots))
    found = {path: project.analysis_of(path) for path in paths}
    classes = LinenClasses([one for one in found.values() if one is not None])
    planner = Planner(classes)
    files = {
        path: File(one, options) for path, one in found.items() if one is not None
    }
    for file in files.values():
        planner.executor.refer = _Refer(file)
        for cls in classes.all_in(file.analysis):
            planner.plan_of(cls)
    results: list[LinenResult] = []
    for path, analysis in found.items():
        if analysis is None:
            continue
        results.append(_written(path, analysis, files[path], classes, planner))
    return results


class _Refer:
    """Spells public names in a file.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file

    def __call__(self, public: str) -> str:
        """Return the expression for a public name."""
        if public.startswith("builtins."):
            return public.removeprefix("builtins.")
        return code_of(self._file.refer(nnx_name(public) or public))


def _written(
    path: Path, analysis: Analysis, file: File, classes: LinenClasses, planner: Planner
) -> LinenResult:
    tree = analysis.tree
    before = tree.code
    modules = classes.all_in(analysis)
    if not modules:
        return LinenResult(path, before, before)
    after = tree.visit(Emission(file, classes, planner.plan_of))
    assert isinstance(after, cst.Module)
    code = finish_imports(tree, after, file).code
    return LinenResult(path, before, code, tuple(planner.plan_of(cls) for cls in modules))
