"""FinanceMath: knowledge-intensive calculation questions."""
