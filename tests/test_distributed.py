"""Verbs over many files: every client gives what one local run gives, bad files do not stop the others, and a worker
that is killed leaves no half output."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import basketry as bk
from basketry import _core, distributed
from basketry.distributed import Failed, Skipped, files, merging, tasks

# Schedulers warn of their own sockets and event loops.
pytestmark = pytest.mark.filterwarnings("ignore:::distributed", "ignore::ResourceWarning", "ignore::DeprecationWarning")

FILES = 4


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of one kind."""
    folder = tmp_path_factory.mktemp("data")
    for number in range(FILES):
        bk.generate("multi", folder / f"f{number}.root", size="300kB", seed=number + 1, branches=2)
    return folder


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes a second to rewrite with lzma:9."""
    path = tmp_path_factory.mktemp("slow") / "slow.root"
    bk.generate("multi", path, size="3MB", branches=2, compression="none")
    return path


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    """Two processes."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    """A client of Dask with two workers of two threads."""
    scheduler = pytest.importorskip("dask.distributed", reason="no dask here")
    options = {"n_workers": 2, "threads_per_worker": 2, "memory_limit": "2GB", "dashboard_address": None}
    with scheduler.LocalCluster(**options) as cluster, scheduler.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def parsl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """parsl's kernel with two threads."""
    library = pytest.importorskip("parsl", reason="no parsl here")
    executors = pytest.importorskip("parsl.executors")
    config = pytest.importorskip("parsl.config")
    folder = str(tmp_path_factory.mktemp("parsl"))
    with library.load(config.Config(executors=[executors.ThreadPoolExecutor(max_threads=2)], run_dir=folder)) as kernel:
        yield kernel


class Plain:
    """A client that has `submit` and nothing else."""

    def submit(self, function: Callable[[Any], Any], argument: Any) -> Future[Any]:
        """Does the task at once."""
        future = Future[Any]()
        try:
            future.set_result(function(argument))
        except Exception as error:
            future.set_exception(error)
        return future


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of all files in a folder, hidden ones included."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def work(data: Path, out: Path, client: Any) -> list[Any]:
    """A rewrite of each file, and merges of two."""
    out.mkdir()
    target = 2 * (data / "f0.root").stat().st_size + 20_000
    options: dict[str, Any] = {"client": client, "compression": "zstd:5"}
    rewritten = distributed.map("rewrite", data / "f*.root", output=out, **options)
    return rewritten + distributed.merge(
        data / "f*.root", f"{out}/{{dataset}}-{{n}}.root", target_size=target, **options
    )


@pytest.fixture(scope="module")
def local(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], dict[str, bytes]]:
    """Results and outputs of a run in this process."""
    out = tmp_path_factory.mktemp("local") / "out"
    results = work(data, out, None)
    return results, contents(out)


@pytest.mark.parametrize("kind", ["pool", "threads", "dask", "parsl", "plain"])
def test_results_equal_those_of_a_local_run(
    kind: str, data: Path, tmp_path: Path, local: tuple[list[Any], dict[str, bytes]], request: pytest.FixtureRequest
) -> None:
    with contextlib.ExitStack() as stack:
        if kind == "threads":
            client: Any = stack.enter_context(ThreadPoolExecutor(2))
        else:
            client = Plain() if kind == "plain" else request.getfixturevalue(kind)
        results = work(data, tmp_path / "out", client)

    names = {f"f{number}.root" for number in range(FILES)} | {"merged-0.root", "merged-1.root"}
    assert set(local[1]) == names
    assert contents(tmp_path / "out") == local[1]
    assert results == local[0]
    assert bk.verify(*sorted(data.iterdir())[:2], tmp_path / "out" / "merged-0.root").equal


def test_reports_can_be_sent_between_processes(data: Path, tmp_path: Path) -> None:
    one, two, cut = data / "f0.root", data / "f1.root", tmp_path / "cut.root"
    cut.write_bytes(one.read_bytes()[:-100])
    reports = [
        bk.inspect(one, baskets=True),
        bk.rewrite(one, tmp_path / "a.root"),
        bk.rewrite(one, tmp_path / "b.root", dry_run=True),
        bk.merge([one, two], tmp_path / "c.root"),
        bk.verify(one, two),
        bk.readspeed(one),
        bk.recover(cut, tmp_path / "d.root"),
        bk.convert(one, tmp_path / "e.parquet"),
        bk.generate("multi", tmp_path / "f.root", size="10kB"),
        bk.tune(one),
        Failed("f.root", "why", ValueError("why")),
        Skipped("f.root", "out.root"),
    ]
    for report in reports:
        again = pickle.loads(pickle.dumps(report))
        assert type(again) is type(report)
        assert repr(again) == repr(report)


