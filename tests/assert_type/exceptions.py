"""The constructors of exceptions take the fields that their classes declare."""

from __future__ import annotations

from typing import assert_type

import typed_nnx as nnx
from typed_nnx import errors

found = errors.KeyShapeError("dropout", (4,))
assert_type(found.stream, str)
assert_type(found.shape, tuple[int, ...])
assert_type(errors.KeyShapeError(shape=(4,), stream="a").shape, tuple[int, ...])
errors.KeyShapeError("dropout")  # E: [call-arg|reportCallIssue]
errors.KeyShapeError("dropout", 4)  # E: [arg-type|reportArgumentType]
errors.KeyShapeError("dropout", (4,), size=4)  # E: [call-arg|reportCallIssue]

errors.MeshRequiredError("P('data')")
errors.ArgumentError("split", "got 3.", "give 2")
assert_type(
    errors.ArgumentTypeError.of_argument("split", "n", 2.5, "an int", "n=2"),
    errors.ArgumentTypeError,
)
assert_type(errors.CheckpointNotFoundError("restore", "run").problem, str)
errors.CheckpointDamagedError("f", "p", "lost", "fix", 1)  # E: [call-arg|reportCallIssue]

try:
    nnx.split(nnx.Module(), nnx.Param)
except errors.NoFilterMatchedError as error:
    assert_type(error.leaves, list[tuple[tuple[object, ...], str]])
