"""``python -m coalface`` is ``coalface``."""

import sys

from coalface.cli import main

if __name__ == "__main__":
    sys.exit(main())
