"""Where callers make the variables of modules: `init`, `init_with_output`, `tabulate`."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.callers.caller_helpers import INIT_WITH_OUTPUT, VARIABLES_OF
from typed_nnx_codegen.migrate.linen.callers.constructions import Use
from typed_nnx_codegen.migrate.linen.callers.direct_calls import DirectCalls
from typed_nnx_codegen.migrate.linen.callers.kinds import Deferred, Live
from typed_nnx_codegen.migrate.linen.callers.models import Models
from typed_nnx_codegen.migrate.linen.callers.rendering import Rendering, joined
from typed_nnx_codegen.migrate.linen.callers.sizes import NoSizes, Sizes


class InitCalls:
    """Writes what makes variables.

    Args:
        code: Writes expressions.
        models: Writes models.
        direct: The calls that need no variables, by use.
    """

    def __init__(self, code: Rendering, models: Models, direct: Mapping[Use, DirectCalls]) -> None:
        self._code = code
        self._models = models
        self._direct = direct

    def init(self, use: Use) -> None:
        """Write `model.init`, called or handed to something."""
        if use.call is None:
            self._init_function(use)
            return
        call = use.call
        rngs = self.rngs(call)
        kind = self._code.kinds.of_use(use)

        def sizes() -> Sizes:
            return self._models.sizes(use, call, 1, is_kept=use.name != "init")

        if isinstance(kind, Live) and use is not kind.init and self._is_same_init(use, kind.init):
            model = kind.name
        elif isinstance(kind, Live) and use is kind.init:
            one = use.constructions[0]
            line = f"{kind.name} = {self._code.constructed(one.node, sizes(), rngs)}"
            statement = self._code.places.statement(use.node)
            assert statement is not None
            self._code.plan.before.setdefault(statement, []).append(line)
            self._code.plan.removed.add(kind.statement)
            direct = self._direct.get(use)
            if direct is not None and direct.statement is not None:
                self._code.plan.removed.add(direct.statement)
                return
            model = kind.name
        else:
            model = self._models.new_model(use, sizes, rngs)
        if use.name == "init":
            self._code.plan.code[call] = f"{self._code.helper(VARIABLES_OF)}({model})"
            return
        passed = [self._code.arg(arg) for arg in self._passed(call, 1)]
        text = joined([model, *passed])
        self._code.plan.code[call] = f"{self._code.helper(INIT_WITH_OUTPUT)}({text})"

    def _is_same_init(self, use: Use, other: Use) -> bool:
        """Whether a second `init` gives the same variables: the same text in the same statement."""
        if use.call is None or other.call is None or use.name != other.name:
            return False
        is_together = self._code.places.statement(use.node) is self._code.places.statement(
            other.node
        )
        return is_together and code_of(use.call) == code_of(other.call)

    def _passed(self, call: cst.Call, skip: int) -> list[cst.Arg]:
        return [
            arg
            for number, arg in enumerate(call.args)
            if not (number < skip and arg.keyword is None)
            and not (arg.keyword is not None and arg.keyword.value in ("rngs", "mutable"))
        ]

    def rngs(self, call: cst.Call) -> str:
        """Return the random streams that a call of `init` makes variables with."""
        first = next(
            (
                arg.value
                for arg in call.args
                if arg.keyword is not None and arg.keyword.value == "rngs"
            ),
            call.args[0].value if call.args and call.args[0].keyword is None else None,
        )
        if first is None:
            raise NoSizes("the key for its variables is not known")
        return self._rngs_of(first)

    def _rngs_of(self, node: cst.BaseExpression) -> str:
        """Return the streams that a key, or a dict of keys, stands for."""
        name = self._code.refer("nnx.Rngs")
        if isinstance(node, cst.Dict):
            given: dict[str, str] = {}
            for one in node.elements:
                if not isinstance(one, cst.DictElement) or not isinstance(
                    one.key, cst.SimpleString
                ):
                    return f"{name}({self._code.render(node)})"
                given[str(one.key.evaluated_value)] = self._code.render(one.value)
            default = given.pop("params", "")
            streams = [f"{key}={code}" for key, code in given.items()]
            return f"{name}({joined([default, *streams])})"
        return f"{name}({self._code.render(node)})"

    def _init_function(self, use: Use) -> None:
        """Write `model.init` where it is handed to something."""
        if use.name != "init":
            raise NoSizes(f"`{use.name}` is handed on")
        kind = self._code.kinds.of_use(use)
        streams = f"{self._code.refer('nnx.Rngs')}(rngs)"
        if isinstance(kind, Deferred) and kind.preset is not None:
            header = "rngs, *args, **kwargs"
            model = self._models.new_model(use, lambda: Sizes(()), streams)
        else:
            header = "rngs, *args, **kwargs"
            if self._models.takes_sizes(use):
                header = joined(["rngs", *self._models.header(use.classes[0])])
            model = self._models.new_model(use, lambda: self._models.sizes_of_names(use), streams)
        self._code.plan.code[use.node] = (
            f"(lambda {header}: {self._code.helper(VARIABLES_OF)}({model}))"
        )

    def tabulate(self, use: Use) -> None:
        """Write `model.tabulate`."""
        if use.call is None:
            raise NoSizes("`tabulate` is handed on")
        call = use.call
        kind = self._code.kinds.of_use(use)
        if isinstance(kind, Live):
            model = kind.name
        else:
            model = self._models.new_model(
                use, lambda: self._models.sizes(use, call, 1, is_kept=True), self.rngs(call)
            )
        passed = [self._code.arg(arg) for arg in self._passed(call, 1)]
        self._code.plan.code[call] = (
            f"{self._code.refer('nnx.tabulate')}({joined([model, *passed])})"
        )
