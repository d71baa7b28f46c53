"""The error codes of the plugin: one for each check, all below ``nnx`` and in one category.

``# type: ignore[nnx]`` and ``disable_error_code = nnx`` mean all of them. docs/mypy-plugin.md has a
section for each: why, and how to fix.
"""

from __future__ import annotations

from typing import Final

from mypy.errorcodes import ErrorCode

CATEGORY: Final = "NNX"

NNX: Final = ErrorCode("nnx", "Check the use of NNX objects and transforms", CATEGORY)


ALL: Final[list[ErrorCode]] = []
"""Every code of a check."""


def _code(name: str, description: str) -> ErrorCode:
    ALL.append(ErrorCode(f"nnx-{name}", description, CATEGORY, sub_code_of=NNX))
    return ALL[-1]


CALL: Final = _code("call", "Say what is wrong in a call that no overload of a function takes")
STATIC_DATA: Final = _code("static-data", "Check that static values hold no arrays")
PLAIN_CONTAINER: Final = _code(
    "plain-container", "Check that plain containers of arrays on a Module are marked as data"
)
MISPLACED_MARK: Final = _code(
    "misplaced-mark", "Check that nnx.data and nnx.static mark attributes of a Pytree"
)
STATE_KEY: Final = _code("state-key", "Check that keys and attributes of a State exist")
STATE_EXCLUDED: Final = _code(
    "state-excluded", "Check that a field of a State passes its filter and is not static"
)
FILTER_ORDER: Final = _code(
    "filter-order", "Check that each filter can take something and `...` comes last"
)
FILTER_COVERAGE: Final = _code("filter-coverage", "Check that the filters of a split cover all")
STATE_MISMATCH: Final = _code(
    "state-mismatch", "Check that States are put into the model that they are of"
)
STATE_MISSING: Final = _code("state-missing", "Check that merged States cover the GraphDef")
OPTIMIZER_WRT: Final = _code(
    "optimizer-wrt", "Check that an Optimizer gets gradients of its model and of its `wrt`"
)
ARGNUMS: Final = _code("argnums", "Check that differentiated arguments exist and can be")
HAS_AUX: Final = _code(
    "has-aux",
    "Check that a function has a loss to differentiate, and `has_aux` says what else it returns",
)
STATIC_ARGS: Final = _code(
    "static-args", "Check static and donated arguments of jit, and what has to be static"
)
AXES: Final = _code("axes", "Check that axes of vmap, pmap and scan fit the parameters")
CARRY: Final = _code("carry", "Check that scan has one Carry whose type does not change")
BRANCHES: Final = _code("branches", "Check that the branches of cond and switch return the same")
DATA_STATUS: Final = _code(
    "data-status", "Check that static attributes stay static, and data stays data"
)
JAX_MUTATION: Final = _code(
    "jax-mutation", "Check that functions under jax transforms change no outer Module"
)
DEPRECATED: Final = _code("deprecated", "Check for spellings that have a successor")
LOST_UPDATE: Final = _code("lost-update", "Check that a changed State is written back")
VARIABLE_VALUE: Final = _code(
    "variable-value", "Check that what the array of a Variable is set to can be an array"
)
VARIABLE_ARRAY: Final = _code("variable-array", "Say where an array is expected, not its Variable")
ATTRIBUTE: Final = _code(
    "attribute", "Check that a Variable, a MultiMetric or a Dict has the attribute that is read"
)
