"""The command line as ``python -m squamish.cli``."""

from squamish.cli import main

main()
