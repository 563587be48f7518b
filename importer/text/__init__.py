"""What every room needs to read and to show texts: compared, corrected, dated, taken apart, made visible."""
