"""Types that are more precise than the signatures say. Importing this package registers them."""

from typed_nnx_mypy.inference import dataclasses as dataclasses
from typed_nnx_mypy.inference import gradients as gradients
from typed_nnx_mypy.inference import partials as partials
from typed_nnx_mypy.inference import selection as selection
from typed_nnx_mypy.inference import state_access as state_access
