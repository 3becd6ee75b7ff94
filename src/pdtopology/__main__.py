"""`python -m pdtopology`."""

import sys

from pdtopology.cli import main

sys.exit(main())
