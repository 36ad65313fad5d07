"""Run the command line: ``python -m marginboost``."""

from marginboost.cli import main

if __name__ == "__main__":
    main()
