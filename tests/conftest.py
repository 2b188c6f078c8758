"""For all tests."""

from hypothesis import settings

# Doctests are looked for in every module, and pytest would import the conftest files of two folders under one name.
collect_ignore_glob = ["*conftest.py"]

# A first example imports what is imported lazily, scipy for one, which takes a busy machine longer than an example may.
settings.register_profile("any machine", settings.default, deadline=None)
settings.load_profile("any machine")
