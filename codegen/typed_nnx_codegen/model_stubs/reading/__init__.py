"""What a user's source says about models: read through mypy, nothing of it imported or executed."""

from typed_nnx_codegen.model_stubs.reading.resolving import read as read
