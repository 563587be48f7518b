"""The sandbox from outside: real HTTP on loopback, real files."""
