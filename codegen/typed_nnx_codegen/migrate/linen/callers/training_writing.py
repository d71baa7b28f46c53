"""Writes training code for an NNX model and its optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, text_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectClass, Value
from typed_nnx_codegen.migrate.linen.callers.constructions import Use
from typed_nnx_codegen.migrate.linen.callers.kinds import Live
from typed_nnx_codegen.migrate.linen.callers.models import InitCalls, Models
from typed_nnx_codegen.migrate.linen.callers.places import (
    Places,
    binder_of,
    is_variable,
    same_variable,
)
from typed_nnx_codegen.migrate.linen.callers.rendering import Rendering, joined, keyword_of
from typed_nnx_codegen.migrate.linen.callers.training_states import (
    Application,
    Creation,
    Field,
    Found,
    ModelCreation,
    NotKnownError,
    OptimizerCreation,
    OptimizerStep,
    Program,
    Update,
    is_opt_state,
    is_params,
    is_state_class,
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


_OPTIMIZER = "nnx.ModelAndOptimizer"


class TrainingCode:
    """Writes the training code of one file.

    Args:
        code: Writes expressions.
        models: Writes models.
        inits: Writes what makes variables.
        found: What the training code of the project does.
    """

    def __init__(self, code: Rendering, models: Models, inits: InitCalls, found: Found) -> None:
        self._code = code
        self._models = models
        self._inits = inits
        self._found = found
        self._written: set[cst.CSTNode] = set()
        self.nodes = [] if not found.inits else list(self._nodes())
        self._own = set(self.nodes)
        for use in found.inits:
            code.done |= {use.node, use.call or use.node}
        for one in found.creations.values():
            code.done |= _values(one.call)
        for application in found.applications.values():
            code.done |= {application.call, *_values(application.call)} - set(application.args)
        for node in found.dropped & self._own:
            code.plan.removed.add(node)

    def _nodes(self) -> Iterator[cst.CSTNode]:
        """Yield the nodes of the file that are written anew."""
        found = self._found
        known = (
            *(found.models_made, found.optimizers, found.optimizer_steps),
            *(found.creations, found.applications, found.updates, found.models, found.trees),
            *(found.steps, found.shorter, found.names, found.publics, found.has_aux),
            *(found.classes, found.dropped, found.shorter_types),
        )
        for node in descendants(self._code.analysis.tree):
            is_known = node in self._code.places and any(node in one for one in known)
            if is_known or (isinstance(node, (cst.Name, cst.Attribute)) and self._is_class(node)):
                yield node

    def _is_class(self, node: cst.Name | cst.Attribute) -> bool:
        """Whether a node names a class of states that goes away."""
        value = self._code.analysis.values.get(node, UNKNOWN)
        if node not in self._code.places or not is_state_class(value):
            return False
        return not (isinstance(value, ProjectClass) and self._found.classes.get(value.node))

    def write(self, node: cst.CSTNode) -> bool:
        """Write a node if it is part of the training code; return whether it is."""
        if node not in self._own:
            return False
        if node not in self._written:
            self._written.add(node)
            self._write(node)
        return True

    def _write(self, node: cst.CSTNode) -> None:
        found, plan = self._found, self._code.plan
        if node in found.dropped:
            plan.removed.add(node)
        elif isinstance(node, cst.ClassDef):
            self._class(node)
        elif node in found.creations:
            self._creation(found.creations[node])
        elif node in found.models_made:
            self._model(found.models_made[node])
        elif node in found.optimizers:
            self._optimizer(found.optimizers[node])
        elif node in found.optimizer_steps:
            self._step(found.optimizer_steps[node])
        elif node in found.applications:
            self._application(found.applications[node])
        elif node in found.updates:
            self._update(found.updates[node])
        elif isinstance(node, cst.Tuple):
            plan.code[node] = self._shorter(node)
        elif isinstance(node, cst.Subscript) and node in found.shorter_types:
            plan.code[node] = self._shorter_type(node)
        elif node in found.publics:
            plan.code[node] = self._code.refer(found.publics[node])
        elif isinstance(node, cst.Call):
            plan.code[node] = self._call(node, without=found.has_aux[node])
        else:
            plan.code[node] = self._name(node)

    def _name(self, node: cst.CSTNode) -> str:
        found = self._found
        if isinstance(node, cst.Attribute) and node in found.steps:
            return f"{self._code.render(node.value)}.step[...]"
        text = found.names.get(node, "")
        if isinstance(node, cst.Attribute) and node in found.models:
            text = f"{self._code.render(node.value)}.model"
        if node in found.trees:
            return f"{self._code.refer('nnx.state')}({text}, {self._code.refer(found.trees[node])})"
        return text or self._code.refer(_OPTIMIZER)

    def _call(self, node: cst.Call, without: cst.Arg) -> str:
        args = [self._code.arg(arg) for arg in node.args if arg is not without]
        return f"{self._code.render(node.func)}({joined(args)})"

    def _shorter(self, node: cst.Tuple) -> str:
        gone = self._found.shorter[node]
        kept = [self._code.render(one.value) for n, one in enumerate(node.elements) if n != gone]
        text = ", ".join(kept)
        return f"({text})" if node.lpar and len(kept) > 1 else text

    def _shorter_type(self, node: cst.Subscript) -> str:
        gone = self._found.shorter_types[node]
        kept = [self._code.render(one.slice) for n, one in enumerate(node.slice) if n != gone]
        return kept[0] if len(kept) == 1 else f"{code_of(node.value)}[{', '.join(kept)}]"

    # -- states -----------------------------------------------------------------------------------

    def _creation(self, one: Creation) -> None:
        code, plan = self._code, self._code.plan
        name = self._live(one.init) or self._free_name()
        made = self._made(one.init)
        statement = code.places.statement(one.init.node)
        assert statement is not None
        plan.before.setdefault(statement, []).append(f"{name} = {made}")
        plan.removed |= set(one.dropped)
        fields = [code.arg(arg) for arg in one.fields]
        if (
            one.cls is not None
            and one.cls.node in self._found.classes
            and self._found.classes[one.cls.node]
        ):
            parts = [name, code.render(one.tx), *fields]
            plan.code[one.call] = f"{one.cls.name}({joined(parts)})"
            return
        parts = [name, code.render(one.tx), f"wrt={code.refer('nnx.Param')}"]
        plan.code[one.call] = f"{code.refer(_OPTIMIZER)}({joined(parts)})"

    def _live(self, use: Use) -> str:
        """Return the variable of the model that is constructed where its variables are made."""
        kind = self._code.kinds.of_use(use)
        if not isinstance(kind, Live) or use is not kind.init:
            return ""
        self._code.plan.removed.add(kind.statement)
        return kind.name

    def _made(self, use: Use) -> str:
        """Return the construction of the model that a use makes the variables of."""
        assert use.call is not None
        call = use.call
        rngs = self._inits.rngs(call)
        if self._live(use):
            sizes = self._models.sizes(use, call, 1, is_kept=False)
            return self._code.constructed(use.constructions[0].node, sizes, rngs)
        return self._models.new_model(
            use, lambda: self._models.sizes(use, call, 1, is_kept=False), rngs
        )

    def _model(self, one: ModelCreation) -> None:
        plan = self._code.plan
        made = self._made(one.init)
        if one.live:
            plan.before.setdefault(one.statement, []).append(f"{one.live} = {made}")
            plan.removed.add(one.statement)
        else:
            plan.code[one.value] = made

    def _optimizer(self, one: OptimizerCreation) -> None:
        code = self._code
        wrt = f"wrt={code.refer('nnx.Param')}"
        parts = [code.render(one.params), code.render(one.tx), wrt]
        code.plan.code[one.call] = f"{code.refer('nnx.Optimizer')}({joined(parts)})"

    def _step(self, one: OptimizerStep) -> None:
        code, plan = self._code, self._code.plan
        optimizer, params = code.render(one.optimizer), code.render(one.params)
        lines = [f"{optimizer}.update({params}, {code.render(one.grads)})"]
        after = code.render(one.after)
        if after != optimizer:
            lines.append(f"{after} = {optimizer}")
        statement = code.places.statement(one.apply)
        assert statement is not None
        plan.before.setdefault(statement, []).extend(lines)
        plan.code[one.apply] = params
        if one.alone is not None:
            plan.removed.add(one.alone)

    def _free_name(self) -> str:
        taken = self._code.file.names.before
        return next((one for one in MODEL_NAMES if one not in taken), "linen_model")

    def _application(self, one: Application) -> None:
        code = self._code
        model = code.render(one.params)
        for arg in one.call.args:
            if keyword_of(arg) == "method":
                code.done.add(arg.value)
        if one.streams:
            statement = code.places.statement(one.call)
            assert statement is not None
            streams = [f"{name}={code.render(value)}" for name, value in one.streams]
            line = f"{code.refer('nnx.reseed')}({joined([model, *streams])})"
            code.plan.before.setdefault(statement, []).append(line)
        function = model if one.method == "__call__" else f"{model}.{one.method}"
        code.plan.code[one.call] = f"{function}({joined([code.arg(arg) for arg in one.args])})"

    def _update(self, one: Update) -> None:
        code, plan = self._code, self._code.plan
        state = code.render(one.state)
        statement = code.places.statement(one.call)
        assert statement is not None
        lines = [] if one.grads is None else [f"{state}.update({code.render(one.grads)})"]
        lines += [f"{state}.{keyword_of(arg)} = {code.render(arg.value)}" for arg in one.fields]
        if lines:
            plan.before.setdefault(statement, []).extend(lines)
        plan.code[one.call] = state
        if one.statement is not None and (lines or self._is_among_others(statement)):
            plan.removed.add(one.statement)

    def _is_among_others(self, statement: cst.CSTNode) -> bool:
        block = self._code.places.block(statement)
        return isinstance(block, (cst.IndentedBlock, cst.Module)) and len(block.body) > 1

    # -- classes ----------------------------------------------------------------------------------

    def _class(self, node: cst.ClassDef) -> None:
        plan = self._code.plan
        fields = self._found.classes[node]
        plan.removed.add(node)
        if fields:
            plan.before[node] = [self._class_text(node, fields)]

    def _class_text(self, node: cst.ClassDef, fields: tuple[Field, ...]) -> str:
        """Return the definition of a class of optimizers with attributes of its own."""
        code = self._code
        first = node.body.body[0]
        lines = [f"class {node.name.value}({code.refer(_OPTIMIZER)}):"]
        match first:
            case cst.SimpleStatementLine(body=[cst.Expr(value=value)]) if text_of(value):
                lines += [f"    {code_of(value)}", ""]
        header = ["self", f"model: {code.refer('nnx.Module')}", "tx", "*"]
        for one in fields:
            default = f" = {code.render(one.default)}" if one.default is not None else ""
            header.append(f"{one.name}: {code.render(one.annotation)}{default}")
        lines.append(f"    def __init__({', '.join(header)}) -> None:")
        lines.append(f"        super().__init__(model, tx, wrt={code.refer('nnx.Param')})")
        lines += [f"        self.{one.name} = {one.name}" for one in fields]
        return "\n".join(lines)


def _values(call: cst.Call) -> set[cst.CSTNode]:
    """Return the arguments of a call, and the attributes that it reads of a model."""
    return {call.func, *(arg.value for arg in call.args if isinstance(arg.value, cst.Attribute))}
