"""The settings of other tools in a user's project, found and read as these tools do."""

from __future__ import annotations
