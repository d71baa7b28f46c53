"""Runs programs of the user, records the Linen modules that they call, and reads the record."""
