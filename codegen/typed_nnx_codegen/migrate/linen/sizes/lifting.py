"""Sizes that only the caller knows: the parameters of the constructor that say them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.names.free_names import free_name
from typed_nnx_codegen.migrate.linen.plan import Lifted
from typed_nnx_codegen.migrate.linen.running.functions import is_flag, is_optional
from typed_nnx_codegen.migrate.linen.sizes.dims import (
    ArgumentNumber,
    ArgumentSize,
    Atom,
    Dim,
    LeadingSize,
    Piece,
)
from typed_nnx_codegen.migrate.linen.sizes.size_atoms import shape_code


class Lifting:
    """Names the sizes of arguments that a constructor needs.

    Args:
        cls: The module.
        roots: The methods that were entered from outside, the first one first.
        taken: Names that the constructor binds already.

    Attributes:
        roots: Those methods.
        lifted: The parameters.
    """

    def __init__(self, cls: LinenClass, roots: Iterable[str], taken: Iterable[str]) -> None:
        self._cls = cls
        self.roots = list(roots)
        self._taken = {one.name for one in cls.fields()} | {"rngs", "self", *taken}
        self._whole: set[str] = set()
        self._names: dict[str, str] = {}
        self._items: dict[str, str] = {}
        self._numbers: dict[str, str] = {}
        self.lifted: list[Lifted] = []

    def need(
        self,
        dims: Iterable[Dim],
        whole: Iterable[str] = (),
        given: Iterable[str] = (),
        items: Iterable[str] = (),
    ) -> None:
        """Note what the constructor needs of the arguments of calls.

        Args:
            dims: Sizes.
            whole: Arguments whose whole shape it needs.
            given: Arguments of which it needs to know whether they are given.
            items: Lists of arrays of which it needs the last size of each.
        """
        for argument in dict.fromkeys(items):
            name = self._items[argument] = self._free(argument, "features")
            method = self._method(argument)
            self.lifted.append(Lifted(name, method, argument, -1, is_of_items=True))
        order: dict[str, set[int | None]] = {}
        for dim in dims:
            for atom in dim.atoms():
                if isinstance(atom, ArgumentSize):
                    order.setdefault(atom.argument, set()).add(atom.axis)
                elif isinstance(atom, LeadingSize):
                    order.setdefault(atom.argument, set()).add(None)
                elif isinstance(atom, ArgumentNumber):
                    self._need_number(atom.argument)
        for argument in whole:
            order.setdefault(argument, set()).add(None)
        for argument in given:
            order.setdefault(argument, {-1})
        for argument, axes in order.items():
            if shape_code(argument):
                self._whole.add(argument)
                self._names[argument] = shape_code(argument)
                continue
            is_whole = axes != {-1}
            if is_whole:
                self._whole.add(argument)
            name = self._free(argument, "shape" if is_whole else "features")
            self._names[argument] = name
            axis = None if is_whole else -1
            method = self._method(argument)
            optional = self._is_optional(argument, method)
            self.lifted.append(Lifted(name, method, argument, axis, is_optional=optional))

    def _need_number(self, argument: str) -> None:
        """Note that the constructor needs a number that a method is called with."""
        if argument not in self._numbers:
            name = self._numbers[argument] = self.unused(_number_name(argument))
            self.lifted.append(Lifted(name, self._method(argument), argument, is_number=True))

    def unknown(self, name: str, why: str) -> str:
        """Return a parameter for a size that nothing tells."""
        candidate = self.unused(name)
        self.lifted.append(Lifted(candidate, why=why))
        return candidate

    def spelled(self, atom: Atom) -> str:
        """Return the expression for a part of a size in the constructor."""
        match atom:
            case Piece(code=code):
                return code
            case ArgumentSize(argument=argument, axis=axis):
                name = self._names[argument]
                return f"{name}[{axis}]" if argument in self._whole else name
            case LeadingSize(argument=argument, start=start, stop=stop):
                end = "" if stop is None else stop
                return f"math.prod({self._names[argument]}[{start or ''}:{end}])"
            case ArgumentNumber(argument=argument):
                return self._numbers[argument]
        raise AssertionError(atom)

    def shape_name(self, argument: str) -> str:
        """Return the parameter that has the whole shape of an argument."""
        return self._names[argument]

    def items_name(self, argument: str) -> str:
        """Return the parameter that has the last size of each array of an argument."""
        return self._items[argument]

    def may_be_none(self, atom: Atom) -> bool:
        """Whether a size is one of an argument that does not have to be given."""
        if not isinstance(atom, ArgumentSize | LeadingSize):
            return False
        return self._is_optional(atom.argument, self._method(atom.argument))

    def _is_optional(self, argument: str, name: str) -> bool:
        method = self._cls.method(name)
        return method is not None and any(
            one.name.value == argument and is_optional(one, method) for one in method.parameters()
        )

    def _method(self, argument: str) -> str:
        first = re.split(r"[.\[]", argument)[0]
        for name in self.roots:
            method = self._cls.method(name)
            if method is not None and any(one.name.value == first for one in method.parameters()):
                return name
        return "__call__"

    def _free(self, argument: str, suffix: str) -> str:
        prefix = "in" if self._is_first(argument) else _identifier(argument)
        return self.unused(f"{prefix}_{suffix}")

    def unused(self, name: str) -> str:
        """Return a name for a parameter that nothing else has."""
        return free_name(name, self._taken)

    def _is_first(self, argument: str) -> bool:
        method = self._cls.method(self._method(argument))
        if method is None:
            return False
        arrays = [one.name.value for one in method.parameters() if not is_flag(one)]
        return arrays[:1] == [argument]


def _number_name(argument: str) -> str:
    """Return a name for a number: ``out_features`` for ``out_shape[-1]``."""
    shape = re.fullmatch(r"(.*?)_?shape\[-1\]", argument)
    if shape is None:
        return _identifier(argument)
    return _identifier(f"{shape[1]}_features")


def _identifier(argument: str) -> str:
    return re.sub(r"_+", "_", re.sub(r"\W+", "_", argument)).strip("_")
