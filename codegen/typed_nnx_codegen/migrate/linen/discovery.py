"""Reads what the modules of a project give each other, before any of them is planned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass, LinenClasses
from typed_nnx_codegen.migrate.linen.modules.field_facts import FieldFacts
from typed_nnx_codegen.migrate.linen.plan import Site
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.references import SelfValue
from typed_nnx_codegen.migrate.linen.running.values import Array
from typed_nnx_codegen.migrate.linen.sizes.given_numbers import size_fields

_MOST_ROUNDS: Final = 6


class Discovery:
    """Goes through all modules until nothing new is found of their fields.

    Args:
        classes: The Linen modules of the project.
        facts: What is found.
        explored: Goes through a module; None where that fails.
        has_output: Whether the constructor of a module that was gone through can say the last
            size of what it returns.
    """

    def __init__(
        self,
        classes: LinenClasses,
        facts: FieldFacts,
        explored: Callable[[LinenClass], Recorder | None],
        has_output: Callable[[Recorder], bool],
    ) -> None:
        self._has_output = has_output
        self._classes = classes
        self._facts = facts
        self._explored = explored
        self._sites: dict[LinenClass, list[Site]] = {}

    def run(self) -> None:
        """Find what the constructions of modules give for their fields."""
        every = [cls for one in self._classes.analyses for cls in self._classes.all_in(one)]
        pending = every
        for _ in range(_MOST_ROUNDS):
            for cls in pending:
                self._look(cls)
            changed = self._note(every)
            changed |= {cls for cls in every if cls in changed and self._is_refused(cls)}
            if not changed:
                return
            # What a module is given says what others give on, and what its objects return.
            pending = every

    def _look(self, cls: LinenClass) -> None:
        recorder = self._explored(cls)
        if recorder is not None:
            self._sites[cls] = recorder.plan.sites
            instance = recorder.instance
            assert isinstance(instance, SelfValue)
            for value in instance.fields.values():
                self._facts.note_inner(value)
            self._facts.note_output(cls, self._has_output(recorder))

    def _note(self, every: list[LinenClass]) -> set[LinenClass]:
        """Note what sites give; return the modules whose fields are seen in a new light."""
        for sites in self._sites.values():
            for site in (other for one in sites for other in (one, *one.alternatives)):
                for bound in site.given.values():
                    self._facts.note_inner(bound.value)
                if isinstance(site.target, LinenClass):
                    self._facts.note(site.target, site.given)
        changed = set(self._facts.changed)
        self._facts.changed.clear()
        return {cls for cls in every if any(base in changed for base in cls.ancestry())}

    def _is_refused(self, cls: LinenClass) -> bool:
        """Keep fields in the constructor where submodules of the module need them there."""
        if not any(self._facts.is_of_call(cls, one.name) for one in cls.fields()):
            return False
        moved = self._explored(cls)
        self._facts.pause(cls)
        kept = self._explored(cls)
        self._facts.resume()
        if moved is None or kept is None or self._worth(moved) <= self._worth(kept):
            return False
        return self._facts.refuse(cls, size_fields(self._facts, kept.plan.sites))

    def _worth(self, recorder: Recorder) -> int:
        """Return how much of a module is not known."""
        found = len(recorder.plan.marks)
        for site in recorder.plan.sites:
            for name, bound in site.given.items():
                if bound.code is None and not self._moves(site, name):
                    found += 1
            for _, _, values in site.calls:
                found += sum(
                    isinstance(value, Array) and value.shape.axis(-1) is None
                    for value in values.values()
                )
        return found

    def _moves(self, site: Site, name: str) -> bool:
        bound = site.given[name]
        if any(True for _ in self._facts.moved(bound.value)):
            return True
        return self._facts.is_moved(site.target, name)
