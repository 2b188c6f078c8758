"""Establish what can be established about a submission, of which only the responses are used."""
