"""What a file does with its Optimizers, and which name their model has there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import ancestry, derives
from typed_nnx_codegen.migrate.analysis.syntax import argument, dotted, has_star
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    Instance,
    ProjectClass,
    Scope,
    Value,
    without_none,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.bindings import Bindings
from typed_nnx_codegen.migrate.patterns.gradients import Gradients
from typed_nnx_codegen.migrate.patterns.transform_calls import keyword_of

OPTIMIZER: Final = "nnx.Optimizer"
# What an Optimizer has beside its model.
_OWN: Final = "nnx.OptState"
# They take the state of an Optimizer, which had that of its model in it.
_TAKING_STATE: Final = frozenset({"nnx.split", "nnx.state", "nnx.update"})


class OptimizerUses:
    """Finds the older uses of Optimizers.

    Args:
        file: The file.

    Attributes:
        uses: The name of the model at each use, ``optimizer.update(grads)`` or ``optimizer.model``; empty
            where it has none.
        states: The calls that take the state of an Optimizer that was made without `wrt`.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self.bindings = Bindings(file.analysis)
        self._gradients = Gradients(file, self.bindings)
        self.uses = dict(self._find())
        self.states = set(self._find_states())

    # -- uses ---------------------------------------------------------------------------------

    def _find(self) -> Iterator[tuple[cst.CSTNode, str]]:
        for node in self._file.analysis.known.of_any(cst.Call, cst.Attribute):
            if isinstance(node, cst.Call) and is_older_update(self._file, node):
                assert isinstance(node.func, cst.Attribute)
                yield node, self._name(node, node.func.value)
            elif isinstance(node, cst.Attribute) and self._is_model(node):
                yield node, self._name(node, node.value)

    def _find_states(self) -> Iterator[cst.Call]:
        for node in self._file.analysis.known.of(cst.Call):
            if self._file.name(node.func) not in _TAKING_STATE:
                continue
            first, *filters = node.args or [cst.Arg(cst.Name("_"))]
            value = self._file.value(first.value)
            if not is_plain_optimizer(value, own="model"):
                continue
            value = without_none(value)
            origin = value.origin if isinstance(value, Instance) else None
            if origin is None or origin not in self._file.analysis.values:
                continue
            is_older = keyword_of(origin, "wrt") is None and len(origin.args) == 2
            has_model = not filters or any(self._file.name(one.value) != _OWN for one in filters)
            if is_older and has_model:
                yield node

    def _is_model(self, node: cst.Attribute) -> bool:
        return node.attr.value == "model" and is_plain_optimizer(
            self._file.value(node.value), own="model"
        )

    def _name(self, node: cst.Call | cst.Attribute, receiver: cst.BaseExpression) -> str:
        """Return the name of the model at a use; empty where it has none, or is exchanged there."""
        scope = self.bindings.scopes.get(node, self._file.analysis.scope)
        if dotted(node) and self.bindings.of(scope, dotted(node)):
            return ""
        value = without_none(self._file.value(receiver))
        origin = value.origin if isinstance(value, Instance) else None
        if origin not in self._file.analysis.values:
            origin = None
        return self._model(node, receiver, value, origin, scope)

    def gradient_of(self, grads: cst.BaseExpression, scope: Scope) -> str:
        """Return the name of the Module that gradients are taken of; empty where none is known."""
        taken = self._gradients.model_of(grads, scope)
        return taken[0] if taken is not None else ""

    # -- the name of the model ----------------------------------------------------------------

    def _model(
        self,
        node: cst.Call | cst.Attribute,
        receiver: cst.BaseExpression,
        value: Value,
        origin: cst.Call | None,
        scope: Scope,
    ) -> str:
        """Return the name that the model of an Optimizer has at a use of it; or nothing."""
        name = dotted(receiver)
        if origin is not None and name:
            found = self._beside(receiver, origin, scope, self.bindings.order[node])
            if found:
                return found
        grads = gradients_of(node) if isinstance(node, cst.Call) else None
        if grads is not None:
            taken = self._gradients.model_of(grads, scope)
            if taken is not None and self._is_there(*taken, node, name, value, scope):
                return taken[0]
        return ""

    def _beside(
        self, receiver: cst.BaseExpression, origin: cst.Call, scope: Scope, order: int
    ) -> str:
        """Return the name of the model where it stands beside that of the Optimizer."""
        name = dotted(receiver)
        made_of = argument(origin, 0, "model")
        model = dotted(made_of.value) if made_of is not None else ""
        if not model:
            return ""
        for made_in, made_as, made in self.bindings.named(origin):
            if made_as == name and "." not in name:
                if scope.owner_of(name) is not made_in:
                    continue
                if self._stays(model, made_in, scope, made.order, order):
                    return model
            elif "." in made_as and name.rpartition(".")[2] == made_as.rpartition(".")[2]:
                base = name.split(".")[0]
                is_same = name == made_as and scope.owner_of(base) is made_in.owner_of(base)
                if not is_same and not self._is_of(receiver, made_in):
                    continue
                found = self._attribute(made_as.rpartition(".")[0], model, made_in)
                if found:
                    return f"{name.rpartition('.')[0]}.{found}"
        return ""

    def _is_of(self, receiver: cst.BaseExpression, made_in: Scope) -> bool:
        """Whether an attribute is one of an object of the class whose method made it."""
        owner = _owner(made_in)
        if owner is None or not isinstance(receiver, cst.Attribute):
            return False
        of = without_none(self._file.value(receiver.value))
        return isinstance(of, Instance) and owner in ancestry(of.cls)[0]

    def _stays(self, model: str, made_in: Scope, scope: Scope, start: int, end: int) -> bool:
        """Whether a name of a model means at a use what it meant where the Optimizer was made."""
        base = model.split(".")[0]
        if scope.owner_of(base) is not made_in.owner_of(base):
            return False
        owner = made_in.owner_of(base)
        if owner is None:
            return False
        # A function runs later than what stands below it.
        last = end if scope is made_in else 1 << 60
        bound = [*self.bindings.of(owner, model), *self.bindings.of(owner, base)]
        return not any(start < one.order < last for one in bound)

    def _attribute(self, owner: str, model: str, scope: Scope) -> str:
        """Return the attribute that has the model, where the same function sets both."""
        if model.startswith(f"{owner}."):
            rest = model.removeprefix(f"{owner}.")
            return rest if self._times_set(rest, scope) <= 1 else ""
        found = {
            name.removeprefix(f"{owner}.")
            for name in self._attributes_set(owner, scope)
            if any(
                one.value is not None and dotted(one.value) == model
                for one in self.bindings.of(scope, name)
            )
        }
        return found.pop() if len(found) == 1 else ""

    def _times_set(self, attribute: str, scope: Scope) -> int:
        """Return how often an attribute is set in the class that a scope is in."""
        return sum(
            _owner(where) is _owner(scope) for where, _, _ in self.bindings.ending_in(attribute)
        )

    def _attributes_set(self, owner: str, scope: Scope) -> Iterator[str]:
        for name in self.bindings.names(scope):
            if name.startswith(f"{owner}.") and name.count(".") == owner.count(".") + 1:
                yield name

    def _is_there(
        self, model: str, order: int, node: cst.CSTNode, name: str, value: Value, scope: Scope
    ) -> bool:
        """Whether what gradients were taken of is a model beside the Optimizer, still the same."""
        if name and model.startswith(f"{name}."):
            return False
        base = model.split(".")[0]
        end = self.bindings.order[node]
        bound = [*self.bindings.of(scope, model), *self.bindings.of(scope, base)]
        if any(order < one.order < end for one in bound):
            return False
        of = value.of if isinstance(value, Instance) else UNKNOWN
        seen = scope.lookup(model) if model == base else UNKNOWN
        if isinstance(of, Instance) and isinstance(seen, Instance):
            return of.cls == seen.cls or "nnx.Module" in (of.cls, seen.cls)
        return True


