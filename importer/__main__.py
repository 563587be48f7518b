"""`python -m importer`: the same as the console script."""

from importer.cli.app import main

if __name__ == "__main__":
    main()
