"""What a report and a listing say of a rule."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

import typed_nnx_codegen.migrate.rules  # noqa: F401 - importing the package registers the rules
from typed_nnx_codegen.migrate import registry


@dataclass(frozen=True)
class RuleInfo:
    """What there is to say of a rule.

    Attributes:
        code: Its number, ``TN102``.
        title: What it does, as Markdown.
        since: The release of flax from which the old spelling is out of date; empty for a rule that
            does not depend on it.
        still_works: Whether the old spelling still works on the flax of today.
        example: What it makes of a short module, as a difference.
        explanation: What it does and leaves, as Markdown.
    """

    code: str
    title: str
    since: tuple[int, ...] = ()
    example: str = ""
    explanation: str = ""
    still_works: bool = False

    @property
    def release(self) -> str:
        """The release as flax writes it; empty where there is none."""
        return ".".join(map(str, self.since))

    @property
    def shown_example(self) -> str:
        """The example without the import of NNX, unless nothing else in it changes."""
        imported = r"..(from flax(\.experimental)? import nnx|import typed_nnx as nnx)"
        every = self.example.rstrip().splitlines()
        lines = [line for line in every if not re.fullmatch(imported, line)]
        is_changed = any(line.startswith(("+", "-")) for line in lines)
        return "\n".join(lines).lstrip("\n") if is_changed else self.example.rstrip()

    @property
    def as_markdown(self) -> str:
        """What it does, and the example."""
        block = f"```diff\n{self.shown_example}\n```" if self.example else ""
        return "\n\n".join(filter(None, (self.explanation, block)))


def known_rules() -> tuple[RuleInfo, ...]:
    """Return all rules, in the order of their numbers."""
    return tuple(
        RuleInfo(
            code=rule.code,
            title=rule.title,
            since=rule.since,
            still_works=rule.still_works,
            example=rule.example,
            explanation=inspect.cleandoc(rule.__doc__ or ""),
        )
        for rule in registry.all_rules()
    )
