"""Values of a tree and of its friend, which real ROOT adds as users do: `TTree::AddFriend`.

Run as a script this module is the process with ROOT in it; its argument is JSON of {"paths", "tree", "friend", "file",
"names"}.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from referee.root_answer import answer_of


def beside(paths: Sequence[Path], tree: str, friend: str, file: Path, names: list[str]) -> dict[str, list[float]]:
    """Of each name, a column of the tree or `FRIEND.COLUMN`, the values of all entries."""
    question = {"paths": [str(path) for path in paths], "tree": tree, "friend": friend, "file": str(file)}
    answer = answer_of(__name__, question | {"names": names})
    if said := answer.pop("said"):
        raise RuntimeError("\n".join(said))
    return answer


def main() -> None:
    """Answers the question."""
    import ROOT

    ROOT.gROOT.SetBatch(True)
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    chain = ROOT.TChain(wanted["tree"])
    for path in wanted["paths"]:
        chain.Add(path)
    chain.AddFriend(wanted["friend"], wanted["file"])
    values: dict[str, list[float]] = {name: [] for name in wanted["names"]}
    formulas = {name: ROOT.TTreeFormula(f"f{at}", name, chain) for at, name in enumerate(wanted["names"])}
    tree = -1
    for entry in range(chain.GetEntries()):
        chain.LoadTree(entry)
        if chain.GetTreeNumber() != tree:
            tree = chain.GetTreeNumber()
            for formula in formulas.values():
                formula.UpdateFormulaLeaves()
        for name, formula in formulas.items():
            formula.GetNdata()
            values[name].append(formula.EvalInstance())
    print(json.dumps(values))


if __name__ == "__main__":
    main()
