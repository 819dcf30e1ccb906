"""`monitor show`: records in every form have the same figures, which are those of the samples as other readers have
them."""

import csv
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

from referee import browser, schema_document
from referee.browser import Browser
from referee.command import Basketry
from referee.paths import BINARY, REPO

#: The columns of a record of the first version.
FIRST = (
    "time,mark,events,processes,threads,vsize,rss,pss,peak_rss,user,system,read,written,disk_read,disk_written,minor_faults,"
    "major_faults,output,outputs,output_bytes"
)


def shown(*words: object) -> Any:
    """The report of `monitor show`."""
    return json.loads(subprocess.check_output([str(BINARY), "monitor", "show", "--json", *map(str, words)], timeout=60))


def record(path: Path, rss: int, seconds: float = 4.0) -> Path:
    """A record as the first version wrote it, as CSV: 50 samples, with the mark `stop` in the middle."""
    lines = [FIRST]
    for number in range(50):
        time = number * seconds / 49
        mark = {25: "stop", 49: "end"}.get(number, "")
        used = rss + number % 3 * 1000 if number < 49 else 0
        alive = int(number < 49)
        lines.append(f"{time},{mark},{number},{alive},2,9000,{used},0,{rss},{time / 2},0,0,{number * 10},0,0,1,0,0,0,")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A job's record in each form."""
    folder = tmp_path_factory.mktemp("records")
    # Processes live at both marks, and names of moments have room beside each other.
    work = "dd if=/dev/zero of=/dev/null bs=1M count=4000 status=none; sleep 0.2"
    marked = f"echo start > $BASKETRY_MONITOR; {work}; echo stop > $BASKETRY_MONITOR"
    script = f"exec 3> {folder}/out; echo x >&3; sleep 0.3; {marked}; sleep 0.3"
    first = folder / "perf.root"
    line: list[str | Path] = [BINARY, "monitor", "--json", "--every", "0.01", "-o", first, "--", "sh", "-c", script]
    (folder / "summary.json").write_bytes(subprocess.check_output(line, timeout=60))
    found = {"root": first, "summary": folder / "summary.json"}
    for form in ("csv", "jsonl", "parquet", "again.root"):
        found[form] = folder / f"perf.{form}"
        words: list[str | Path] = [BINARY, "monitor", "show", first, "--save", found[form]]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=60)
    return found


def test_every_form_has_the_figures_that_other_readers_compute(records: dict[str, Path]) -> None:
    with uproot.open(records["root"]) as file:
        samples = {
            name: file["samples"][name].array(library="np")
            for name in ("time", "rss", "user", "system", "written", "mark")
        }
        command = file["job"]["command"].array().tolist()
    start, stop = (samples["mark"].tolist().index(name) for name in ("start", "stop"))
    for form in ("root", "csv", "jsonl", "parquet", "again.root"):
        (one,) = shown(records[form])["records"]
        whole, (_, middle, _) = one["whole"], one["phases"]
        assert one["samples"] == len(samples["time"]), form
        assert one["finished"], form
        assert whole["wall"] == pytest.approx(samples["time"][-1] - samples["time"][0])
        assert whole["rss_peak"] == samples["rss"].max()
        assert middle["name"] == "start .. stop"
        assert middle["wall"] == pytest.approx(samples["time"][stop] - samples["time"][start])
        cpu = samples["user"] + samples["system"]
        assert middle["user"] + middle["system"] == pytest.approx(cpu[stop] - cpu[start])
        assert middle["cores"]["mean"] == pytest.approx((cpu[stop] - cpu[start]) / middle["wall"])
        assert middle["written"] == samples["written"][stop] - samples["written"][start]
        area = np.trapezoid(samples["rss"][start : stop + 1], samples["time"][start : stop + 1])
        assert middle["rss"]["mean"] == pytest.approx(area / middle["wall"])
        assert (one["job"] is not None) == form.endswith("root")
    assert shown(records["root"])["records"][0]["job"]["command"] == command[0]
    (summary,) = shown(records["summary"])["records"]
    assert summary["whole"]["rss_peak"] == samples["rss"].max()
    assert [moment["mark"] for moment in summary["moments"] if moment["mark"]] == ["start", "stop", "end"]


