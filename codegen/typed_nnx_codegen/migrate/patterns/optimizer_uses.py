"""What a file does with its Optimizers, and which name their model has there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import ancestry, derives
from typed_nnx_codegen.migrate.analysis.syntax import argument, dotted, has_star
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    Collection,
    External,
    Instance,
    Method,
    OneOf,
    ProjectClass,
    ProjectFunction,
    Scope,
    Value,
    Wrapped,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.bindings import Bindings
from typed_nnx_codegen.migrate.patterns.gradients import Gradients
from typed_nnx_codegen.migrate.patterns.transform_calls import PARTIAL, keyword_of

OPTIMIZER: Final = "nnx.Optimizer"
WITH_MODEL: Final = "nnx.ModelAndOptimizer"
# What an Optimizer has beside its model.
_OWN: Final = "nnx.OptState"
# They take the state of an Optimizer, which had that of its model in it.
_TAKING_STATE: Final = frozenset({"nnx.split", "nnx.state", "nnx.update"})


@dataclass(frozen=True)
class Use:
    """An older use of an Optimizer: ``optimizer.update(grads)`` or ``optimizer.model``.

    Attributes:
        node: The call or the attribute.
        receiver: The expression of the Optimizer.
        scope: The scope of the use.
        origin: The call that made the Optimizer; None where that is not in the file.
        model: The name of its model at the use; empty where it has none.
    """

    node: cst.Call | cst.Attribute
    receiver: cst.BaseExpression
    scope: Scope
    origin: cst.Call | None
    model: str


class OptimizerUses:
    """Finds the older uses of Optimizers.

    Args:
        file: The file.

    Attributes:
        uses: The uses by their nodes.
        states: The calls that take the state of an Optimizer that was made without `wrt`, and the
            calls that made it.
        keeping: The calls that make an Optimizer which is to keep its model.
        annotations: The annotations of parameters that such an Optimizer is passed to.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self.bindings = Bindings(file.analysis)
        self._gradients = Gradients(file, self.bindings)
        self.uses = {use.node: use for use in self._find()}
        self.states = dict(self._find_states())
        self.keeping = self._to_keep_their_model()
        self.annotations = set(self._annotations())

    # -- uses ---------------------------------------------------------------------------------

    def _find(self) -> Iterator[Use]:
        for node in self._file.analysis.known.of_any(cst.Call, cst.Attribute):
            if isinstance(node, cst.Call) and is_older_update(self._file, node):
                assert isinstance(node.func, cst.Attribute)
                yield self._use(node, node.func.value)
            elif isinstance(node, cst.Attribute) and self._is_model(node):
                yield self._use(node, node.value)

    def _find_states(self) -> Iterator[tuple[cst.Call, cst.Call]]:
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
                yield node, origin

    def _is_model(self, node: cst.Attribute) -> bool:
        return node.attr.value == "model" and is_plain_optimizer(
            self._file.value(node.value), own="model"
        )

    def _use(self, node: cst.Call | cst.Attribute, receiver: cst.BaseExpression) -> Use:
        scope = self.bindings.scopes.get(node, self._file.analysis.scope)
        value = without_none(self._file.value(receiver))
        origin = value.origin if isinstance(value, Instance) else None
        if origin not in self._file.analysis.values:
            origin = None
        model = self._model(node, receiver, value, origin, scope)
        return Use(node, receiver, scope, origin, model)

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
        return self._parameter(name, origin, scope)

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

    def _parameter(self, name: str, origin: cst.Call | None, scope: Scope) -> str:
        """Return the parameter that gets the model in each call that passes the Optimizer too."""
        made_of = argument(origin, 0, "model") if origin is not None else None
        model = dotted(made_of.value) if made_of is not None else ""
        function = scope.function
        if not model or origin is None or function is None:
            return ""
        parameters = function.node.params
        names = [one.name.value for one in (*parameters.posonly_params, *parameters.params)]
        if name not in names or function.escapes:
            return ""
        made_in = self.bindings.scopes.get(origin)
        found: set[str] = set()
        for call in self._calls_of(function):
            passed = {
                arg.keyword.value if arg.keyword is not None else names[index]: dotted(arg.value)
                for index, arg in enumerate(call.args)
                if arg.keyword is not None or index < len(names)
            }
            alike = [one for one, given in passed.items() if given == model]
            if self.bindings.scopes.get(call) is not made_in or len(alike) != 1 or has_star(call):
                return ""
            found.add(alike[0])
        return found.pop() if len(found) == 1 else ""

    def _calls_of(self, function: ProjectFunction) -> Iterator[cst.Call]:
        for node in self._file.analysis.known.of(cst.Call):
            callee = self._file.value(node.func)
            is_partial = False
            while isinstance(callee, Wrapped):
                is_partial = is_partial or callee.by == PARTIAL
                callee = callee.function
            if callee is function:
                # The arguments of a partial are not at their positions.
                yield cst.Call(cst.Name("_")) if is_partial else node

    # -- Optimizers that keep their model -----------------------------------------------------

    def _to_keep_their_model(self) -> set[cst.Call]:
        """Return the Optimizers that have a use without a name for the model."""
        wanted = {
            use.origin
            for use in self.uses.values()
            if use.origin is not None and (not use.model or self._is_set(use.node))
        }
        wanted.update(self.states.values())
        if not wanted:
            return set()
        escapes = Escapes(self._file)
        newer = {
            value.origin
            for node in self._file.analysis.known.of(cst.Call)
            if _is_newer_update(self._file, node)
            for value in [self._receiver(node)]
            if isinstance(value, Instance)
        }
        return {
            origin
            for origin in wanted
            if self._file.name(origin.func) == OPTIMIZER
            and not has_star(origin)
            and origin not in newer
            and not escapes.leaves_file(origin)
        }

    def _receiver(self, call: cst.Call) -> Value:
        assert isinstance(call.func, cst.Attribute)
        return without_none(self._file.value(call.func.value))

    def _is_set(self, node: cst.CSTNode) -> bool:
        name = dotted(node)
        scope = self.bindings.scopes.get(node)
        return bool(name) and scope is not None and bool(self.bindings.of(scope, name))

    def _annotations(self) -> Iterator[cst.BaseExpression]:
        for node, scope in self._file.analysis.scopes.items():
            if not isinstance(node, cst.FunctionDef) or not self.keeping:
                continue
            parameters = node.params
            for one in (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params):
                value = without_none(scope.seen.get(one.name.value, UNKNOWN))
                if (
                    one.annotation is not None
                    and isinstance(value, Instance)
                    and value.origin in self.keeping
                    and self._file.name(one.annotation.annotation) == OPTIMIZER
                ):
                    yield one.annotation.annotation


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


