"""The command ``typed-nnx check``: types, old spellings and stubs of a project in one go."""

from __future__ import annotations
