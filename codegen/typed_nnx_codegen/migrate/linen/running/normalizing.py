"""The function of Linen that its own layers normalize with: layers of projects call it, too."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.layers import Helper
from typed_nnx_codegen.migrate.linen.marker_codes import CALL
from typed_nnx_codegen.migrate.linen.modules.classes import LINEN
from typed_nnx_codegen.migrate.linen.running.frames import Compound, Frame, Line, VariableSite
from typed_nnx_codegen.migrate.linen.running.passed import Passed, bind_names
from typed_nnx_codegen.migrate.linen.running.references import SelfValue
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Array, Const, Seq, Value
from typed_nnx_codegen.migrate.linen.state.declaring import Declaring
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode
from typed_nnx_codegen.migrate.linen.writing.parentheses import bare

NORMALIZE: Final = f"{LINEN}.normalization._normalize"
_PARAMETERS: Final = (
    *("mdl", "x", "mean", "var", "reduction_axes", "feature_axes", "dtype", "param_dtype"),
    *("epsilon", "use_bias", "use_scale", "bias_init", "scale_init", "force_float32_reductions"),
)
# The parameters that it asks the module for.
_VARIABLES: Final = ("scale", "bias")

OWN_PARAMETERS: Final = Helper(
    "OwnParameters",
    '''\
class OwnParameters:
    """Gives functions of Linen the parameters of a module, which they ask for by name."""

    def __init__(self, module):
        self.module = module

    def param(self, name, init_fn, *args, **kwargs):
        """Return the value of a parameter."""
        return getattr(self.module, name)[...]
''',
)


class Normalizing:
    """Goes through calls of that function.

    Args:
        code: Writes expressions for the constructor.
        declaring: Declares variables.
    """

    def __init__(self, code: ConstructorCode, declaring: Declaring) -> None:
        self._code = code
        self._declaring = declaring

    def call(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what the function returns: an array of the shape of its input."""
        bound = bind_names(_PARAMETERS, passed)
        given = bound.by_name.get("x")
        value = given.value if given is not None else UNKNOWN
        result = Array(value.shape) if isinstance(value, Array) else UNKNOWN
        owner = bound.by_name.get("mdl")
        if owner is None or not frame.records or not frame.recorder.is_recording:
            return result
        is_own = isinstance(owner.value, SelfValue) and owner.value is frame.recorder.instance
        is_plain = is_own and not bound.is_open and not frame.recorder.loops
        if not is_plain or not all(
            self._declare(one, bound.by_name, node, frame) for one in _VARIABLES
        ):
            frame.recorder.mark(node, "the parameters that it makes depend on the call", CALL)
            return result
        frame.recorder.helpers.append(OWN_PARAMETERS)
        frame.recorder.replace(owner.node, f"{OWN_PARAMETERS.name}(self)")
        return result

    def _declare(self, name: str, given: dict[str, Passed], node: cst.Call, frame: Frame) -> bool:
        """Write the line that makes a parameter; return whether the constructor can make it."""
        recorder = frame.recorder
        key = f"params/{name}"
        uses, init, dtype = (
            given.get(one) for one in (f"use_{name}", f"{name}_init", "param_dtype")
        )
        x, axes = given.get("x"), given.get("feature_axes")
        if uses is None or init is None or dtype is None or x is None or axes is None:
            return False
        if uses.value == Const(False):
            return True
        if not isinstance(x.value, Array) or key in recorder.variables:
            return False
        with self._code.with_shapes():
            shape = self._code.of_shape(x.value.shape, frame)
            along = self._along(axes, shape, frame)
        attribute = self._declaring.free(name, recorder, "params")
        is_sayable = None not in (along, uses.code, init.code, dtype.code)
        if (
            not is_sayable
            or attribute != name
            or any(one.is_of_call for one in recorder.conditions)
        ):
            return False
        first = f"{init.code}({recorder.rngs}.params(), {along}, {dtype.code})"
        code = f"{self._declaring.kind('params')}({first})"
        line = Line(f"self.{name} = {code}")
        is_sure = uses.value == Const(True)
        recorder.block.append(line if is_sure else Compound(f"if {bare(uses.code or '')}:", [line]))
        recorder.variables[key] = VariableSite(node, "params", name, name, code, Array())
        recorder.declared.setdefault(key, []).append(())
        return True

    def _along(self, axes: Passed, shape: str | None, frame: Frame) -> str | None:
        """Return the code of the sizes of a shape along axes."""
        code = axes.code or self._code.of_value(axes.value, frame)
        if shape is None or code is None:
            return None
        if isinstance(axes.value, Const):
            return f"[{shape}[{code}]]"
        if isinstance(axes.value, Seq) and len(axes.value.items) > 1:
            return None  # the function puts them in an order of its own
        return f"[{shape}[axis] for axis in {code}]"
