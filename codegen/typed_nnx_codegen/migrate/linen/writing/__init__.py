"""The new code: constructors, methods, and where their lines go."""
