"""Files that hold Python code: modules, notebooks, Markdown and reStructuredText."""
