"""`tune`: one layout for many files, chosen on a few of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _core, verbs
from .._shared.signatures import spelled
from .files import inputs
from .mapping import do, limits, map
from .tasks import Task

if TYPE_CHECKING:
    from typing import Unpack

    from ..reports import Tuning
    from ..verbs.options import Deciding
    from .files import Files, Naming
    from .mapping import Errors, Progress
    from .tasks import SkipDone


@dataclass(frozen=True)
class Tuned:
    """A decision, and what became of the files."""

    tuning: Tuning
    """The decision on the sample; `chosen` is None if the limits cannot be met."""
    sample: tuple[str, ...]
    """The files that it was made on."""
    results: list[Any]
    """The result of each file, as `map` returns it; empty if no layout was chosen or no output requested."""


@spelled(verbs.tune)
def tune(
    files: Files,
    output: Naming | None = None,
    *,
    sample: int = 3,
    client: Any = None,
    threads: int | None = None,
    memory: int | str | None = None,
    retries: int = 2,
    skip_done: SkipDone = False,
    errors: Errors = "return",
    progress: Progress = None,
    **options: Unpack[Deciding],
) -> Tuned:
    """Chooses one layout for many files on a sample, and rewrites all of them into it.

        distributed.tune("data/*.root", "out/{name}", sample=3, workload="columns:Muon_*", client=client)

    The sample is `sample` files, evenly over the list, the first and the last among them. One task of `basketry.tune`
    measures them together: the layout chosen is the one whose costs, summed over these files, are best for the workload
    under the limits. Then `map` rewrites each file into that layout; without `output` only the decision is made. The
    outputs are not measured and proven one by one, as those of `basketry.tune` are; `map("verify", pairs)` compares
    them.

    The other arguments are those of `distributed.map`; options are those of `basketry.tune`, of which `keep` and
    `drop` also select the branches of the outputs. If the sample cannot be tuned, its error is raised.
    """
    found = inputs(files)
    if sample < 1 or not found:
        raise ValueError("tune needs at least one file, and a sample of at least one")
    chosen = [found[place] for place in _core.evenly_spaced(len(found), sample)]
    places = [place for one in chosen for place in one.places]
    measuring = {name: value for name, value in options.items() if name != "force"}
    task = Task("tune", (places,), chosen[0].path, None, measuring)
    (tuning,) = do([task], client, limits(threads, memory), retries, False, "raise", None)
    results: list[Any] = []
    if output is not None and tuning.layout is not None:
        kept: dict[str, Any] = {name: value for name, value in options.items() if name in ("force", "keep", "drop")}
        results = map(
            "rewrite", files, output=output, client=client, threads=threads, memory=memory, retries=retries,
            skip_done=skip_done, errors=errors, progress=progress, layout=tuning.layout, **kept,
        )  # fmt: skip
    return Tuned(tuning, tuple(one.path for one in chosen), results)
