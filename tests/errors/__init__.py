"""Every exception, raised by real operations."""
