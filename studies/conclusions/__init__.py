"""What the tables of a study say of its published conclusions: `conclusions` makes the block of that name of a page.

A conclusion is never written by hand: a run whose figures differ says otherwise by itself.
"""

from collections.abc import Callable

from studies.conclusions.baskets import baskets
from studies.conclusions.bottlenecks import bottlenecks
from studies.conclusions.containers import containers
from studies.conclusions.framework import framework
from studies.conclusions.memory import memory
from studies.conclusions.parallel import parallel
from studies.conclusions.tables import Blocks, Claim, Tables

#: The claims of each study that draws conclusions.
CLAIMS: dict[str, Callable[[Tables], list[Claim]]] = {
    "memory": memory,
    "baskets": baskets,
    "containers": containers,
    "parallel": parallel,
    "framework": framework,
    "bottlenecks": bottlenecks,
}
#: The key of the block.
CONCLUSIONS = "conclusions"


def conclusions(study: str, blocks: Blocks) -> list[str]:
    """The items of a list: each claim, and what the tables say of it. Empty for a study without conclusions.

    Raises LookupError where a table lacks a row or a column that a claim is about.
    """
    return [claim.line() for claim in CLAIMS[study](Tables(blocks))] if study in CLAIMS else []
