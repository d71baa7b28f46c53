"""Code that uses Linen modules from outside: scripts, training code, library functions, tests."""

from __future__ import annotations

from typed_nnx_codegen.migrate.linen.callers.init_and_apply import CallerPlan as CallerPlan
from typed_nnx_codegen.migrate.linen.callers.init_and_apply import (
    around_statement as around_statement,
)
from typed_nnx_codegen.migrate.linen.callers.unhandled_uses import Callers as Callers
