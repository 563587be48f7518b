"""People who do not exist, and the spreadsheets that an old recruiting system would have kept of them."""
