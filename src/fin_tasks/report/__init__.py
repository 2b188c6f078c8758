"""What result files say: runs as a harness wrote them, compared and shown."""
