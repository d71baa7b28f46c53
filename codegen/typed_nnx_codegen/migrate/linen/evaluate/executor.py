"""Goes through the methods of a Linen module symbolically: shapes, submodules, constructor code.

One executor plans the modules of one project. The parts of it are by what they go through:
expressions, calls, statements, loops; they meet here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, is_name
from typed_nnx_codegen.migrate.analysis.values import External
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, LinenClasses
from typed_nnx_codegen.migrate.linen.domain.frames import Frame, FunctionRef
from typed_nnx_codegen.migrate.linen.domain.names import nnx_name
from typed_nnx_codegen.migrate.linen.domain.references import ClassRef, Partial, Ref
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Const,
    Passed,
    Seq,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.branches import Choices
from typed_nnx_codegen.migrate.linen.evaluate.calls import Calls, ChoiceCalls
from typed_nnx_codegen.migrate.linen.evaluate.declaring import Declaring, FirstValues
from typed_nnx_codegen.migrate.linen.evaluate.entries import VariableReads
from typed_nnx_codegen.migrate.linen.evaluate.expressions import Comprehensions, Expressions
from typed_nnx_codegen.migrate.linen.evaluate.functions import (
    Functions,
    LoopedFunctions,
    MappedFunctions,
)
from typed_nnx_codegen.migrate.linen.evaluate.lifted_calls import LiftedCalls, LiftedMethods
from typed_nnx_codegen.migrate.linen.evaluate.lifted_functions import LiftedFunctions
from typed_nnx_codegen.migrate.linen.evaluate.loops import Loops
from typed_nnx_codegen.migrate.linen.evaluate.merging import (
    Merging,
    is_of_callables,
)
from typed_nnx_codegen.migrate.linen.evaluate.module_calls import ModuleCalls
from typed_nnx_codegen.migrate.linen.evaluate.recurrence import CallsInTurn, Recurrence
from typed_nnx_codegen.migrate.linen.evaluate.sized_lists import SizedLists
from typed_nnx_codegen.migrate.linen.evaluate.statements import (
    Statements,
    is_made_by,
    without_local,
)
from typed_nnx_codegen.migrate.linen.evaluate.submodules import Members, Submodules
from typed_nnx_codegen.migrate.linen.evaluate.variables import Variables
from typed_nnx_codegen.migrate.linen.project.fields import Evidence, FieldFacts
from typed_nnx_codegen.migrate.linen.project.gradual import Gradual
from typed_nnx_codegen.migrate.linen.trace.record import Trace
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_MOST_STEPS: Final = 200_000


class TooLong(Exception):
    """A module takes too long to go through."""


class Executor:
    """Goes through methods: joins the parts, and gives each what it calls back."""

    def __init__(
        self,
        classes: LinenClasses,
        plan_of: Callable[[LinenClass], ClassPlan],
        trace: Trace | None,
        gradual: Gradual | None,
    ) -> None:
        self.classes = classes
        self.plan_of = plan_of
        self.names: Callable[[str], str] = _plain_name
        self.trace = trace
        self.gradual = gradual
        self.facts = FieldFacts()
        self.code = ConstructorCode(classes.analyses, self.facts, self.evaluate, self.refer)
        merging = Merging(self.code)
        sized_lists = SizedLists(self.code)
        self.declaring = Declaring(self.refer)
        self.first_values = FirstValues(self.code, self.dispatch, self.call_function)
        variables = Variables(
            self.code,
            merging,
            self.evaluate,
            self.refer,
            self.declaring,
            self.first_values,
            trace,
        )
        self.lifted_calls = LiftedCalls(plan_of, self.refer)
        self.lifted_methods = LiftedMethods(self.evaluate, plan_of, self.refer)
        self.lifted_functions = LiftedFunctions(self.call_function, plan_of, self.refer)
        mapped_functions = MappedFunctions(self.evaluate, self.dispatch)
        recurrence = Recurrence(self.evaluate, self.passed, self.refer)
        self.functions = Functions(self.lifted_methods, merging, self.evaluate, self.run)
        submodules = Submodules(self.facts, self.evaluate, self.dispatch, self.code, self.refer)
        self.members = Members(
            self.functions,
            submodules,
            Evidence(classes, self.evaluate, self.value_of_file),
            self.facts,
            self.code,
            self.evaluate,
            self.of_file,
        )
        loops = Loops(
            self.code,
            merging,
            sized_lists,
            self.evaluate,
            self.run,
            self.assign,
        )
        choices = Choices(self.code, merging, self.evaluate, self.run_all)
        in_turn = CallsInTurn(self.dispatch, loops.of_call)
        module_calls = ModuleCalls(
            facts=self.facts,
            merging=merging,
            submodules=submodules,
            functions=self.functions,
            lifted_calls=self.lifted_calls,
            recurrence=recurrence,
            in_turn=in_turn,
            ended=loops.ended,
            wraps_layers=gradual is not None and gradual.wraps_layers,
            dispatch=self.dispatch,
            refer=self.refer,
        )
        self._statements = Statements(
            code=self.code,
            merging=merging,
            evaluate=self.evaluate,
            variables=variables,
            choices=choices,
            loops=loops,
            lifted_methods=self.lifted_methods,
            sized_lists=sized_lists,
        )
        self._calls = Calls(
            classes=classes,
            code=self.code,
            evaluate=self.evaluate,
            submodules=submodules,
            functions=self.functions,
            module_calls=module_calls,
            choice_calls=ChoiceCalls(submodules, module_calls, merging, self.dispatch),
            members=self.members,
            variables=variables,
            recurrence=recurrence,
            mapped_functions=mapped_functions,
            looped_functions=LoopedFunctions(self.dispatch),
            lifted_functions=self.lifted_functions,
            sized_lists=sized_lists,
            merging=merging,
            parent_setup=self._statements.parent_setup,
        )
        self._expressions = Expressions(
            code=self.code,
            merging=merging,
            classes=classes,
            submodules=submodules,
            members=self.members,
            variables=variables,
            variable_reads=VariableReads(self.evaluate),
            calls=self._calls,
            choices=choices,
            comprehensions=Comprehensions(self.code, self.evaluate, self.assign, loops),
            mapped_functions=mapped_functions,
            sized_lists=sized_lists,
            value_of=self.evaluate,
            assign=self.assign,
            constant_of_file=self.constant_of_file,
            partial_elsewhere=self.partial_elsewhere,
            analysis_with=self.analysis_with,
        )
        self._files = {one.module: one for one in classes.analyses if one.module}
        self._functions: dict[cst.CSTNode, Analysis] = {}
        for analysis in classes.analyses:
            for kind in (cst.FunctionDef, cst.Lambda):
                for node in analysis.nodes.of(kind):
                    self._functions[node] = analysis

    def evaluate(self, node: cst.BaseExpression, frame: Frame) -> Value:
        """Return what an expression stands for, and remember it."""
        frame.recorder.steps += 1
        if frame.recorder.steps > _MOST_STEPS:
            raise TooLong
        if node in frame.values:
            # What it stood for in an iteration before says nothing now.
            frame.values[node] = UNKNOWN
        value = self._expressions.evaluate(node, frame)
        if isinstance(value, Array) and not is_made_by(node, value):
            value = without_local(value)
        frame.values[node] = value
        return value

    def dispatch(self, callee: Value, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what a call of something returns."""
        return self._calls.dispatch(callee, passed, node, frame)

    def passed(self, node: cst.Call, frame: Frame) -> list[Passed]:
        """Go through the arguments of a call."""
        return self._calls.passed(node, frame)

    def call_function(self, function: FunctionRef, passed: Sequence[Passed], frame: Frame) -> Value:
        """Return what a function of the project returns."""
        return self.functions.call_function(function, passed, frame)

    def run(self, body: cst.BaseSuite, frame: Frame) -> bool:
        """Go through statements; return whether they end there."""
        return self._statements.run(body, frame)

    def run_all(
        self, statements: list[cst.BaseStatement | cst.BaseSmallStatement], frame: Frame
    ) -> bool:
        """Go through statements; return whether they end there."""
        return self._statements.run_all(statements, frame)

    def assign(
        self,
        target: cst.BaseExpression,
        value: Value,
        source: cst.BaseExpression | None,
        frame: Frame,
    ) -> None:
        """Bind a target to a value."""
        self._statements.assign(target, value, source, frame)

    def of_file(self, node: cst.BaseExpression, frame: Frame) -> Value:
        """Return what a name of a file stands for."""
        return self._expressions.of_file(node, frame)

    def refer(self, public: str) -> str:
        """Return the code for a public name, in the file of the module that is planned."""
        return self.names(public)

    def analysis_with(self, function: cst.CSTNode) -> Analysis | None:
        """Return the analysis of the file that defines a function."""
        return self._functions.get(function)

    def partial_elsewhere(self, node: cst.BaseExpression, code: str, frame: Frame) -> Value | None:
        """Return the partial that another file binds to a name; None where it is something else."""
        home, found, local = frame.analysis, None, code
        seen: set[tuple[str, str]] = set()
        while found is None:
            name, _, rest = local.partition(".")
            binding = home.scope.imports.get(name)
            if binding is None:
                return None
            module, _, local = (f"{binding.full}.{rest}" if rest else binding.full).rpartition(".")
            if module not in self._files or (module, local) in seen:
                return None
            seen.add((module, local))
            home = self._files[module]
            found = self.constant_of_file(local, Frame(frame.recorder, home, records=False))
        if not isinstance(found, Partial):
            return None
        if not found.code:
            # Its arguments are written here, where their names may mean something else.
            frame.mark(node, f"`{code}` is a partial of another file: write its arguments here")
            return found

        def kept(one: Passed) -> Passed:
            return replace(one, code=one.code or code_of(one.node), place=None)

        keywords = {name: kept(one) for name, one in found.keywords.items()}
        return Partial(found.function, tuple(map(kept, found.args)), keywords, code)

    def constant_of_file(self, name: str, frame: Frame) -> Value | None:
        """Return the literal that a file binds to a name once; None where it is something else."""
        found: list[cst.BaseExpression] = []
        for statement in frame.analysis.tree.body:
            if not isinstance(statement, cst.SimpleStatementLine):
                continue
            for small in statement.body:
                match small:
                    case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))]):
                        if target == name:
                            found.append(small.value)
                    case cst.AnnAssign(target=cst.Name(value=target), value=bound):
                        if target == name and bound is not None:
                            found.append(bound)
        if len(found) != 1:
            return None
        inner = Frame(frame.recorder, frame.analysis, records=False)
        if isinstance(found[0], cst.Call):
            callee = frame.analysis.values.get(found[0].func)
            if isinstance(callee, External) and callee.name == "functools.partial":
                made = self.evaluate(found[0], inner)
                if not isinstance(made, Partial):
                    return None
                # NNX takes the size of the input first, and names that of the output differently.
                is_same = not made.args and "features" not in made.keywords
                is_same |= isinstance(made.function, ClassRef)
                return made.held_as(name) if is_same else replace(made, code="")
        if isinstance(found[0], (cst.Integer, cst.Float, cst.SimpleString, cst.Tuple, cst.List)):
            value = self._expressions.evaluate(found[0], inner)
            return value if _is_literal(value) else None
        if isinstance(found[0], cst.Dict) and _is_only_read(name, frame.analysis):
            value = self._expressions.evaluate(found[0], inner)
            if isinstance(value, Table) and is_of_callables(value):
                return replace(value, code=name, binders=frame.binders)
            return None
        if isinstance(found[0], (cst.Name, cst.Attribute, cst.Lambda, cst.Call)):
            value = self._expressions.evaluate(found[0], inner)
            if isinstance(value, (ClassRef, Ref)):
                return value
            if isinstance(value, FunctionRef):
                return FunctionRef(value.node, value.frame, name, frame.binders)
        return None

    def value_of_file(self, node: cst.BaseExpression, frame: Frame) -> Value | None:
        """Return the class or function that a name at a place of a file refers to; None if none."""
        if not isinstance(node, (cst.Name, cst.Attribute)):
            return None
        value = self._expressions.of_file(node, frame)
        return value if isinstance(value, (Ref, ClassRef, FunctionRef)) else None


