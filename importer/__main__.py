"""`python -m importer`: the same as the console script."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder: a csv.py next to a CSV must not replace the library's
    from importer.cli.app import main

    main()