def test_records_of_the_first_version_are_compared(records: dict[str, Path], tmp_path: Path) -> None:
    a, b = record(tmp_path / "a.csv", 100_000_000), record(tmp_path / "b.csv", 130_000_000, 6.0)
    two = shown(a, b)
    missing = schema_document.differences(REPO / "docs" / "monitor-show-schema.md", [two, shown(records["root"])])
    assert not missing, "\n".join(missing)
    found = {(one["phase"], one["figure"]): one for one in two["comparison"]}
    memory = found["stop .. end", "mean RSS"]
    assert memory["verdict"] == "more"
    assert memory["b"] / memory["a"] == pytest.approx(1.3, rel=1e-3)
    assert memory["noise"] < 0.01 * memory["a"]
    assert found["all", "busy cores"]["verdict"] == "same"
    assert found["all", "wall"]["verdict"] == "unknown"
    # Several of each side have the spread between runs as their noise.
    more = [
        record(tmp_path / f"{name}.csv", size, wall)
        for name, size, wall in (("c", 101, 5), ("d", 99, 6), ("e", 102, 4.5))
    ]
    four = shown(a, more[0], "--against", more[1], more[2])
    walls = [4.0, 5.0], [6.0, 4.5]
    (wall,) = (one for one in four["comparison"] if (one["phase"], one["figure"]) == ("all", "wall"))
    assert (wall["a"], wall["b"]) == pytest.approx([np.median(side) for side in walls])
    assert wall["noise"] == pytest.approx(2 * np.hypot(*(np.std(side, ddof=1) / np.sqrt(2) for side in walls)))
    assert wall["verdict"] == "same"


def test_tables_and_pages_say_what_was_seen(basketry: Basketry, records: dict[str, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = basketry.run("monitor", "show", records["root"], "-o", page)
    assert outcome.code == 0, str(outcome)
    assert "start .. stop" in outcome.out
    assert "exit 0" in outcome.out
    text = page.read_text()
    for part in ("Resident memory", "Busy cores", "Threads", "Address space", '"markLine"'):
        assert part in text
    assert "--force" in basketry.refuses("monitor", "show", records["root"], "-o", page)
    assert basketry.run("monitor", "show", records["root"], records["csv"], "-o", page, "-f").code == 0
    assert "perf.csv" in page.read_text()
    compared = basketry.run("monitor", "show", records["root"], records["csv"]).out
    assert "B against A" in compared
    assert "mean RSS" in compared


def test_pages_are_drawn_and_fetch_nothing(
    basketry: Basketry, records: dict[str, Path], made: Path, tmp_path: Path
) -> None:
    if browser.found() is None:
        pytest.skip("no chromium (apt-get install chromium)")
    one, two, reading = (tmp_path / f"{name}.html" for name in ("one", "two", "reading"))
    basketry("monitor", "show", records["root"], "-o", one)
    basketry("monitor", "show", records["root"], records["csv"], "-o", two)
    pages = [one, two]
    if len(os.sched_getaffinity(0)) > 1:
        basketry("readspeed", made, "-j", "1,2", "--page", reading)
        pages.append(reading)
    opened = Browser(tmp_path / "profile")
    for page in pages:
        opened.open(page)
        drawn = opened.ask("[...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('svg path').length)")
        assert len(drawn) >= 2
        assert all(count > 4 for count in drawn), (page.name, drawn)
        texts = opened.ask("[...document.querySelectorAll('svg text')].map(text => text.textContent)")
        assert ("start" in texts) == (page != reading)
        opened.ask("document.getElementById('theme').click()")
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith("data:")] == [page.as_uri() for page in pages]
    opened.close()


def test_what_is_no_record_is_refused(basketry: Basketry, made: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "other.json").write_text("[1]")
    for path in (made, tmp_path / "other.csv", tmp_path / "other.json", tmp_path / "none.root"):
        said = basketry.refuses("monitor", "show", path)
        assert path.name in said
    record_of = record(tmp_path / "a.csv", 1)
    assert "one record" in basketry.refuses("monitor", "show", record_of, record_of, "--save", tmp_path / "b.csv")
    # A command of this name runs all the same.
    (tmp_path / "show").write_text("#!/bin/sh\nexit 6\n")
    (tmp_path / "show").chmod(0o755)
    run = subprocess.run([str(BINARY), "monitor", "-q", "--", "./show"], cwd=tmp_path, check=False, timeout=60)
    assert run.returncode == 6
    with (tmp_path / "a.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 50
