"""MME-Finance: bilingual questions about charts, tables and documents, graded by a judge that sees the picture."""
