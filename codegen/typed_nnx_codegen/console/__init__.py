"""What all commands share in front of a person: exit codes, colours, help pages, how errors end."""

from __future__ import annotations
