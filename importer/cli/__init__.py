"""The commands: arguments in, exit code out. This room builds the parts and hands them over."""
