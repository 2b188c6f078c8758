"""The page of a report: `index.html` with its data in scripts beside it, so that it works from disk."""