def first_entry(file: str, *, column: str) -> Any:
    """A function of a user: no verb of the package."""
    return bk.open(f"{file}:Events")[column].array(entry_stop=1).to_list()


@pytest.mark.parametrize("kind", ["none", "pool"])
def test_a_verb_is_named_or_given(kind: str, data: Path, request: pytest.FixtureRequest) -> None:
    client = None if kind == "none" else request.getfixturevalue(kind)
    paths = sorted(data.glob("f*.root"))

    named, given = (distributed.map(verb, paths, client=client) for verb in ("inspect", bk.inspect))
    layouts = distributed.map(bk.layout, paths[:1], client=client)
    compared = distributed.map("verify", [(paths[0], paths[0]), (paths[0], paths[1])], client=client)
    column = bk.open(f"{paths[0]}:Events").keys()[0]
    own = distributed.map(first_entry, paths, client=client, column=column)

    assert [report.file.path for report in named] == [str(path) for path in paths]
    assert named == given
    assert layouts == [bk.layout(paths[0])]
    assert [verdict.equal for verdict in compared] == [True, False]
    assert own == [first_entry(str(path), column=column) for path in paths]


@pytest.mark.parametrize("kind", ["none", "pool"])
def test_bad_files_do_not_stop_the_others(
    kind: str, data: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    client = None if kind == "none" else request.getfixturevalue(kind)
    bad = tmp_path / "bad.root"
    bad.write_bytes((data / "f0.root").read_bytes()[:1000])
    given = [data / "f0.root", bad, tmp_path / "absent.root", data / "f1.root"]
    out = tmp_path / "out"
    out.mkdir()

    found = distributed.map("rewrite", given, output=out, client=client)

    good, damaged, absent, last = found
    assert (good.tables[0].path, last.tables[0].path) == ("Events", "Events")
    assert isinstance(damaged, Failed)
    assert isinstance(damaged.exception, ValueError)
    assert (damaged.file, damaged.output) == (str(bad), str(out / "bad.root"))
    assert "bad.root" in damaged.error
    assert isinstance(absent, Failed)
    assert isinstance(absent.exception, FileNotFoundError)
    assert sorted(contents(out)) == ["f0.root", "f1.root"]
    with pytest.raises(ValueError, match=r"bad\.root"):
        distributed.map("inspect", given, client=client, errors="raise")


def test_what_is_done_is_skipped(data: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"output": f"{tmp_path}/{{stem}}-new.root", "compression": "zlib:1", "last": 10}
    made = distributed.map("rewrite", data / "f*.root", **options)
    before = contents(tmp_path)
    (tmp_path / "f0-new.root").unlink()
    (tmp_path / "f1-new.root").write_bytes(before["f1-new.root"][:-50])
    # Whole, but with other entries.
    bk.rewrite(data / "f2.root", tmp_path / "f2-new.root", last=9, force=True)

    refused = distributed.map("rewrite", data / "f*.root", **options)
    assert [type(result).__name__ for result in refused] == ["Summary", "Failed", "Failed", "Failed"]
    assert isinstance(refused[1].exception, FileExistsError)
    (tmp_path / "f0-new.root").unlink()
    again = distributed.map("rewrite", data / "f*.root", skip_done=True, **options)

    assert again == [*made[:3], Skipped(str(data / "f3.root"), str(tmp_path / "f3-new.root"))]
    assert contents(tmp_path) == before


def test_skipping_can_compare_the_content(data: Path, tmp_path: Path) -> None:
    for name in ("merged_0.root", "out.root"):
        # As many entries, but others.
        bk.rewrite(data / "f1.root", tmp_path / name)
    entries = [bk.open(f"{data}/f{number}.root:Events").num_entries for number in (0, 1)]
    assert entries[0] == entries[1]

    def both(skip: Any) -> list[Any]:
        merged = distributed.merge([data / "f0.root"], f"{tmp_path}/{{dataset}}_{{n}}.root", skip_done=skip)
        return merged + distributed.map("rewrite", [data / "f0.root"], output=tmp_path / "out.root", skip_done=skip)

    assert [type(result) for result in both(True)] == [Skipped, Skipped]
    assert [type(result).__name__ for result in both("verify")] == ["Summary", "Summary"]
    assert [type(result) for result in both("verify")] == [Skipped, Skipped]


def test_conversions_are_skipped_when_done(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")

    def convert(**options: Any) -> list[Any]:
        return distributed.map("convert", data / "f[01].root", output=f"{tmp_path}/{{stem}}.parquet", **options)

    assert [type(result).__name__ for result in convert()] == ["Converted", "Converted"]
    (tmp_path / "f1.parquet").write_bytes((tmp_path / "f1.parquet").read_bytes()[:-4])
    assert [type(result).__name__ for result in convert(skip_done=True)] == ["Skipped", "Converted"]


def test_bins_follow_the_order_and_the_sizes(tmp_path: Path) -> None:
    sizes = {"a0": 40, "a1": 50, "a2": 20, "b0": 300, "b1": 1}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)
    fileset: dict[Any, Any] = {tmp_path / "b0": "t", tmp_path / "b1": {"object_path": "dir/t", "steps": [[0, 1]]}}
    datasets = {"a": [tmp_path / "a0", tmp_path / "a1", tmp_path / "a2"], "b": {"files": fileset}}

    found = distributed.bins(datasets, "{dataset}/{n:02}.root", target_size=100)

    assert [(one.output, one.bytes) for one in found] == [
        ("a/00.root", 90), ("a/01.root", 20), ("b/00.root", 300), ("b/01.root", 1),
    ]  # fmt: skip
    assert found[0].files == (str(tmp_path / "a0"), str(tmp_path / "a1"))
    assert found[2].files == (f"{tmp_path}/b0:t",)
    assert found[3].files == (f"{tmp_path}/b1:dir/t",)
    with pytest.raises(ValueError, match=r"needs \{dataset\} and \{n\}"):
        distributed.bins(datasets, "{n}.root", target_size=100)
    with pytest.raises(FileNotFoundError):
        distributed.bins([tmp_path / "none"])
    assert distributed.bins([tmp_path / "none"], skip_bad=True)[0].bytes == 0


def test_files_on_servers_are_measured_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = {"https://host/dir/a.root?token=x": 60, "https://host/dir/b.root": 50}

    def size_of(path: str) -> int:
        if path not in served:
            raise FileNotFoundError(path)
        return served[path]

    monkeypatch.setattr(merging, "size_of", size_of)
    monkeypatch.setattr(_core, "expand", lambda words: [(word, None) for word in words])

    found = distributed.bins(list(served), target_size=100)

    assert [(one.output, one.bytes) for one in found] == [("merged_0.root", 60), ("merged_1.root", 50)]
    assert files.outputs(files.inputs(list(served)), f"{tmp_path}") == [f"{tmp_path}/a.root", f"{tmp_path}/b.root"]
    with pytest.raises(FileNotFoundError):
        distributed.bins(["https://host/none.root"])
    assert distributed.bins(["https://host/none.root"], skip_bad=True)[0].bytes == 0


def test_a_call_that_cannot_work_is_refused_at_once(data: Path, tmp_path: Path) -> None:
    given = [data / "f0.root", data / "f1.root"]
    with pytest.raises(TypeError, match="no option 'kep'"):
        distributed.map("rewrite", given, output=tmp_path, kep="x")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="name them"):
        distributed.map("rewrite", given)
    with pytest.raises(TypeError, match="skip_done"):
        distributed.map("inspect", given, skip_done=True)
    with pytest.raises(TypeError, match="submit"):
        distributed.map("inspect", given, client=object())
    with pytest.raises(ValueError, match="no verb"):
        distributed.map("inspekt", given)
    with pytest.raises(ValueError, match="would both become"):
        distributed.map("rewrite", given, output=f"{tmp_path}/one.root")
    with pytest.raises(ValueError, match=r"\{stem\}, \{name\}"):
        distributed.map("rewrite", given, output="{file}.root")
    with pytest.raises(ValueError, match="'return' or 'raise'"):
        distributed.map("inspect", given, errors="ignore")  # type: ignore[call-overload]
    assert list(tmp_path.iterdir()) == []


