"""A package whose files import each other relatively."""

from .model import Agent, Classifier

__all__ = ["Agent", "Classifier"]
