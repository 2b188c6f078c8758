"""The glue to each harness."""
