"""MME-Finance: bilingual questions about charts, tables and documents, graded by a judge that sees the picture."""

VERSION = 2
"""The version of all its tasks: a change that moves any score raises it."""
