"""Control flow and derivatives with modules: `nn.cond`, `nn.switch`, `nn.while_loop`, `nn.grad`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.running.frames import Frame, FunctionRef
from typed_nnx_codegen.migrate.linen.running.merging import Merging
from typed_nnx_codegen.migrate.linen.running.passed import Passed, bind_names
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Array, Const, Seq, Value
from typed_nnx_codegen.migrate.linen.transforms.functions import LiftedFunctions
from typed_nnx_codegen.migrate.linen.transforms.rebuilding import Filled

_WITHOUT: Final = frozenset(
    {
        *("vjp", "jvp", "custom_vjp", "map_variables", "fold_rngs", "add_metadata_axis", "xmap"),
        *("jit_with_static", "scan_with_axes", "remat_with_axes", "vmap_with_axes"),
    }
)
_WHILE: Final = (
    *("cond_fn", "body_fn", "mdl", "init", "carry_variables", "broadcast_variables"),
    "split_rngs",
)


@dataclass(frozen=True)
class _Call:
    """A call of one of the functions here."""

    name: str
    passed: list[Passed]
    node: cst.Call
    frame: Frame


class Control:
    """Goes through control flow with modules.

    Args:
        lifted_functions: Goes through functions under transforms.
        merging: Joins values.
        refer: Gives the code for a public name.
    """

    def __init__(
        self,
        lifted_functions: LiftedFunctions,
        merging: Merging,
        refer: Callable[[str], str],
    ) -> None:
        self._lifted_functions = lifted_functions
        self._merging = merging
        self._refer = refer

    def call(self, public: str, passed: list[Passed], node: cst.Call, frame: Frame) -> Value | None:
        """Return what a function of Linen returns; None where it is none of those here."""
        name = public.rpartition(".")[2]
        call = _Call(name, passed, node, frame)
        if name in _WITHOUT:
            return self._refuse(call, f"`nn.{name}` is not migrated")
        handler = self._handlers.get(name)
        return handler(self, call) if handler is not None else None

    def _refuse(self, call: _Call, message: str) -> Value:
        if call.frame.records:
            call.frame.recorder.mark(call.node, message)
        return UNKNOWN

    def _run(self, function: Value, arguments: list[Passed], frame: Frame) -> Value:
        """Go through a function that is called with a module first."""
        if not isinstance(function, FunctionRef) or not arguments:
            return UNKNOWN
        return self._lifted_functions.run_with_module(function, arguments, frame)

    def _branches(self, call: _Call) -> Value:
        """Return what `nn.cond` or `nn.switch` returns."""
        if any(one.keyword or one.star for one in call.passed):
            return self._refuse(call, f"`nn.{call.name}` with keywords is not migrated")
        count = 3 if call.name == "cond" else 2
        functions = [one.value for one in call.passed[1:count]]
        if call.name == "switch":
            branches = functions[0] if functions else UNKNOWN
            functions = list(branches.items) if isinstance(branches, Seq) else []
        recorder = call.frame.recorder
        before = len(recorder.plan.sites)
        results = [self._run(one, call.passed[count:], call.frame) for one in functions]
        if len(recorder.plan.sites) > before:
            return self._refuse(call, f"a branch of `nn.{call.name}` builds submodules")
        if call.frame.records:
            recorder.replace(call.node.func, self._refer(f"nnx.{call.name}"))
        value = results[0] if results else UNKNOWN
        for other in results[1:]:
            value = self._merging.joined(value, other, call.frame)
        return value

    def _while(self, call: _Call) -> Value:
        bound = bind_names(_WHILE, call.passed)
        given = [bound.by_name.get(name) for name in _WHILE[:4]]
        known = [one for one in given if one is not None]
        if len(known) != 4 or bound.extra or "split_rngs" in bound.by_name:
            return self._refuse(call, "`nn.while_loop` with these arguments is not migrated")
        condition, body, module, first = known
        self._run(condition.value, [module, first], call.frame)
        value = self._run(body.value, [module, first], call.frame)
        if call.frame.records and call.frame.recorder.is_recording:
            template = (
                f"{self._refer('nnx.while_loop')}(lambda state: __0__(*state),"
                " lambda state: (state[0], __1__(*state)), (__2__, __3__))[1]"
            )
            nodes = tuple(one.node for one in known)
            call.frame.recorder.plan.rebuilt[call.node] = Filled(template, nodes)
        return self._merging.joined(first.value, value, call.frame)

    def _derivative(self, call: _Call) -> Value:
        """Return what `nn.value_and_grad` or `nn.grad` returns."""
        if any(one.keyword or one.star for one in call.passed) or len(call.passed) < 3:
            return self._refuse(call, f"`nn.{call.name}` with these arguments is not migrated")
        function, *arguments = call.passed
        value = self._run(function.value, arguments, call.frame)
        gradients = Seq(tuple(_without_origin(one.value) for one in arguments[1:]))
        if call.frame.records and call.frame.recorder.is_recording:
            numbers = tuple(range(1, len(arguments)))
            places = ", ".join(f"__{k}__" for k in range(1, len(call.passed)))
            name = self._refer(f"nnx.{call.name}")
            template = f"{name}(__0__, argnums={numbers!r})({places})"
            nodes = tuple(one.node for one in call.passed)
            call.frame.recorder.plan.rebuilt[call.node] = Filled(template, nodes)
        return Seq((value, gradients)) if call.name == "value_and_grad" else gradients

    _handlers: Final[Mapping[str, Callable[..., Value]]] = {
        "cond": _branches,
        "switch": _branches,
        "while_loop": _while,
        "value_and_grad": _derivative,
        "grad": _derivative,
    }


def _without_origin(value: Value) -> Value:
    match value:
        case Array(shape=shape, dtype=dtype):
            return Array(shape, dtype)
        case Const():
            return UNKNOWN
    return value
