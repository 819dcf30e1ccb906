"""`python -m basketry`, or the interpreter with the package's folder: the command."""

import sys
from pathlib import Path

if not __package__:
    # Python looks for modules beside the package, not inside it.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from basketry._command import main

sys.exit(main())
