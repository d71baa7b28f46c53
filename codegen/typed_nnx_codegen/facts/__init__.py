"""What a user's class says of its attributes, read from mypy's trees: the one model of it.

The mypy plugin and the generator of overlays are its two users. It imports mypy and nothing else.
"""

from __future__ import annotations
