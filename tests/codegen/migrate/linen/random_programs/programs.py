"""Programs of random parts.

A file has sections, `## name`, of one text or several, between which `==` stands. `<name>` in a text
is one of the texts of a section. The sections `... part` are functions; their names are `part_{n}`.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_PLACE: Final = re.compile(r"<(\w+)>")
_HEAD: Final = """
import dataclasses
from functools import partial
from typing import Any, Callable, NamedTuple, Sequence

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import jax_utils, serialization, struct
from flax.training import train_state

CONFIG = {"features": 4}


def norm(tree):
    return sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree))
"""
_RUN: Final = """
def run():
    x = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
    y = jnp.cos(jnp.arange(16.0)).reshape(4, 4)
    key = jax.random.PRNGKey(0)
    return [{calls}]
"""


class RandomPrograms:
    """Draws programs.

    Args:
        name: The file of their parts.
        seed: What they follow from.
    """

    def __init__(self, name: str, seed: int) -> None:
        self._random = random.Random(seed)
        self._sections: dict[str, list[str]] = {}
        text = (_HERE / f"{name}.txt").read_text()
        for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
            title, _, body = section.partition("\n")
            texts = re.split(r"^==$", body, flags=re.MULTILINE)
            self._sections[title] = [one.strip("\n") for one in texts]

    def program(self, count: int) -> str:
        """Return a program of some parts."""
        parts = self._random.sample([one for one in self._sections if one.endswith(" part")], count)
        texts = [
            self._filled(self._sections[part][0]).replace("{n}", str(number))
            for number, part in enumerate(parts)
        ]
        helpers = [
            one
            for one in self._sections.get("helper", [])
            if any(re.search(rf"\b{_name(one)}\b", text) for text in texts)
        ]
        calls = ", ".join(f"part_{k}(jax.random.fold_in(key, {k}), x, y)" for k in range(count))
        model = self._filled("<model>")
        whole = [_HEAD, model, *helpers, *texts, _RUN.format(calls=calls)]
        return "\n\n\n".join(one.strip("\n") for one in whole) + "\n"

    def _filled(self, text: str) -> str:
        """Return a text with others in its places; those of several lines are indented as they are."""
        lines: list[str] = []
        for line in text.split("\n"):
            found = _PLACE.search(line)
            if found is None:
                lines.append(line)
                continue
            drawn = self._filled(self._random.choice(self._sections[found[1]]))
            if line.strip() == found[0]:
                pad = line[: found.start()]
                lines += [f"{pad}{one}" if one else "" for one in drawn.split("\n") if drawn]
            else:
                lines += self._filled(line[: found.start()] + drawn + line[found.end() :]).split(
                    "\n"
                )
        return "\n".join(lines)


def _name(helper: str) -> str:
    return re.findall(r"\w+", helper)[1]
