"""`python -m basketry`, or the interpreter with the package's folder: the command."""

import sys
from pathlib import Path

if not __package__:
    # Modules are looked for where the package lies, and not in it.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from basketry._command import main

sys.exit(main())
