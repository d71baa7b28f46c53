"""The updates of collections that training code takes through its functions: NNX needs none."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import argument, code_of, key_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, Wrapped
from typed_nnx_codegen.migrate.linen.callers.bindings import binder_of, same_variable
from typed_nnx_codegen.migrate.linen.callers.rendering import keyword_of
from typed_nnx_codegen.migrate.linen.callers.training.found import Application, Found
from typed_nnx_codegen.migrate.linen.callers.training.program import GRADIENTS, Program
from typed_nnx_codegen.migrate.linen.callers.training.state_values import NotKnownError

_VALUE_AND_GRAD = "jax.value_and_grad"
_TUPLES = ("builtins.tuple", "typing.Tuple")


class Outputs:
    """Takes the updates out of what functions return, and out of what takes their results.

    Args:
        analysis: The file.
        program: All files.
        found: What the training code does; what loses an item is added.
    """

    def __init__(self, analysis: Analysis, program: Program, found: Found) -> None:
        self._analysis = analysis
        self._program = program
        self._places = program.places(analysis)
        self._found = found
        self._given = {
            arg.value
            for update in found.updates.values()
            for arg in update.call.args
            if keyword_of(arg) not in ("", "grads") and arg not in update.fields
        }

    def remove(self, application: Application) -> None:
        """Take the updates that a call of a model gives out of the program.

        Raises:
            NotKnownError: They are used for something that NNX has no other form of.
        """
        assert application.target is not None
        last = application.target.elements[1].value
        assert isinstance(last, cst.Name)
        self._found.shorter[application.target] = 1
        self._follow(last)

    def _follow(self, name: cst.Name) -> None:
        """Take away what reads the updates under a name."""
        home = binder_of(name, self._places)
        if name.value == "_":
            return
        for node in same_variable(name.value, home, self._analysis.tree, self._places):
            if node is name:
                continue
            parent = self._places.parent(node)
            if isinstance(parent, cst.Subscript) and parent in self._given and key_of(parent):
                continue
            if not isinstance(parent, cst.Element) or not self._returned(parent):
                raise NotKnownError(f"`{name.value}` is used for more than the next state")

    def _returned(self, element: cst.Element) -> bool:
        """Take an item out of the result of a function, and out of what takes it."""
        around = self._places.parent(element)
        outer = self._places.parent(around) if around is not None else None
        if not isinstance(around, cst.Tuple):
            return False
        index = list(around.elements).index(element)
        if isinstance(outer, cst.Return):
            path: tuple[int, ...] = (index,)
            whole = around
        else:
            whole_node = self._places.parent(outer) if outer is not None else None
            if not isinstance(whole_node, cst.Tuple) or not isinstance(outer, cst.Element):
                return False
            path = (list(whole_node.elements).index(outer), index)
            whole = whole_node
            if not isinstance(self._places.parent(whole), cst.Return):
                return False
        function = self._places.function(element)
        if not isinstance(function, cst.FunctionDef) or path[0] != 1 or len(whole.elements) != 2:
            return False
        self._shorten(around, index)
        self._shorten_type(function, path)
        for call, gradient in self._calls_of(function):
            self._unpacked(call, gradient, path)
        return True

    def _shorten(self, node: cst.Tuple, index: int) -> None:
        if self._found.shorter.get(node, index) != index:
            raise NotKnownError("two updates are in one tuple")
        self._found.shorter[node] = index

    def _shorten_type(self, function: cst.FunctionDef, path: tuple[int, ...]) -> None:
        """Take an item out of the type that a function says it returns, where that is a tuple's."""
        if function.returns is None:
            return
        found: cst.BaseExpression = function.returns.annotation
        for above in path[:-1]:
            items = self._items(found)
            if above >= len(items):
                return
            found = items[above]
        if isinstance(found, cst.Subscript) and path[-1] < len(self._items(found)):
            self._found.shorter_types[found] = path[-1]

    def _items(self, annotation: cst.BaseExpression) -> list[cst.BaseExpression]:
        """Return the types of the items in `tuple[A, B]`; none for another type."""
        if not isinstance(annotation, cst.Subscript):
            return []
        value = self._analysis.values.get(annotation.value, UNKNOWN)
        if not isinstance(value, External) or value.name not in _TUPLES:
            return []
        items = [one.slice.value for one in annotation.slice if isinstance(one.slice, cst.Index)]
        return [] if any(isinstance(one, cst.Ellipsis) for one in items) else items

    def _calls_of(self, function: cst.FunctionDef) -> Iterator[tuple[cst.Call, str]]:
        """Yield the calls of the gradients of a function, with the transform."""
        for call in self._program.calls_of(function):
            is_gradient = isinstance(call.value, Wrapped) and call.value.by in GRADIENTS
            if not is_gradient or call.analysis is not self._analysis:
                raise NotKnownError(f"`{function.name.value}` is called for its updates")
            assert isinstance(call.value, Wrapped)
            yield call.node, call.value.by

    def _unpacked(self, call: cst.Call, gradient: str, path: tuple[int, ...]) -> None:
        """Take an item out of what takes the result of a gradient with other outputs."""
        match self._places.parent(call):
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() as target)]) if (
                len(target.elements) == 2
            ):
                pass
            case _:
                raise NotKnownError("the result of a gradient is not unpacked at once")
        aux: cst.BaseExpression = target.elements[1].value
        holder, at = target, 1
        if gradient == _VALUE_AND_GRAD:
            first = target.elements[0].value
            if not isinstance(first, cst.Tuple) or len(first.elements) != 2:
                raise NotKnownError("the result of a gradient is not unpacked at once")
            holder, aux = first, first.elements[1].value
        if len(path) == 1:
            self._drop_aux(call)
        elif isinstance(aux, cst.Tuple) and len(aux.elements) > path[1]:
            holder, at, aux = aux, path[1], aux.elements[path[1]].value
        else:
            raise NotKnownError("the outputs of a gradient are not unpacked at once")
        if not isinstance(aux, cst.Name):
            raise NotKnownError("the updates of a gradient are given no name")
        self._shorten(holder, at)
        self._follow(aux)

    def _drop_aux(self, call: cst.Call) -> None:
        """Let a gradient return no other output: nothing is left of it."""
        maker = call.func if isinstance(call.func, cst.Call) else self._maker(call.func)
        given = argument(maker, 2, "has_aux")
        if given is None or given.keyword is None:
            raise NotKnownError("`has_aux` of a gradient is not known")
        self._found.has_aux[maker] = given

    def _maker(self, name: cst.BaseExpression) -> cst.Call:
        """Return the call that makes the gradient that a variable is."""
        for assign in self._analysis.nodes.of(cst.Assign):
            match assign:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name(value=target))],
                    value=cst.Call() as made,
                ) if assign in self._places and code_of(name) == target:
                    if self._places.function(assign) is self._places.function(name):
                        return made
        raise NotKnownError("it is not known where a gradient is made")
