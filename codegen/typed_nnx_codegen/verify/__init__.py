"""``typed-nnx verify``: a Linen file and its migration compute the same, or it says where not."""

from __future__ import annotations
