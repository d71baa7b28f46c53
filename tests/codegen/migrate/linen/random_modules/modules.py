"""Files of random Linen modules: statements of `compact.txt` and `setup.txt` with sizes, conditions and fields."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_FIELDS: Final = {
    "act": ("Callable", ("nn.relu", "jnp.tanh")),
    "depth": ("int", ("1", "2", "3")),
    "features": ("int", ("4", "6")),
    "hidden": ("int", ("3", "8")),
    "hiddens": ("Optional[Sequence[int]]", ("None", "(4, 4)")),
    "kind": ("str", ('"a"', '"b"')),
    "norm": ("Any", ("nn.LayerNorm", "nn.RMSNorm")),
    "out": ("Optional[int]", ("None", "5")),
    "pool": ("str", ('"mean"', '"max"', '"none"')),
    "scale": ("float", ("0.5", "2.0")),
    "sizes": ("Sequence[int]", ("(4, 6)", "(5,)", "(3, 3, 3)")),
    "tail": ("Optional[nn.Module]", ("None", 'Build("flax.linen.Dense", 3)')),
    "use_bias": ("bool", ("True", "False")),
    "use_norm": ("bool", ("True", "False")),
}
_SIZES: Final = (
    *("3", "4", "8", "WIDTH", "x.shape[-1]", "x.shape[-1] + 1"),
    *("self.features", "self.hidden", "2 * self.hidden", "self.features // 2"),
    *("self.sizes[0]", "self.sizes[-1]", "len(self.sizes) + 2", "max(self.features, 5)"),
)
_CONDITIONS: Final = (
    *("self.use_norm", "not self.use_bias", "self.out is not None", "self.depth > 1"),
    *('self.kind == "a"', 'self.kind in ("a", "c")', "len(self.sizes) > 1", "self.hiddens"),
    *("self.use_norm and self.use_bias", "self.features % 2 == 0", "1 < self.depth <= 2"),
)
_ACTIVATIONS: Final = ("nn.relu", "jnp.tanh", "nn.gelu", "self.act")
_IMPORTS: Final = """
from functools import partial
from typing import Any, Callable, Optional, Sequence

import jax.numpy as jnp
"""
_FIELD: Final = re.compile(r"\bself\.(\w+)")
_PLACE: Final = re.compile(r"\{(size|condition|act)\}")


@dataclass(frozen=True)
class RandomModule:
    """A module.

    Attributes:
        name: Its name.
        text: Its code.
        builds: The arguments of some objects of it.
    """

    name: str
    text: str
    builds: tuple[str, ...]


def head() -> str:
    """Return the code that stands before modules in a file."""
    # The types of fields, and what only statements use.
    return f"{_IMPORTS}\n{(_HERE / 'head.py').read_text()}"


def _blocks(name: str) -> list[str]:
    return (_HERE / name).read_text().strip().split("\n\n")


class RandomModules:
    """Draws modules.

    Args:
        seed: What they follow from.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._compact, self._setup = _blocks("compact.txt"), _blocks("setup.txt")
        self._number = 0

    def module(self, name: str) -> RandomModule:
        """Return a module of one to four statements."""
        count = self._random.randint(1, 4)
        is_compact = self._random.random() < 0.7
        blocks = self._random.choices(self._compact if is_compact else self._setup, k=count)
        parts = [self._filled(one, is_compact=is_compact).split("\n---\n") for one in blocks]
        call = [line for part in parts for line in part[-1].splitlines()]
        setup = [] if is_compact else [line for part in parts for line in part[0].splitlines()]
        names = {*_FIELD.findall("\n".join([*setup, *call]))} & {*_FIELDS}
        fields = self._random.sample(sorted(names), len(names))
        needed = self._random.randint(0, len(fields))
        lines = [f"class {name}(nn.Module):"]
        lines += [self._declared(one, has_default=k >= needed) for k, one in enumerate(fields)]
        lines += ["", "    def setup(self):", *(f"        {one}" for one in setup)] if setup else []
        lines += ["", *(["    @nn.compact"] if is_compact else []), "    def __call__(self, x):"]
        lines += [*(f"        {one}" for one in call), "        return x"]
        builds = (", ".join(self._arguments(fields, needed)) for _ in range(2))
        return RandomModule(name, "\n".join(lines) + "\n", (*dict.fromkeys(builds),))

    def _filled(self, block: str, *, is_compact: bool) -> str:
        """Return statements with sizes, conditions and names in their places."""
        self._number += 1
        # `setup` has no `x`.
        sizes = [one for one in _SIZES if is_compact or "x." not in one]
        drawn = {"size": sizes, "condition": _CONDITIONS, "act": _ACTIVATIONS}
        text = _PLACE.sub(lambda found: self._random.choice(drawn[found[1]]), block)
        return text.format(number=self._number, name=f"part_{self._number}")

    def _declared(self, field: str, *, has_default: bool) -> str:
        kind, values = _FIELDS[field]
        return f"    {field}: {kind}" + (f" = {values[0]}" if has_default else "")

    def _arguments(self, fields: list[str], needed: int) -> Iterator[str]:
        for position, name in enumerate(fields):
            if position < needed or self._random.random() < 0.6:
                yield f"{name}={self._random.choice(_FIELDS[name][1])}"
