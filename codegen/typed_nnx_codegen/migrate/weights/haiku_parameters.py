"""What `load` takes, from the parameters and the state of Haiku."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typed_nnx_codegen.migrate.weights.problems import WeightsError


def haiku_variables(
    params: Mapping[str, Any], state: Mapping[str, Any] | None = None, *, module: str = ""
) -> dict[str, Any]:
    """Return the variables of a model for `weights.load`.

    Args:
        params: What `init` of Haiku returned, or what was trained since: by module, then by name.
        state: The state, of `hk.transform_with_state`.
        module: The name of the module that the model is, as it stands in the parameters: `mlp` or
            `encoder/~/mlp`. Empty where the model is a function that was transformed.

    Raises:
        WeightsError: No module is named so.
    """
    given = {"params": params, **({"state": state} if state else {})}
    found = {name: dict(_below(one, module)) for name, one in given.items()}
    if module and not any(found.values()):
        names = sorted({name.partition("/")[0] for name in params})
        raise WeightsError(
            f"haiku_variables: nothing in the parameters is of the module {module!r}.\n"
            f"  Fix: one of {names}"
        )
    return found


def _below(given: Mapping[str, Any], module: str) -> Mapping[str, Any]:
    """Return what is of a module, its own variables by their names."""
    found: dict[str, Any] = {}
    for path, one in given.items():
        if path == (module or "~"):
            found.update(one)
        elif not module:
            found[path] = one
        elif path.startswith(f"{module}/"):
            found[path.removeprefix(f"{module}/")] = one
    return found
