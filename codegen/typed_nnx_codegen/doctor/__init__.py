"""The command ``typed-nnx doctor``: what is installed and set up here, and what to fix."""

from __future__ import annotations
