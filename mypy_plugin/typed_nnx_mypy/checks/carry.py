"""``nnx-carry``: a scan without exactly one Carry, or with one whose type changes."""
