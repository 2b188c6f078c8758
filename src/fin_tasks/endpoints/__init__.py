"""Asks models behind OpenAI-compatible addresses by the `openai` package, and keeps their replies."""
