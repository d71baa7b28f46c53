"""``nnx-lost-update``: a changed State that is never written back."""
