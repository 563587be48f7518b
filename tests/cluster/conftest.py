"""The front door's sandbox, for orders that are given without the command line."""

from tests.cli.conftest import front_door, serve

__all__ = ["front_door", "serve"]
