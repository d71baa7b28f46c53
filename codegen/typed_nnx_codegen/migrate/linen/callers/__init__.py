"""Code that uses Linen modules from outside: scripts, training code, library functions, tests."""

from __future__ import annotations

from typed_nnx_codegen.migrate.linen.callers.caller_plan import CallerPlan as CallerPlan
from typed_nnx_codegen.migrate.linen.callers.planning import Callers as Callers
from typed_nnx_codegen.migrate.linen.callers.statement_lines import (
    around_statement as around_statement,
)
