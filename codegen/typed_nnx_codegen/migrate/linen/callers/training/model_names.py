"""Names of variables that stand for a model or its optimizer, and stood for arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, Value
from typed_nnx_codegen.migrate.linen.callers.bindings import binder_of, is_variable, same_variable
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.callers.training.found import Found
from typed_nnx_codegen.migrate.linen.callers.training.program import Program
from typed_nnx_codegen.migrate.linen.callers.training.state_values import (
    NotKnownError,
    is_opt_state,
    is_params,
)


@dataclass(frozen=True)
class _Kind:
    """What a variable stands for.

    Attributes:
        test: Whether a value is that.
        names: What it may be called.
    """

    test: Callable[[Value], bool]
    names: Sequence[str]


MODEL_NAMES: Final = ("model", "network", "net")
_KINDS: Final = (
    _Kind(is_params, MODEL_NAMES),
    _Kind(is_opt_state, ("optimizer", "opt")),
)


@dataclass(frozen=True)
class _Variable:
    """A variable: its name, and the function that binds it; None for the module."""

    name: str
    home: cst.CSTNode | None


class ModelNames:
    """Gives such variables names, in all files.

    Args:
        program: The files.
        found: What the training code does; names are added.
    """

    def __init__(self, program: Program, found: Found) -> None:
        self._program = program
        self._found = found
        self._named: dict[_Variable, str] = {}
        # Receivers of calls that become calls of what is named here.
        self._gone = {
            call.func.value
            for call in found.applications
            if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute)
        }

    def run(self) -> None:
        """Give them.

        Raises:
            NotKnownError: A variable is something else, too.
        """
        for analysis, places in self._program.files():
            fixed = {
                _Variable(made.name.value, binder_of(made.name, places)): made.live
                for made in self._found.models_made.values()
                if made.live and made.name in places
            }
            every = dict(self._variables(analysis, places))
            # What is around comes first: what is inside sees its names.
            for one in sorted(every, key=lambda one: _depth(one, places)):
                self._name(one, every[one], fixed.get(one, ""), analysis)
        for call in self._program.calls():
            for arg in call.node.args:
                if arg.keyword is not None:
                    parameter = _Variable(arg.keyword.value, call.function.node)
                    if parameter in self._named:
                        self._found.names[arg.keyword] = self._named[parameter]

    def _variables(self, analysis: Analysis, places: Places) -> Iterator[tuple[_Variable, _Kind]]:
        for kind in _KINDS:
            for node, value in analysis.values.items():
                is_name = isinstance(node, cst.Name) and node in places and kind.test(value)
                if is_name and isinstance(node, cst.Name) and is_variable(node, places):
                    yield _Variable(node.value, binder_of(node, places)), kind
            for function in analysis.functions:
                for name, value in self._program.parameters(function):
                    if kind.test(value):
                        yield _Variable(name, function.node), kind

    def _name(self, one: _Variable, kind: _Kind, fixed: str, analysis: Analysis) -> None:
        places = self._program.places(analysis)
        root = one.home if one.home is not None else analysis.tree
        names = self._found.names
        taken = {
            names.get(node, node.value)
            for node in descendants(root)
            if isinstance(node, cst.Name) and node not in self._gone
        }
        free = (name for name in kind.names if name not in taken)
        new = self._named[one] = fixed or next(free, f"{one.name}_{kind.names[0]}")
        scope = analysis.scope if one.home is None else analysis.scopes[one.home]
        if not kind.test(scope.seen.get(one.name, UNKNOWN)):
            raise NotKnownError(f"`{one.name}` stands for something else, too")
        for node in same_variable(one.name, one.home, analysis.tree, places):
            names[node] = new


def _depth(one: _Variable, places: Places) -> int:
    return 0 if one.home is None else 1 + sum(1 for _ in places.around(one.home))