_READING: Final = frozenset({"get", "items", "keys", "values"})


def _is_only_read(name: str, analysis: Analysis) -> bool:
    """Whether a file does no more with a table than reading items of it, or their names."""
    written = {
        below
        for node in analysis.nodes.of_any(cst.AssignTarget, cst.Del, cst.AugAssign)
        for below in descendants(node)
    }
    read: list[cst.CSTNode] = [
        one
        for one in analysis.nodes.of(cst.Subscript)
        if is_name(one.value, name) and one not in written
    ]
    for call in analysis.nodes.of(cst.Call):
        match call:
            case cst.Call(func=cst.Attribute(value=table, attr=method)) if is_name(table, name):
                read += [call] if method.value in _READING else []
            case cst.Call(
                func=cst.Name(value="list" | "sorted" | "len"), args=[cst.Arg(value=one)]
            ):
                read += [call] if is_name(one, name) else []
    for test in analysis.nodes.of(cst.ComparisonTarget):
        read += [test] if is_name(test.comparator, name) else []
    uses = sum(one.value == name for one in analysis.nodes.of(cst.Name))
    return uses == len(read) + 1


def _is_literal(value: Value) -> bool:
    if isinstance(value, Seq):
        return all(_is_literal(item) for item in value.items)
    return isinstance(value, Const)


def _plain_name(public: str) -> str:
    return nnx_name(public) or public
