"""`--gradual`: modules that need a person stay in Linen, and NNX modules hold them in a bridge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectClass, options_of
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass, LinenClasses
from typed_nnx_codegen.migrate.linen.plan import ClassPlan


@dataclass(frozen=True)
class Kept:
    """A module that stays in Linen.

    Attributes:
        why: The reason.
        problem: What went wrong: a bug of ours; empty where it is for another reason.
        updates: Whether calls may change variables other than parameters.
    """

    why: str
    problem: str = ""
    updates: bool = True


@dataclass
class Gradual:
    """The modules that stay.

    Attributes:
        kept: Each with the reason.
        wraps_layers: Whether layers that NNX does not have are held in a bridge, too.
    """

    kept: dict[LinenClass, Kept] = field(default_factory=dict)
    wraps_layers: bool = True

    def keep_bridged(self, found: Iterable[LinenClass], classes: LinenClasses) -> None:
        """Keep the modules that code holds in bridges already, and those that go with them."""
        waiting = list(found)
        while waiting:
            cls = waiting.pop()
            if cls not in self.kept:
                self.kept[cls] = Kept("`ToNNX` holds it, or a module that uses it")
                waiting += [*cls.ancestry(), *_named_in([cls.node], cls, classes)]

    def keep_read(self, read: Iterable[LinenClass]) -> None:
        """Keep the modules of files that are not migrated."""
        for cls in read:
            self.kept.setdefault(cls, Kept(f"{cls.analysis.path.name} is not migrated"))

    def keep(self, plans: Mapping[LinenClass, ClassPlan], classes: LinenClasses) -> bool:
        """Keep the modules whose plans need a person, and those that go with them.

        Returns:
            Whether there are new ones.
        """
        found: dict[LinenClass, str] = {}
        for cls, plan in plans.items():
            if cls not in self.kept and (plan.stays or plan.marks):
                found[cls] = plan.stays or _reason(plan)
        waiting = list(found)
        while waiting:
            cls = waiting.pop()
            for other, why in _tied(cls, plans, classes):
                if other not in found and other not in self.kept:
                    found[other] = why
                    waiting.append(other)
        for cls, why in found.items():
            plan = plans[cls]
            self.kept[cls] = Kept(why, plan.problem, _updates(plan))
        return bool(found)


def _reason(plan: ClassPlan) -> str:
    first = plan.marks[0].message
    rest = len(plan.marks) - 1
    return f"{first} (and {rest} more)" if rest else first


def _updates(plan: ClassPlan) -> bool:
    """Whether calls of a module may change variables, as far as its plan tells."""
    return not plan.entries or any(not one.linen.startswith("params/") for one in plan.entries)


def _tied(
    cls: LinenClass, plans: Mapping[LinenClass, ClassPlan], classes: LinenClasses
) -> Iterator[tuple[LinenClass, str]]:
    """Yield the modules that stay with one: its relatives, and what it constructs."""
    for other in plans:
        if other in cls.ancestry() or cls in other.ancestry():
            yield other, f"`{cls.name}` stays, to which it is related"
    for other in _named_in([cls.node], cls, classes):
        yield other, f"`{cls.name}` stays, which uses it"
    for owner, plan in plans.items():
        nodes = [site.node for site in plan.sites if site.target is cls]
        for other in _named_in(nodes, owner, classes):
            if other is not cls:
                yield other, f"`{cls.name}` stays, which is given it"


def _named_in(
    nodes: Iterable[cst.CSTNode], owner: LinenClass, classes: LinenClasses
) -> Iterator[LinenClass]:
    for node in nodes:
        for below in descendants(node):
            for option in options_of(owner.analysis.values.get(below, UNKNOWN)):
                found = classes.of(option) if isinstance(option, ProjectClass) else None
                if found is not None:
                    yield found
