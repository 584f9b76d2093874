#!/usr/bin/env python3
"""redax beside its peers, over the same cases and in the same run; see tools/peers/ and --help."""

import sys

from peers import command

if __name__ == "__main__":
    sys.exit(command.main())
