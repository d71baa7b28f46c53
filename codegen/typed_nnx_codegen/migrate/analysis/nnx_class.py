"""How the tables of this folder write down a class of NNX and what a function gives.

Types are strings of a small language:

- a key of `CLASSES` (``Param``): an object of that class or of a class below it;
- ``type[Param]``: the class itself;
- ``array``, ``int``, ``float``, ``bool``, ``str``, ``None``, ``callable``;
- ``self``: the class of the receiver;
- ``arg0``, ``arg1``...: the type of that argument of the call, by position;
- ``result(arg0)``: what that argument gives when it is called;
- ``list[T]``, also for other things that an iteration takes; ``dict[K, V]``; ``tuple[A, B]``,
  ``tuple[T, ...]``;
- a union: ``Param | None``;
- ``special``: depends on the arguments in a way that has code of its own (`nnx.split`);
- ``unknown``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

EVERY_OTHER: Final = "*"
"""The key of `NnxClass.attributes` for the attributes that are named by nobody (``rngs.params``)."""


@dataclass(frozen=True)
class NnxClass:
    """A class of NNX, as far as an analysis of programs needs it.

    Attributes:
        bases: The names of its bases.
        attributes: The types of the attributes of its objects, without those of the bases.
        methods: What its methods give, without those of the bases; ``__getitem__`` stands for
            a subscript and ``__iter__`` for the list that an iteration goes through.
    """

    bases: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
