"""Plans what callers are written like, for the files of a project."""

from __future__ import annotations

from collections.abc import Callable

from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.callers.caller_plan import CallerPlan
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions
from typed_nnx_codegen.migrate.linen.callers.kinds import Kinds
from typed_nnx_codegen.migrate.linen.callers.leftovers import mark_leftovers
from typed_nnx_codegen.migrate.linen.callers.path_names import PathNames, write_path_names
from typed_nnx_codegen.migrate.linen.callers.training import Found, training_in
from typed_nnx_codegen.migrate.linen.callers.writing import Writing
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass, LinenClasses
from typed_nnx_codegen.migrate.linen.plan import ClassPlan


class Callers:
    """The code of a project outside of its modules.

    Args:
        classes: The modules of the project.
        plan_of: Gives the plan of a module.
    """

    def __init__(self, classes: LinenClasses, plan_of: Callable[[LinenClass], ClassPlan]) -> None:
        self._classes = classes
        self._plan_of = plan_of
        self._constructions: Constructions | None = None
        self._kinds: Kinds | None = None
        self._training = Found()
        self._plans: list[ClassPlan] = []

    def plan(self, file: File) -> CallerPlan:
        """Return what is written differently in a file, outside of modules."""
        if self._constructions is None or self._kinds is None:
            every = [cls for one in self._classes.analyses for cls in self._classes.all_in(one)]
            self._plans = [self._plan_of(cls) for cls in every]
            self._constructions = Constructions(self._classes, self._plans)
            analyses = tuple(self._classes.analyses)
            self._kinds = Kinds(self._constructions, self._plan_of)
            self._training = training_in(analyses, self._constructions, self._kinds, self._plan_of)
        writing = Writing(file, self._constructions, self._kinds, self._plan_of, self._training)
        writing.run()
        names = PathNames(self._plans)
        write_path_names(file, self._constructions, names, writing.plan)
        mark_leftovers(file, self._constructions, writing.plan)
        return writing.plan
