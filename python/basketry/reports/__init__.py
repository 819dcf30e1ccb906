"""The reports of the verbs, as plain data classes: the values that `basketry VERB --json` prints, under the same names.

Sizes are in bytes and times in CPU seconds, unless a field says otherwise. `class` and `from`, which are words of
Python, are `class_` and `from_` here.
"""

from .editing import Edited, Split
from .finding import Indexed, Joined, Picked
from .generating import Generated
from .inspecting import Finding, Inspection
from .looking import Counts, Drawing, Listing, Rows, TableColumns, TableStatistics
from .making import Converted, Outlook, Summary
from .monitoring import Watched
from .proving import Recovery, Verdict
from .reading import Readspeed
from .reducing import Precision
from .surveying import Checked, Fileset
from .sweeping import Sweep
from .tasks import Collected, Jobs, TaskState
from .tuning import Tuning

__all__ = [
    "Checked",
    "Collected",
    "Converted",
    "Counts",
    "Drawing",
    "Edited",
    "Fileset",
    "Finding",
    "Generated",
    "Indexed",
    "Inspection",
    "Jobs",
    "Joined",
    "Listing",
    "Outlook",
    "Picked",
    "Precision",
    "Readspeed",
    "Recovery",
    "Rows",
    "Split",
    "Summary",
    "Sweep",
    "TableColumns",
    "TableStatistics",
    "TaskState",
    "Tuning",
    "Verdict",
    "Watched",
]
