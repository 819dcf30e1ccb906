"""What the package reads and writes, asked for by lines of JSON on standard input and answered on standard output: the
values of all tables of a file, of several files together, and files of the writer in the order of tasks. It runs in a
process of its own, since the package that is asked may be another than that of tools/freeze.py, and may crash."""

import hashlib
import json
import os
import re
import sys
import threading
from collections.abc import Callable
from typing import Any

# Classes of tables begin so.
TABLES = ("TTree", "TNtuple", "TChain", "ROOT::RNTuple", "ROOT::Experimental::RNTuple")
# Entries of a task.
ENTRIES = 1500
TASKS = 8


def serve() -> int:
    """Answers until the input ends."""
    answers: dict[str, Callable[..., Any]] = {"values": values, "together": together, "write": write}
    for line in sys.stdin:
        task = json.loads(line)
        os.chdir(task.pop("folder"))
        answer = attempt(lambda task=task: answers[task.pop("do")](**task))  # type: ignore[misc]
        print(json.dumps(answer), flush=True)
    return 0


def attempt(read: Callable[[], Any]) -> Any:
    """What is read, or the error."""
    try:
        return read()
    except Exception as error:
        return f"{type(error).__name__}: {placeless(str(error))[:300]}"


def values(path: str) -> dict[str, Any]:
    """The digests of all columns of all tables."""
    import basketry as bk

    found: dict[str, Any] = {}
    file: Any
    with bk.open(path) as file:
        classes = file.classnames()
        found["keys"] = hashed(json.dumps(classes))
        for key, kind in classes.items():
            if kind.startswith(TABLES):
                found |= {f"{key} {name}": one for name, one in table(file, key).items()}
    return found


def table(file: Any, key: str) -> dict[str, Any]:
    """The digests of the columns of a table, in awkward arrays and, of a range of entries, in NumPy's."""
    tree = attempt(lambda: file[key])
    if isinstance(tree, str):
        return {"open": tree}
    found: dict[str, Any] = {"entries": str(tree.num_entries), "types": hashed(json.dumps(tree.typenames()))}
    whole = attempt(tree.arrays)
    if isinstance(whole, str):
        found["arrays"] = whole
        for name in list(tree.keys()):
            array = attempt(lambda name=name: tree[name].array())  # type: ignore[misc]
            found[name] = array if isinstance(array, str) else of_awkward(array)
    else:
        found |= {name: of_awkward(whole[name]) for name in whole.fields}
    part = attempt(lambda: tree.arrays(library="np", entry_start=1, entry_stop=max(1, tree.num_entries - 1)))
    found["np"] = part if isinstance(part, str) else {name: of_numpy(one) for name, one in part.items()}
    steps = attempt(lambda: [of_awkward(step) for step in tree.iterate(step_size=97)])
    found["iterate"] = steps if isinstance(steps, str) else hashed(json.dumps(steps))
    return found


def together(paths: list[str]) -> dict[str, Any]:
    """The digests of several files read as one, in each library that joins them."""
    import basketry as bk

    def by_awkward() -> Any:
        array = bk.concatenate(paths)
        return {name: of_awkward(array[name]) for name in array.fields}

    def by_numpy() -> Any:
        return {name: of_numpy(one) for name, one in bk.concatenate(paths, library="np").items()}

    return {"ak": attempt(by_awkward), "np": attempt(by_numpy)}


def write(path: str, container: str, threads: int, late: bool) -> None:
    """Writes a file in the order of tasks, by so many threads that fill."""
    import awkward as ak
    import numpy as np

    import basketry as bk

    def batch(task: int) -> dict[str, Any]:
        random = np.random.default_rng(task)
        counts = random.integers(0, 5, ENTRIES)
        hits = ak.unflatten(random.normal(size=int(counts.sum())).astype(np.float32), counts)
        made = {"number": np.arange(ENTRIES) + task * ENTRIES, "x": random.normal(size=ENTRIES), "hits": hits}
        made["words"] = ak.Array([f"word {number % 7}" for number in range(ENTRIES)])
        if late and task >= TASKS // 2:
            made["weight"] = random.integers(0, 3, ENTRIES).astype(np.int32)
        return made

    types = {"number": "int64", "x": "float64", "hits": "var * float32", "words": "string"}
    compression = "zstd:1" if container == "rntuple" else "zlib:1"
    options = {"order": "tasks", "threads": threads, "cluster": "400", "basket": "2kB"}
    with bk.recreate(path, compression=compression, **options) as file:  # type: ignore[arg-type]
        tree = file.mkrntuple("t", types) if container == "rntuple" else file.mktree("t", types)

        def fill(first: int, last: int) -> None:
            tasks = iter(range(first, last))
            lock = threading.Lock()

            def work() -> None:
                while True:
                    with lock:
                        task = next(tasks, None)
                        context = None if task is None else tree.fill_context(task)
                    if task is None or context is None:
                        return
                    with context:
                        context.extend(batch(task))

            workers = [threading.Thread(target=work) for _ in range(threads)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()

        fill(0, TASKS // 2)
        if late:
            tree.add_columns({"weight": "int32"})
        fill(TASKS // 2, TASKS)


def of_awkward(array: Any) -> str:
    """The digest of an awkward array: its type, and the bytes of all its buffers."""
    import awkward as ak
    import numpy as np

    form, length, buffers = ak.to_buffers(ak.to_packed(array))
    total = hashlib.sha256(f"{length} {array.type} {form}".encode())
    for name in sorted(buffers):
        total.update(np.ascontiguousarray(buffers[name]).tobytes())
    return total.hexdigest()[:8]


def of_numpy(array: Any) -> str:
    """The digest of an array of NumPy, of objects by what they print."""
    import numpy as np

    if array.dtype == object:
        return hashed(placeless(json.dumps([np.asarray(one).tolist() for one in array], default=repr)))
    total = hashlib.sha256(placeless(f"{array.dtype} {array.shape}").encode())
    total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:8]


def placeless(text: str) -> str:
    """A text without places in memory, which differ from run to run, and without modules of private classes, which may
    move."""
    return re.sub(r"\bbasketry(\.\w+)*\.", "basketry.", re.sub(r"0x[0-9a-f]+", "0x", text))


def hashed(text: str) -> str:
    """The digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
