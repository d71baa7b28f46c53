"""Names that people give to definitions and States: evidence where nothing else is known."""

from __future__ import annotations

import re

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted

_DEFINITION = re.compile(r"(^|_)(static|graph_?def|module_?def|gdef|mdef)_?\d*$")

_STATE = re.compile(r"(^|_)(flat|grads?|params?|rest|states?)_?\d*$")


def is_called_definition(node: cst.CSTNode | str) -> bool:
    """Whether a name or attribute is called like a definition: ``static``, ``self.graphdef``."""
    return bool(_DEFINITION.search(_last_part(node)))


def is_called_state(node: cst.CSTNode | str) -> bool:
    """Whether a name or attribute is called like a State: ``params``, ``self.opt_state``."""
    return bool(_STATE.search(_last_part(node)))


def _last_part(node: cst.CSTNode | str) -> str:
    return (node if isinstance(node, str) else dotted(node)).rpartition(".")[2]
