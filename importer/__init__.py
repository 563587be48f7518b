"""Import candidates from spreadsheets into a recruiting service, every row once."""

__version__ = "0.1.0"
