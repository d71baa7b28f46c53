"""A project whose files name each other in different ways."""
