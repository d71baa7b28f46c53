"""The files of a project, as the reading of training code goes through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import parameters_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectFunction, Value
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.callers.training.state_values import function_of

GRADIENTS: Final = {"jax.grad": "nnx.grad", "jax.value_and_grad": "nnx.value_and_grad"}
"""The gradients of jax, and those of NNX for models."""


@dataclass(frozen=True)
class Call:
    """A call of a function of the project.

    Attributes:
        node: The call.
        value: What is called: the function, also under transforms.
        function: The function.
        analysis: The file of the call.
    """

    node: cst.Call
    value: Value
    function: ProjectFunction
    analysis: Analysis


@dataclass(frozen=True)
class Program:
    """The files of a project.

    Attributes:
        analyses: The files.
        constructions: What their code does with modules.
    """

    analyses: tuple[Analysis, ...]
    constructions: Constructions

    def places(self, analysis: Analysis) -> Places:
        """Return where the nodes of a file stand."""
        return self.constructions.places(analysis)

    def files(self) -> Iterator[tuple[Analysis, Places]]:
        """Yield the files with where their nodes stand."""
        for analysis in self.analyses:
            yield analysis, self.places(analysis)

    def parameters(self, function: ProjectFunction) -> Iterator[tuple[str, Value]]:
        """Yield the parameters of a function with what they stand for."""
        for analysis in self.analyses:
            scope = analysis.scopes.get(function.node)
            if scope is not None:
                for one in parameters_of(function.node.params):
                    yield one.name.value, scope.seen.get(one.name.value, UNKNOWN)

    def calls(self) -> Iterator[Call]:
        """Yield the calls of functions of the project, those in modules apart."""
        for analysis, places in self.files():
            for node in analysis.nodes.of(cst.Call):
                value = analysis.values.get(node.func, UNKNOWN)
                function = function_of(value)
                if node in places and function is not None:
                    yield Call(node, value, function, analysis)

    def calls_of(self, function: cst.CSTNode) -> Iterator[Call]:
        """Yield the calls of one function."""
        return (one for one in self.calls() if one.function.node is function)
