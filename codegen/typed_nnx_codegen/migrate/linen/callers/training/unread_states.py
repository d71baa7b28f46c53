"""States that functions under a gradient take only to call the model: NNX passes the model alone.

A gradient with respect to a model takes it once; the optimizer, which has the same model, cannot be
another argument.
"""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import argument, number_of, parameters_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, Wrapped
from typed_nnx_codegen.migrate.linen.callers.bindings import binder_of, variables_in
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.callers.training.found import Found
from typed_nnx_codegen.migrate.linen.callers.training.program import Program
from typed_nnx_codegen.migrate.linen.callers.training.state_values import NotKnownError, is_state


class UnreadStates:
    """Takes such parameters away, and the arguments for them.

    Args:
        program: The files.
        found: What the training code does; what goes is added.
    """

    def __init__(self, program: Program, found: Found) -> None:
        self._program = program
        self._found = found

    def take_away(self, function: cst.FunctionDef | cst.Lambda, makers: list[cst.Call]) -> None:
        """Take the states away that a function under a gradient has as parameters.

        Args:
            function: The function.
            makers: The calls that make its gradients.

        Raises:
            NotKnownError: It reads more of such a state than its model.
        """
        parameters = list(parameters_of(function.params))
        for analysis, places in self._program.files():
            scope = analysis.scopes.get(function)
            if scope is None:
                continue
            for number, one in enumerate(parameters):
                if is_state(scope.seen.get(one.name.value, UNKNOWN)):
                    self._check(function, one, places)
                    self._found.dropped.add(one)
                    self._drop_arguments(function, number, one.name.value)
                    for maker in makers:
                        self._count_down(maker, number)

    def _check(
        self, function: cst.FunctionDef | cst.Lambda, one: cst.Param, places: Places
    ) -> None:
        for node in variables_in(function, one.name.value, places):
            if node is one.name or binder_of(node, places) is not function:
                continue
            around = list(places.around(node))
            is_called = any(n in self._found.applications for n in around)
            if not is_called and not any(n in self._found.dropped for n in around):
                raise NotKnownError(
                    f"`{one.name.value}` is in a gradient for more than a call of the model"
                )

    def _drop_arguments(
        self, function: cst.FunctionDef | cst.Lambda, number: int, name: str
    ) -> None:
        for call in self._program.calls_of(function):
            if isinstance(call.value, Wrapped) and (call.value.given or call.value.keywords):
                raise NotKnownError("some arguments of a gradient are given before")
            given = argument(call.node, number, name)
            if given is None:
                raise NotKnownError(f"`{name}` is not given where a gradient is taken")
            self._found.dropped.add(given)

    def _count_down(self, maker: cst.Call, number: int) -> None:
        """Let a gradient be of the argument before, if the one that went stood before it."""
        given = argument(maker, 1, "argnums")
        at = number_of(given.value) if given is not None else 0
        if given is not None and isinstance(at, int) and at > number:
            self._found.names[given.value] = str(at - 1)
