"""Questions about public names: whether a runtime has one, and which is the shortest of an object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).with_name("nnx_names.txt")
SIGNS: Final = {"flax.nnx": "-", "typed_nnx": "+"}
"""What stands before a name in the table that only one of the runtimes has."""


def has_name(runtime: str, public: str) -> bool:
    """Whether a runtime offers a name without a warning.

    Args:
        runtime: ``typed_nnx`` or ``flax.nnx``.
        public: The name below the package: ``Linear``, ``graph.split``, ``nn.linear.Linear``; or a
            module or an attribute that is one.
    """
    if has_module(runtime, public) or public in _modules(runtime):
        return True
    module, _, name = public.rpartition(".")
    return name in names(runtime, _module(runtime, module))


def has_module(runtime: str, module: str) -> bool:
    """Whether ``import`` finds a module of that name below the package of a runtime.

    Some attributes are modules of another name: ``nnx.metrics`` is, and there is no
    ``import flax.nnx.metrics``.
    """
    return f"nnx.{module}" in _rows(runtime)


def canonical(public: str) -> str:
    """Return the shortest public name of the same object: ``Linear`` for ``nn.linear.Linear``.

    Names that neither runtime has stay as they are.
    """
    module, _, name = public.rpartition(".")
    if not module:
        return public
    for runtime in SIGNS:
        real = f"{_module(runtime, module)}.{name}"
        is_there = name in names(runtime, _module(runtime, module))
        if is_there and name in names(runtime, "") and real not in _rows(runtime)["apart"]:
            return name
    return public


def names(runtime: str, module: str) -> frozenset[str]:
    """Return the names that a runtime offers in a module; ``""`` is the package."""
    return _rows(runtime).get(f"nnx.{module}".rstrip("."), frozenset())


def _module(runtime: str, name: str) -> str:
    """Return the name of the module that an attribute of the package stands for."""
    first, dot, rest = name.partition(".")
    return _modules(runtime).get(first, first) + dot + rest


@cache
def _modules(runtime: str) -> Mapping[str, str]:
    """Map the attributes of the package that are modules of another name, or ours alone, to their name."""
    return dict(one.split("=") for one in _rows(runtime)["modules"])


@cache
def _rows(runtime: str) -> Mapping[str, frozenset[str]]:
    """Return the rows of the table by their titles, without what only the other runtime has."""
    (other,) = set(SIGNS.values()) - {SIGNS[runtime]}
    text = re.sub(r"\n +", " ", TABLE.read_text(encoding="utf-8"))
    rows = (line.replace(":", "").split() for line in text.splitlines() if line[0] != "#")
    return {
        title.lstrip("+-"): frozenset(one.lstrip("+-") for one in row if one[0] != other)
        for title, *row in rows
        if title[0] != other
    }
