"""What is wrong with weights and a model that do not fit, collected and said at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


class WeightsError(ValueError):
    """Weights that cannot be read or do not fit; the model is as it was."""


@dataclass
class Problems:
    """What was found to be wrong, each in a line of its own.

    Attributes:
        missing: Variables of the model that nothing fills.
        extra: Linen variables that go nowhere.
        shapes: Linen variables of another shape than the place that they go to.
        dtypes: Linen variables of another kind of dtype than the place that they go to.
        twice: Places that two Linen variables with different values go to.
    """

    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)

    def fatal(self, *, strict: bool) -> bool:
        """Whether the model cannot be filled."""
        always = self.shapes or self.dtypes or self.twice
        return bool(always or (strict and (self.missing or self.extra)))

    def text(self, model: str, *, strict: bool) -> str:
        """Return what an error says of them all.

        Args:
            model: The name of the model's class.
            strict: Whether missing and extra ones count.
        """
        lines = [f"load: the Linen variables do not fill {model}; nothing was changed"]
        for title, found, fix in self._groups(strict=strict):
            if found:
                lines += [f"{title}:", *(f"  {each}" for each in found), f"  Fix: {fix}"]
        return "\n".join(lines)

    def _groups(self, *, strict: bool) -> Iterator[tuple[str, list[str], str]]:
        if strict:
            yield (
                "missing, Variables that nothing fills",
                self.missing,
                "entries of the map that lead there; or strict=False, where Linen's `init` did not "
                "create them (a branch that it did not take)",
            )
            yield (
                "extra, Linen variables that go nowhere",
                self.extra,
                "an entry of the map for each, null where it has no place any more; or strict=False",
            )
        yield (
            "wrong shapes",
            self.shapes,
            'the arguments that both models are built with, or "transpose", "reshape", "unstack" in '
            "the map",
        )
        yield (
            "wrong dtypes",
            self.dtypes,
            "an entry that leads to a Variable of that kind; only floats become other floats, and "
            "integers other integers",
        )
        yield "filled twice", self.twice, "one entry of the map for each place"
