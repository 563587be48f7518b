"""Other ways to send a CSV to the same service, each a script for an environment of its own."""
