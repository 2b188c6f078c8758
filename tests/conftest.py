# Doctests are looked for in every module, and pytest would import the conftest files of two folders under one name.
collect_ignore_glob = ["*conftest.py"]