def _is_newer_update(file: File, call: cst.Call) -> bool:
    return is_update(file, call) and gradients_of(call) is None


def gradients_of(call: cst.Call) -> cst.BaseExpression | None:
    """Return the gradients of ``update(grads)``; None where a model is given too."""
    by_position = [arg.value for arg in call.args if arg.keyword is None]
    named = keyword_of(call, "grads")
    if keyword_of(call, "model") is not None or len(by_position) + (named is not None) != 1:
        return None
    return named.value if named is not None else by_position[0]


# -- objects that go to code elsewhere --------------------------------------------------------------


# They do nothing with an Optimizer that depends on its class.
_PACKAGES = ("builtins.", "copy.", "functools.", "jax.", "nnx.")


class Escapes:
    """Finds what is passed to functions and classes that the file does not have.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file

    def leaves_file(self, origin: cst.Call) -> bool:
        """Whether the object that a call made goes, or may go, where the analysis loses it."""
        return any(
            not self._keeps(self._file.value(node.func), origin)
            for node in self._file.analysis.known.of(cst.Call)
            if any(origin in _origins(self._file.value(arg.value)) for arg in node.args)
        )

    def _keeps(self, callee: Value, origin: cst.Call) -> bool:
        """Whether all that happens to an object in a call is in the file, and known."""
        match callee:
            case OneOf():
                return all(self._keeps(option, origin) for option in callee.options)
            case Wrapped():
                return self._keeps(callee.function, origin)
            case ProjectFunction():
                # A parameter that gets several objects stands for none of them.
                scope = self._file.analysis.scopes.get(callee.node)
                seen = scope.seen.values() if scope is not None else ()
                return any(origin in _origins(value) for value in seen)
            case ProjectClass():
                constructor = callee.methods.get("__init__")
                return constructor is not None and self._keeps(constructor, origin)
            case Method():
                return callee.function is None or self._keeps(callee.function, origin)
            case Instance(cls=ProjectClass() as cls):
                method = cls.methods.get("__call__")
                return method is not None and self._keeps(method, origin)
            case External():
                return callee.public.startswith(_PACKAGES)
            case _:
                return False


def _origins(value: Value) -> Iterator[cst.Call]:
    for option in options_of(value):
        if isinstance(option, Instance) and option.origin is not None:
            yield option.origin
        elif isinstance(option, Collection) and option.items is not None:
            for item in option.items:
                yield from _origins(item)
