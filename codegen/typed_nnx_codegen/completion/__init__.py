"""Completion of command lines in bash, zsh and fish."""

from __future__ import annotations
