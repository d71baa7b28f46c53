"""The functions that training code passes its state to, and what they return."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    argument,
    code_of,
    descendants,
    key_of,
    number_of,
    parameters_of,
)
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, ProjectFunction, Wrapped
from typed_nnx_codegen.migrate.linen.callers.constructions import JIT
from typed_nnx_codegen.migrate.linen.callers.places import (
    Places,
    binder_of,
    same_variable,
    variables_in,
)
from typed_nnx_codegen.migrate.linen.callers.rendering import keyword_of
from typed_nnx_codegen.migrate.linen.callers.training_states import (
    GRADIENTS,
    Application,
    Found,
    NotKnownError,
    Program,
    function_of,
    holds_state,
    is_changing,
    is_params,
    is_state,
)


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
