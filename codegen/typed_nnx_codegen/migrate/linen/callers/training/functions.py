"""The functions that training code passes its state to: the transforms that they are under."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    argument,
    code_of,
    descendants,
    number_of,
)
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, ProjectFunction
from typed_nnx_codegen.migrate.linen.callers.bindings import binder_of
from typed_nnx_codegen.migrate.linen.callers.constructions import JIT
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.callers.training.found import Found
from typed_nnx_codegen.migrate.linen.callers.training.program import GRADIENTS, Program
from typed_nnx_codegen.migrate.linen.callers.training.state_values import (
    NotKnownError,
    function_of,
    holds_state,
    is_changing,
    is_params,
)
from typed_nnx_codegen.migrate.linen.callers.training.unread_states import UnreadStates

_PARTIAL: Final = "functools.partial"


class Functions:
    """Finds the transforms of functions with a state.

    Args:
        program: The files.
        found: What the training code does; transforms are added.
    """

    def __init__(self, program: Program, found: Found) -> None:
        self._program = program
        self._found = found
        self._jitted: set[cst.CSTNode] = set()
        self._makers: dict[cst.FunctionDef | cst.Lambda, list[cst.Call]] = {}

    def run(self) -> None:
        """Find them.

        Raises:
            NotKnownError: A state goes through a transform that has no known form in NNX.
        """
        for analysis, places in self._program.files():
            for node in analysis.nodes.of_any(cst.Name, cst.Attribute):
                value = analysis.values.get(node, UNKNOWN)
                if node in places and isinstance(value, External):
                    self._external(node, value.name, analysis, places)
        unread = UnreadStates(self._program, self._found)
        for function, makers in self._makers.items():
            unread.take_away(function, makers)
        for analysis, places in self._program.files():
            self._check(analysis, places)

    # -- transforms -----------------------------------------------------------------------------

    def _external(self, node: cst.CSTNode, name: str, analysis: Analysis, places: Places) -> None:
        if name in JIT:
            function = self._transformed(node, analysis, places)
            if function is None:
                return
            self._jitted.add(function.node)
            if self._takes_state(function):
                self._found.publics[node] = "nnx.jit"
        elif name in GRADIENTS:
            function = self._transformed(node, analysis, places)
            maker = places.parent(node)
            if (
                isinstance(maker, cst.Call)
                and function is not None
                and self._takes_params(function)
            ):
                self._check_argnums(maker, function)
                self._found.publics[node] = GRADIENTS[name]
                self._makers.setdefault(function.node, []).append(maker)

    @staticmethod
    def _transformed(
        node: cst.CSTNode, analysis: Analysis, places: Places
    ) -> ProjectFunction | None:
        """Return the function that a transform is written for: a decorator, or a call of it."""
        for around in places.around(node):
            if isinstance(around, cst.Decorator):
                function = places.parent(around)
                for one in analysis.functions:
                    if one.node is function:
                        return one
                return None
            if isinstance(around, cst.Call):
                first = argument(around, 0, "fun")
                if around.func is node and first is not None:
                    return function_of(analysis.values.get(first.value, UNKNOWN))
            elif isinstance(around, cst.BaseStatement):
                return None
        return None

    def _takes_state(self, function: ProjectFunction) -> bool:
        return holds_state(function.result) or any(
            holds_state(value) for _, value in self._program.parameters(function)
        )

    def _takes_params(self, function: ProjectFunction) -> bool:
        return any(is_params(value) for _, value in self._program.parameters(function))

    def _check_argnums(self, maker: cst.Call, function: ProjectFunction) -> None:
        given = argument(maker, 1, "argnums")
        number = 0 if given is None else number_of(given.value)
        parameters = list(self._program.parameters(function))
        if not isinstance(number, int) or not 0 <= number < len(parameters):
            raise NotKnownError(f"`{code_of(maker)}` has other arguments than parameters")
        if not is_params(parameters[number][1]):
            raise NotKnownError(f"`{code_of(maker)}` is not of the parameters")
        others = {arg.keyword.value for arg in maker.args if arg.keyword is not None}
        if not others <= {"argnums", "has_aux", "fun"}:
            raise NotKnownError(f"`{code_of(maker)}` has options that NNX does not have")

    # -- where states are read --------------------------------------------------------------------

    def _check(self, analysis: Analysis, places: Places) -> None:
        """Check that no state gets into a function in another way than as an argument."""
        functions: dict[cst.FunctionDef | cst.Lambda, None] = {}
        for node, value in analysis.values.items():
            if node not in places or not is_changing(value):
                continue
            for around in places.around(node):
                if isinstance(around, (cst.FunctionDef, cst.Lambda)):
                    functions[around] = None
            if isinstance(node, cst.Name):
                self._check_closure(node, places)
        for function in functions:
            self._check_function(function, analysis, places)

    def _check_closure(self, node: cst.Name, places: Places) -> None:
        home = binder_of(node, places)
        for around in places.around(node):
            if around is home:
                return
            if around in self._jitted:
                raise NotKnownError(f"`{node.value}` is captured by a function that is compiled")

    def _check_function(
        self, function: cst.FunctionDef | cst.Lambda, analysis: Analysis, places: Places
    ) -> None:
        """Raise where a function with a state in it is called by something that is not known."""
        if isinstance(function, cst.Lambda):
            self._check_reference(function, places, analysis)
            return
        for decorator in function.decorators:
            if not any(node in self._found.publics for node in descendants(decorator)):
                raise NotKnownError(f"`{function.name.value}` has a decorator that is not known")
        for other, around in self._program.files():
            for node in other.nodes.of_any(cst.Name, cst.Attribute):
                if node not in around:
                    continue
                called = function_of(other.values.get(node, UNKNOWN))
                if called is not None and called.node is function:
                    self._check_reference(node, around, other)

    def _check_reference(self, node: cst.CSTNode, places: Places, analysis: Analysis) -> None:
        parent = places.parent(node)
        match parent:
            case cst.Call() if parent.func is node:
                return
            case cst.Assign() | cst.AssignTarget():
                return
            case cst.Attribute():
                return
            case cst.Arg():
                call = places.parent(parent)
                func = call.func if isinstance(call, cst.Call) else parent
                if func in self._found.publics:
                    return
                value = analysis.values.get(func, UNKNOWN)
                if isinstance(value, External) and value.name in JIT:
                    return
            case cst.ImportAlias():
                return
        raise NotKnownError(f"`{code_of(node)}` has a state in it, and something else calls it")
