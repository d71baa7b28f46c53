"""What names and expressions of a file stand for."""
