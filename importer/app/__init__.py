"""What can be asked for: an order in, events out, a summary back."""