def _owner(scope: Scope) -> ProjectClass | None:
    return scope.function.owner if scope.function is not None else None


def is_plain_optimizer(value: Value, *, own: str) -> bool:
    """Whether a value is surely an Optimizer that has no model, and no other member of a name."""
    value = without_none(value)
    if derives(value, "Optimizer") is not True or derives(value, "ModelAndOptimizer") is not False:
        return False
    return not isinstance(value, Instance) or not any(
        own in base.methods or own in base.attributes or own in base.annotated
        for base in ancestry(value.cls)[0]
        if isinstance(base, ProjectClass)
    )


def is_update(file: File, call: cst.Call) -> bool:
    """Whether a call is `update` of an Optimizer that has no model."""
    method = file.method(call)
    if method is None or (method.cls, method.name) != ("Optimizer", "update") or method.on_class:
        return False
    return is_plain_optimizer(method.value, own="update") and not has_star(call)


def is_older_update(file: File, call: cst.Call) -> bool:
    """Whether a call is ``optimizer.update(grads)``."""
    grads = gradients_of(call)
    if grads is None or not is_update(file, call):
        return False
    # A Module there is a mistake, not an older spelling.
    return derives(without_none(file.value(grads)), "Module") is not True


def gradients_of(call: cst.Call) -> cst.BaseExpression | None:
    """Return the gradients of ``update(grads)``; None where a model is given too."""
    by_position = [arg.value for arg in call.args if arg.keyword is None]
    named = keyword_of(call, "grads")
    if keyword_of(call, "model") is not None or len(by_position) + (named is not None) != 1:
        return None
    return named.value if named is not None else by_position[0]
