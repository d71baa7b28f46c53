"""The text of every exception, and what exceptions have in common."""

from __future__ import annotations

import pickle

import pytest

from tests.errors import (
    autodiff_cases,
    bridge_cases,
    control_flow_cases,
    graph_cases,
    layer_cases,
    training_cases,
    transform_cases,
)
from tests.errors.case import Case, caught
from typed_nnx import errors

MODULES = (
    *(graph_cases, transform_cases, control_flow_cases, autodiff_cases, layer_cases),
    *(training_cases, bridge_cases),
)
CASES = [
    Case(name, error, *failure)
    for module in MODULES
    for error, failures in module.CASES.items()
    for name, failure in failures.items()
]
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])

EXPORTED = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, Exception)
}


# What old code catches.
CAUGHT_AS = {
    ValueError: (
        "ArgumentError PrefixError SharedReferenceError TangentStructureError ResultError BridgeError "
        "LazyInitError ReservedNameError CarryTypeError StructureChangedError VariableError "
        "MeshRequiredError UnhashableError ForeignModuleError PytreeAttributeError "
        "AttributesNotFoundError KeyShapeError InvalidFilterError NoFilterMatchedError StateMismatchError "
        "GraphError UnknownPathError PrefixConflictError LayerInputError LayerArgumentError "
        "UnsetModeError ChangedModelError CheckpointMismatchError CheckpointNotFoundError CheckpointError "
        "CheckpointDamagedError CheckpointSaveError ExportError DonationError AxisSizeError "
        "BroadcastChangedError ShardingError UnknownMeshAxisError"
    ),
    TypeError: (
        "ArgumentError TangentStructureError MissingRuleError ResultError BridgeError CarryTypeError "
        "BranchMismatchError UnhashableError ForeignModuleError ArgumentTypeError InvalidFilterError "
        "LayerInputError RngsTypeError OptimizerError CheckpointLeafError CompiledCallError"
    ),
    AttributeError: (
        "MissingRuleError ReservedNameError VariableAttributeError StreamNotFoundError StateKeyError "
        "OptimizerError"
    ),
    ImportError: "MissingPackageError",
    RuntimeError: "FlaxNnxInUseError StaleRecordError DonationError",
    KeyError: "StreamNotFoundError StateKeyError MethodNotFoundError",
    NotImplementedError: "AbstractMethodError",
    FileNotFoundError: "CheckpointNotFoundError",
    FileExistsError: "CheckpointExistsError",
}


@pytest.mark.parametrize("builtin", CAUGHT_AS)
def test_old_code_catches_an_error_as_a_builtin_one(builtin: type[Exception]) -> None:
    for name in CAUGHT_AS[builtin].split():
        assert issubclass(EXPORTED[name], builtin), name


@pytest.mark.every_case
@each_case
def test_an_error_says_where_it_is_what_it_got_and_expected_and_how_to_fix_it(case: Case) -> None:
    text = str(caught(case))
    position = 0
    for part in case.says:
        assert part in text[position:], f"{part!r} is not in {text[position:]!r}"
        position = text.index(part, position)
    if case.fix is None:
        assert "wrap the value with nnx.data on assignment" in text.replace("Wrap", "wrap")
    else:
        assert text.count("Fix: ") == 1
        assert case.fix in text.partition("\n  Fix: ")[2]


@each_case
def test_an_error_survives_pickle(case: Case) -> None:
    error = caught(case)
    loaded = pickle.loads(pickle.dumps(error))
    assert type(loaded) is type(error)
    assert str(loaded) == str(error)


def test_every_exception_is_raised_by_a_case() -> None:
    assert {case.error for case in CASES} == set(EXPORTED.values()) - {errors.Error}


@pytest.mark.parametrize("name", sorted(EXPORTED))
def test_an_exception_is_known_by_its_public_name(name: str) -> None:
    assert EXPORTED[name].__name__ == name
    assert EXPORTED[name].__module__ == "typed_nnx.errors"
