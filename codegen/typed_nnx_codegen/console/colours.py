"""What the environment says of colours."""

from __future__ import annotations

import os


def asked_for() -> bool | None:
    """Return whether the environment wants colours; None where that depends on the output.

    ``NO_COLOR`` says no and ``FORCE_COLOR`` yes, in this order, where they are not empty.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return False if os.environ.get("TERM") == "dumb" else None
