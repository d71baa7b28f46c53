"""Transforms of functions over objects: one path that every transform goes through."""
