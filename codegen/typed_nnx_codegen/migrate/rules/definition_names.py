"""Names that people give to definitions: evidence where nothing else is known."""

from __future__ import annotations

import re

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted

_DEFINITION = re.compile(r"(^|_)(static|graph_?def|module_?def|gdef|mdef)_?\d*$")


def is_called_definition(node: cst.CSTNode | str) -> bool:
    """Whether a name or attribute is called like a definition: ``static``, ``self.graphdef``."""
    name = node if isinstance(node, str) else dotted(node)
    return bool(_DEFINITION.search(name.rpartition(".")[2]))
