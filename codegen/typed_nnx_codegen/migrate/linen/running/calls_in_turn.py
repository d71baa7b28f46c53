"""`nn.Sequential` of a list that loops have made: its layers are called one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.running.frames import Dispatch, Frame
from typed_nnx_codegen.migrate.linen.running.passed import Passed
from typed_nnx_codegen.migrate.linen.running.references import (
    Choice,
    InTurn,
    ModuleValue,
    Ref,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Value

SEQUENTIAL: Final = "flax.linen.Sequential"


class CallsInTurn:
    """Calls modules and functions of a list one after the other.

    Args:
        dispatch: Goes through a call of something.
        loop: Goes through a loop that only runs with the call.
        refer: Gives the code for a public name.
    """

    def __init__(
        self,
        dispatch: Dispatch,
        loop: Callable[[cst.BaseExpression, Value, Frame, Callable[[], None]], None],
        refer: Callable[[str], str],
    ) -> None:
        self._dispatch = dispatch
        self._loop = loop
        self._refer = refer

    def made_in_method(
        self, callee: Value, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> InTurn | None:
        """Return `nn.Sequential` of a list that only the method has; None for other modules.

        The submodules in the list have their names already, and the list stays in the method.

        Args:
            callee: What is constructed.
            passed: What it is given.
            node: The call that constructs it.
            frame: Where it is.
        """
        is_sequential = isinstance(callee, Ref) and callee.name == SEQUENTIAL and not callee.code
        if not is_sequential or frame.verbatim or not frame.records or len(passed) != 1:
            return None
        one = passed[0]
        is_local = isinstance(one.node, cst.Name) and one.node.value in frame.names
        if not is_local or not isinstance(one.value, Repeated) or one.code is not None:
            return None
        assert isinstance(one.node, cst.Name)
        frame.recorder.replace(node, f"{self._refer('nnx.Sequential')}(*{one.node.value})")
        return InTurn(one.value)

    def call(self, values: Repeated, passed: Passed, node: cst.Call, frame: Frame) -> Value:
        """Return what the modules and functions of a list make of an array, one after the other.

        Args:
            values: The list.
            passed: The array.
            node: The call.
            frame: Where it is.
        """
        names = ("layer", passed.node.value if isinstance(passed.node, cst.Name) else "x")
        kept = {name: frame.names[name] for name in names if name in frame.names}
        edits = list(frame.recorder.edits.get(node, ()))
        layer, inputs = (cst.Name(name) for name in names)
        frame.names[inputs.value] = passed.value

        def run() -> None:
            value = frame.names[inputs.value]
            callee = frame.names.get(layer.value, UNKNOWN)
            for one in callee.options if isinstance(callee, Choice) else (callee,):
                if isinstance(one, ModuleValue):
                    one.site.is_called_elsewhere = True
            given = [Passed(value, None, inputs)]
            frame.names[inputs.value] = self._dispatch(callee, given, node, frame)

        self._loop(layer, values, frame, run)
        result = frame.names[inputs.value]
        for name in names:
            frame.names.pop(name, None)
        frame.names.update(kept)
        # The call stays as it is: what is around the layers calls them.
        frame.recorder.edits[node] = edits
        return result
