"""Reads trees and RNTuples by uproot for basketry: a request in JSON a line on stdin, an answer a line on stdout.

A request names a file and its trees, for each the columns (all, if none are named). The answer is the CPU time of
opening the file and of an array of each branch; of an RNTuple that of the arrays of its fields, in one call. What
uproot cannot read is found when a file is read for the first time, and passed over from then on.
"""

import json
import os
import sys
import time

# The folder that the command was started in is no place to import from.
sys.path[:] = [place for place in sys.path if place]
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

try:
    import warnings

    warnings.simplefilter("ignore")
    import awkward  # noqa: F401
    import uproot
    from uproot.interpretation.identify import UnknownInterpretation
except Exception as error:
    print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers, flush=True)
    sys.exit(0)
print(json.dumps({"version": uproot.__version__}), file=answers, flush=True)

#: Branches that cannot be read: file, tree and names.
unread = set()


def leaves(branch, names, wanted):
    """Branches with baskets that are asked for, with their names after those of the branches that they are in."""
    names = (*names, branch.name)
    if len(branch.branches):
        for below in branch.branches:
            yield from leaves(below, names, wanted)
    elif branch.num_baskets and (wanted is None or names in wanted):
        yield names, branch


def read(file, path, columns):
    """CPU seconds, and bytes of the arrays."""
    wanted = None if columns is None else {tuple(column) for column in columns}
    total, passed, begun = 0, 0, time.process_time()
    with uproot.open(file, object_cache=None, array_cache=None) as opened:
        tree = opened[path]
        for top in tree.branches:
            for names, branch in leaves(top, (), wanted):
                if (file, path, names) in unread:
                    passed += 1
                    continue
                try:
                    if isinstance(branch.interpretation, UnknownInterpretation):
                        raise ValueError(names)
                    total += branch.array().nbytes
                except Exception:
                    unread.add((file, path, names))
                    passed += 1
    return time.process_time() - begun, total, passed


def read_fields(file, path, fields):
    """CPU seconds, bytes of the arrays, and the number of fields that cannot be read."""
    known = [field for field in fields if (file, path, field) not in unread]
    begun = time.process_time()
    try:
        with uproot.open(file, object_cache=None, array_cache=None) as opened:
            arrays = opened[path].arrays(known) if known else None
            total = 0 if arrays is None else arrays.nbytes
        return time.process_time() - begun, total, len(fields) - len(known)
    except Exception:
        if len(known) == 1:
            unread.add((file, path, known[0]))
            return 0.0, 0, len(fields)
    for field in known:
        read_fields(file, path, [field])
    if all((file, path, field) not in unread for field in known):
        raise ValueError(f"{path} cannot be read as a whole")
    return read_fields(file, path, fields)


for line in sys.stdin:
    request = json.loads(line)
    seconds, total, passed, problem = 0.0, 0, 0, None
    try:
        for tree in request["trees"]:
            if tree["fields"] is not None:
                took, found, left = read_fields(request["file"], tree["tree"], tree["fields"])
            else:
                took, found, left = read(request["file"], tree["tree"], tree["columns"])
            seconds, total, passed = seconds + took, total + found, passed + left
    except Exception as error:
        problem = f"{request['file']}: {type(error).__name__}: {error}"
    answer = {"error": problem} if problem else {"seconds": seconds, "bytes": int(total), "unread": passed}
    print(json.dumps(answer), file=answers, flush=True)
