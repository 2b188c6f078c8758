"""The wordings by which models give an answer, as tables that are easy to extend."""
