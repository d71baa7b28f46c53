"""What the files of a project tell of each other."""
