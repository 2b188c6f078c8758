"""Asks models behind OpenAI-compatible addresses: judges by chat, encoders by embeddings."""
