"""What user code says of classes and their attributes, of functions and of constants: the one model of it.

The mypy plugin and the generator of overlays are its two users. It imports mypy and nothing else.
"""

from __future__ import annotations
