"""A verb over many files, through whatever has `submit`: Dask's client, an executor of `concurrent.futures`, or parsl.

    from basketry import distributed

    distributed.map("rewrite", "in/*.root", output="out/{name}", client=client, compression="zstd:5")
    distributed.merge({"ttbar": "in/tt*.root"}, into="out/{dataset}_{n}.root", target_size="2GB", client=client)
    distributed.tune("in/*.root", "out/{name}", sample=3, client=client)

One file, or one group of files to merge, is one task; there is no graph and no shuffling. Outputs appear whole. This
package plans and collects; the tasks are the verbs themselves. Workers and caller must see the same files.
"""

from __future__ import annotations

from .mapping import map
from .merging import Bin, bins, merge
from .tasks import Failed, Skipped
from .tuning import Tuned, tune

__all__ = ["Bin", "Failed", "Skipped", "Tuned", "bins", "map", "merge", "tune"]