def test_an_output_is_no_input_of_another_task(data: Path, tmp_path: Path) -> None:
    """A merge lost the entries of an input that was the output of an earlier group."""
    given = [tmp_path / "a.root", tmp_path / "b.root", tmp_path / "merged_0.root"]
    for number, path in enumerate(given):
        bk.rewrite(data / f"f{number}.root", path)
    before = contents(tmp_path)

    with pytest.raises(ValueError, match=r"merged_0\.root is an input, and the output of .*a\.root"):
        distributed.merge(given, f"{tmp_path}/{{dataset}}_{{n}}.root", target_size=1, force=True)
    names = {str(given[0]): given[1], str(given[1]): tmp_path / "c.root"}
    with pytest.raises(ValueError, match=r"b\.root is an input, and the output of .*a\.root"):
        distributed.map("rewrite", given[:2], output=names.__getitem__, force=True)
    with pytest.raises(ValueError, match="are one file"):
        distributed.map("rewrite", given[:2], output=lambda path: f"{tmp_path}/{'./' * ('b.root' in path)}new.root")

    assert contents(tmp_path) == before


class TwoWordsError(ValueError):
    """An error that cannot be unpickled: its arguments are not those of its base class."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} {two}")


def awkward_end(file: str, *, bad: str, end: str) -> str:
    """Ends badly for one file."""
    if Path(file).name == bad and end == "error":
        raise TwoWordsError("cannot", "do")
    if Path(file).name == bad:
        raise SystemExit(3)
    return file


@pytest.mark.parametrize("end", ["error", "exit"])
@pytest.mark.parametrize("kind", ["none", "fresh"])
def test_an_odd_error_does_not_stop_the_others(kind: str, end: str, data: Path) -> None:
    """An error that could not be unpickled broke the whole pool; a SystemExit ended the caller."""
    given = [str(path) for path in sorted(data.glob("f*.root"))]
    with contextlib.ExitStack() as stack:
        context = multiprocessing.get_context("spawn")
        client = None if kind == "none" else stack.enter_context(ProcessPoolExecutor(1, mp_context=context))
        found = distributed.map(awkward_end, given, client=client, bad="f1.root", end=end)

    assert found[:1] + found[2:] == given[:1] + given[2:]
    assert isinstance(found[1], Failed)
    assert ("cannot do" if end == "error" else "with 3") in found[1].error


def test_a_mapping_names_trees_or_data_sets(data: Path) -> None:
    one, two = str(data / "f0.root"), str(data / "f1.root")
    found = files.inputs({one: "Events", "mc": [two], "data": {one: "Events", two: {"object_path": "Events"}}})
    assert [(item.dataset, item.places[0]) for item in found] == [
        ("merged", f"{one}:Events"), ("mc", two), ("data", f"{one}:Events"), ("data", f"{two}:Events"),
    ]  # fmt: skip
    named = files.outputs(found[:2], lambda path: f"{Path(path).stem}-new.root")
    assert named == ["f0-new.root", "f1-new.root"]


def limits(file: str, *, threads: int = 0, memory: Any = None) -> tuple[str, int, Any]:
    """What a task may use."""
    return Path(file).name, threads, memory


def test_a_task_has_its_share_of_the_worker(data: Path, dask: Any, pool: Executor) -> None:
    path = data / "f0.root"
    whole = next(iter(dask.scheduler_info()["workers"].values()))["memory_limit"]
    share = min(int(whole * tasks.MEMORY_SHARE) // 2, _core.DEFAULT_MEMORY)

    assert share < _core.DEFAULT_MEMORY
    assert distributed.map(limits, [path], client=dask) == [("f0.root", 1, share)]
    assert distributed.map(limits, [path], client=dask, memory="1MB") == [("f0.root", 1, "1MB")]
    assert distributed.map(limits, [path], client=pool) == [("f0.root", 1, None)]
    assert distributed.map(limits, [path], client=pool, threads=3) == [("f0.root", 3, None)]
    assert distributed.map(limits, [path]) == [("f0.root", 0, None)]


def unsteady(file: str, *, journal: str, failures: int) -> int:
    """Fails so many times, as a busy server does."""
    attempt = len(Path(journal).read_bytes()) if Path(journal).exists() else 0
    with Path(journal).open("ab") as log:
        log.write(b"x")
    if attempt < failures:
        raise OSError(f"{file} is busy")
    return attempt


@pytest.mark.parametrize("kind", ["none", "pool", "dask"])
def test_errors_that_may_pass_are_tried_again(
    kind: str, data: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    client = None if kind == "none" else request.getfixturevalue(kind)

    def run(name: str, failures: int) -> Any:
        options: dict[str, Any] = {"journal": str(tmp_path / name), "failures": failures}
        return distributed.map(unsteady, data / "f0.root", client=client, retries=2, **options)[0]

    assert run("twice", 2) == 2
    failed = run("always", 9)
    assert isinstance(failed, Failed)
    assert "busy" in failed.error
    assert len((tmp_path / "always").read_bytes()) == 3


def test_the_first_error_can_end_it_all(data: Path) -> None:
    go, begun = threading.Event(), list[str]()

    def stuck(file: str) -> None:
        begun.append(file)
        if len(begun) == 1:
            raise ValueError("the first")
        assert go.wait(60)

    with ThreadPoolExecutor(1) as one:
        with pytest.raises(ValueError, match="the first") as caught:
            distributed.map(stuck, data / "f*.root", client=one, errors="raise")
        go.set()

    assert f"{data}/f0.root" in caught.value.__notes__[0]
    # The second may have begun; the others are cancelled.
    assert len(begun) <= 2


def test_progress_is_told(data: Path, pool: Executor) -> None:
    class Bar:
        told = 0

        def update(self, more: int) -> None:
            self.told += more

    bar, told = Bar(), list[tuple[int, int, str]]()
    distributed.map("inspect", data / "f*.root", client=pool, progress=bar)
    distributed.map("inspect", data / "f*.root", progress=lambda *step: told.append((*step[:2], step[2].file.path)))

    assert bar.told == FILES
    assert told == [(number + 1, FILES, f"{data}/f{number}.root") for number in range(FILES)]


def when_writing(folder: Path, act: Callable[[], None]) -> threading.Thread:
    """Does something once an unfinished output lies in a folder, in a thread."""

    def watch() -> None:
        end = time.monotonic() + 60
        while not any(path.name.startswith(".") for path in folder.iterdir()):
            if time.monotonic() > end:
                return
        act()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_a_task_of_a_killed_worker_of_dask_ends_on_another(slow: Path, tmp_path: Path) -> None:
    scheduler = pytest.importorskip("dask.distributed", reason="no dask here")
    expected, out, killed = tmp_path / "expected", tmp_path / "out", []
    expected.mkdir()
    out.mkdir()
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with scheduler.LocalCluster(**options) as cluster, scheduler.Client(cluster) as client:
        pids = client.run(os.getpid)

        def kill() -> None:
            (busy,) = [address for address, keys in client.processing().items() if keys]
            killed.append(pids[busy])
            os.kill(pids[busy], signal.SIGKILL)

        thread = when_writing(out, kill)
        results = distributed.map("rewrite", slow, output=f"{out}/", client=client, compression="lzma:9")
        thread.join()

    assert len(killed) == 1
    assert results == [bk.rewrite(slow, expected / "slow.root", compression="lzma:9")]
    assert contents(out) == contents(expected)


def test_a_pool_that_lost_a_worker_leaves_no_half_output(slow: Path, data: Path, tmp_path: Path) -> None:
    given = [slow, data / "f0.root"]
    options: dict[str, Any] = {"output": f"{tmp_path}/{{name}}", "compression": "lzma:9"}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pid = pool.submit(os.getpid).result()
        thread = when_writing(tmp_path, lambda: os.kill(pid, signal.SIGKILL))
        results = distributed.map("rewrite", given, client=pool, **options)
        thread.join()

    assert [type(result) for result in results] == [Failed, Failed]
    assert all("skip_done=True" in result.error for result in results)
    assert [name for name in contents(tmp_path) if not name.startswith(".")] == []
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        again = distributed.map("rewrite", given, client=pool, skip_done=True, **options)
    assert [type(result).__name__ for result in again] == ["Summary", "Summary"]
    assert sorted(contents(tmp_path)) == ["f0.root", "slow.root"]
    assert bk.verify(slow, tmp_path / "slow.root").equal


def test_one_decision_on_a_sample_is_applied_to_all(data: Path, tmp_path: Path, pool: Executor) -> None:
    given = sorted(data.glob("f*.root"))

    tuned = distributed.tune(given, tmp_path, sample=2, client=pool)

    assert tuned.sample == (str(given[0]), str(given[-1]))
    assert tuned.tuning.layout is not None
    assert [type(result).__name__ for result in tuned.results] == ["Summary"] * FILES
    for path in given:
        assert bk.verify(path, tmp_path / path.name).equal
    alone = tmp_path / "alone"
    alone.mkdir()
    bk.rewrite(given[1], alone / given[1].name, layout=tuned.tuning.layout)
    assert (alone / given[1].name).read_bytes() == (tmp_path / given[1].name).read_bytes()
    with pytest.raises(FileNotFoundError):
        distributed.tune([tmp_path / "none.root"])


def test_a_sample_reaches_from_the_first_to_the_last(data: Path, tmp_path: Path) -> None:
    given = [tmp_path / f"{number}.root" for number in range(10)]
    for path in given:
        path.symlink_to(data / "f0.root")

    assert distributed.tune(given, sample=3).sample == tuple(str(given[place]) for place in (0, 4, 9))
