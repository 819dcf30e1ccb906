"""The advice of inspect, readspeed and sweep: each command works, repairs the fault, and costs what is announced."""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from referee import oracle
from referee.command import Basketry, run

NAMES = [line["name"] for line in oracle.index()]
# The header of a small file has fCompress here.
COMPRESS = 33
Finding = dict[str, Any]


def digest(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def same_finding(finding: Finding, other: Finding) -> bool:
    """Whether two findings are the same."""
    return bool(finding["fault"] == other["fault"] and finding["tree"] == other["tree"])


def run_root_script(script: str, folder: Path) -> None:
    """Runs a script by real ROOT in a folder, in a process of its own."""
    text = "import ROOT\nROOT.gErrorIgnoreLevel = ROOT.kError\n" + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def findings_of(basketry: Basketry, path: Path) -> list[Finding]:
    """The findings of a file."""
    findings: list[Finding] = basketry.json("inspect", path)["findings"]
    return findings


def memory(basketry: Basketry, path: Path, tree: str | None) -> int:
    """Memory of a reader of all branches, by inspect."""
    trees = [one for one in basketry.json("inspect", path)["trees"] if one["newest"] and tree in (None, one["path"])]
    # Baskets in the record are in memory, too.
    inside = [found["bytes"] for one in trees for branch in one["branches"] for found in branch["embedded"]]
    return int(sum(inside) + sum(one["memory"]["read"] for one in trees))


def check(basketry: Basketry, path: Path, finding: Finding, folder: Path) -> Path:
    """Runs a finding's command in a folder, checks that it works, repairs and costs what was announced, and returns the
    output."""
    words = shlex.split(finding["command"])
    assert words[:2] == ["basketry", "tune" if finding["fault"] == "codecs_by_branch" else "rewrite"]
    assert words[2] == str(path)
    output = folder / words[words.index("-o") + 1]
    assert output.parent == folder
    assert not output.exists()
    before = digest(path)
    outcome = run([basketry.binary, *words[1:]], cwd=folder)
    assert outcome.code == 0, str(outcome)
    assert digest(path) == before
    left = [other for other in findings_of(basketry, output) if same_finding(finding, other)]
    assert not left, f"{finding['command']} leaves {left[0]['text']}"
    old, new = path.stat().st_size, output.stat().st_size
    # Memory by the same report on the output: a large growth was announced.
    (now, then) = (memory(basketry, at, finding["tree"]) for at in (path, output))
    tuned = 256_000_000 if finding["fault"] == "codecs_by_branch" else 0
    assert then <= max(2 * now + 2 * finding["price"]["memory"] + 2_000_000, tuned), (finding, now, then)
    # A sample may be wrong by an eighth of the file; streamer infos and the header take a few kilobytes.
    slack = old / 8 + 25_000
    assert new <= old - finding["cost"]["bytes"] / 2 + finding["price"]["bytes"] + slack, (finding, old, new)
    if finding["fault"] in ("heavy_codec", "uncompressed"):
        # Here the size is the price, and it must not be overstated either.
        assert new >= old - finding["cost"]["bytes"] + finding["price"]["bytes"] - slack, (finding, old, new)
    return output


@pytest.mark.skipif(not NAMES, reason="the corpus is absent")
@pytest.mark.parametrize("name", [oracle.usual(name) for name in NAMES])
def test_suggested_commands_work_repair_and_cost_what_they_say(name: str, basketry: Basketry, tmp_path: Path) -> None:
    path = oracle.corpus_file(name)
    outcome = basketry.run("inspect", path, "--json")
    if outcome.code:
        pytest.skip("a file that is refused as a whole")
    findings = json.loads(outcome.out)["findings"]
    order = [(finding["pays"] == "writer", not finding["cost"]["danger"]) for finding in findings]
    assert order == sorted(order), findings
    for number, finding in enumerate(findings):
        assert (finding["command"] is None) == (finding["price"] is None)
        if finding["command"]:
            folder = tmp_path / str(number)
            folder.mkdir()
            check(basketry, path, finding, folder).unlink()


def shell(basketry: Basketry, command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command as it is pasted into a shell, with the binary under test as `basketry`."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "basketry").exists():
        (tools / "basketry").symlink_to(basketry.binary)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )


MADE = {
    "tiny_baskets": (("nano", "--size", "1MB"), ("--basket", "300")),
    "small_clusters": (("nano", "--size", "2MB"), ("--cluster", "10")),
    "huge_baskets": (("single", "--size", "64MB"), ("--cluster", "100000000", "--basket", "16MB")),
    "heavy_codec": (("aod", "--size", "3MB"), ("--compression", "lzma:7")),
    "uncompressed": (("nano", "--size", "3MB"), ("--compression", "none")),
    "codecs_by_branch": (("multi", "--size", "60MB"), ("--compression", "zlib:6")),
}


@pytest.mark.parametrize("fault", MADE)
def test_planted_faults_are_found_and_repaired(fault: str, basketry: Basketry, tmp_path: Path) -> None:
    kind, layout = MADE[fault]
    made = tmp_path / "made.root"
    path = tmp_path / "it's a file (1).root"
    # One codec for all is not a fault.
    good = "lz4:4" if fault == "codecs_by_branch" else "zlib:1"
    basketry("generate", *kind, "--compression", good, "-o", made)
    assert fault not in [finding["fault"] for finding in findings_of(basketry, made)]
    basketry("rewrite", made, "-o", path, *layout)
    finding = next(finding for finding in findings_of(basketry, path) if finding["fault"] == fault)
    assert finding["pays"] == "reader"
    check(basketry, path, finding, tmp_path).unlink()
    # The printed command works when pasted, too.
    lines = basketry("inspect", path).splitlines()
    (command,) = (line.strip() for line in lines if line.strip() == finding["command"])
    done = shell(basketry, command, tmp_path)
    assert done.returncode == 0, done.stderr
    # The second time the output exists and is kept.
    assert shell(basketry, command, tmp_path).returncode == 2
    (price,) = (line for line in lines[lines.index(f"    {command}") :][:2] if line.strip().startswith("Price: "))

    assert price


def test_an_uncompressed_record_is_found(basketry: Basketry, tmp_path: Path) -> None:
    """Like a NanoAOD skimmed by uproot, whose tree record was a third of the file."""
    path = tmp_path / "plain.root"
    basketry("generate", "nano", "--size", "300kB", "--compression", "none", "-o", path)
    content = bytearray(path.read_bytes())
    content[COMPRESS : COMPRESS + 4] = (505).to_bytes(4, "big")
    path.write_bytes(content)
    found = {finding["fault"]: finding for finding in findings_of(basketry, path)}
    report = basketry.json("inspect", path)
    output = check(basketry, path, found["uncompressed_record"], tmp_path)
    record = basketry.json("inspect", output)["trees"][0]["metadata"]
    saved = report["trees"][0]["metadata"]["bytes"] - record["bytes"]

    assert found["uncompressed_record"]["cost"]["bytes"] == pytest.approx(saved, rel=0.2)


def test_shrunken_buffers_do_not_keep_baskets_small(basketry: Basketry, tmp_path: Path) -> None:
    """ROOT shrinks buffers for small clusters; the command for larger clusters used to leave the baskets small."""
    run_root_script(
        """
        import array
        file = ROOT.TFile("small.root", "recreate")
        tree = ROOT.TTree("t", "t")
        values = [array.array("f", [0]) for _ in range(10)]
        for number, value in enumerate(values):
            tree.Branch(f"x{number}", value, f"x{number}/F")
        tree.SetAutoFlush(100)
        for entry in range(30_000):
            for number, value in enumerate(values):
                value[0] = (entry * (number + 7) % 1009) / 8
            tree.Fill()
        file.Write()
        file.Close()
        """,
        tmp_path,
    )
    path = tmp_path / "small.root"
    (finding,) = (finding for finding in findings_of(basketry, path) if finding["pays"] == "reader")
    assert finding["fault"] == "small_clusters"
    (tmp_path / "out").mkdir()
    output = check(basketry, path, finding, tmp_path / "out")
    after = basketry.json("inspect", output)["trees"][0]

    assert after["baskets"] * 10 < basketry.json("inspect", path)["trees"][0]["baskets"]
    assert not [finding for finding in findings_of(basketry, output) if finding["pays"] == "reader"]


def test_a_price_names_the_tree_that_a_command_leaves_out(basketry: Basketry, tmp_path: Path) -> None:
    """t;1 and t;2 are two trees; a rewrite keeps the newer one."""
    run_root_script(
        """
        import array
        file = ROOT.TFile("cycles.root", "recreate")
        for cycle in (1, 2):
            tree = ROOT.TTree("t", "t")
            value = array.array("f", [0])
            tree.Branch(f"x{cycle}", value, "x/F", 300)
            tree.SetAutoFlush(0)
            for entry in range(20_000):
                value[0] = entry
                tree.Fill()
            tree.Write("t", 0)
        file.Close()
        """,
        tmp_path,
    )
    path = tmp_path / "cycles.root"
    finding = findings_of(basketry, path)[0]
    assert "lacks t;1, another tree" in finding["price"]["note"]
    assert "lacks t;1, another tree" in basketry("inspect", path)
    (tmp_path / "out").mkdir()
    check(basketry, path, finding, tmp_path / "out")


def test_findings_for_writers_are_shown_on_request(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "buffers.root"
    basketry("generate", "nano", "--size", "100kB", "--basket", "1MB", "--memory-ratio", "1000", "-o", path)
    findings = findings_of(basketry, path)
    if not any(finding["fault"] == "oversized_buffers" for finding in findings):
        pytest.fail(f"no large buffers in {findings}")

    assert findings[-1]["pays"] == "writer"
    assert "hold" in basketry("inspect", path, "--writer")
    assert "--writer shows" in basketry("inspect", path)
    assert findings[-1]["text"] not in basketry("inspect", path)


def test_commands_for_a_file_with_several_trees_name_the_tree(basketry: Basketry, tmp_path: Path) -> None:
    for name, basket in (("a", "300"), ("b", "32kB")):
        basketry("generate", "nano", "--size", "1MB", "--basket", basket, "-o", tmp_path / f"{name}.root")
    both = tmp_path / "both.root"
    run_root_script(
        """
        target = ROOT.TFile("both.root", "recreate")
        for name in "ab":
            source = ROOT.TFile(f"{name}.root")
            target.cd()
            tree = source.Get(source.GetListOfKeys().At(0).GetName()).CloneTree(-1, "fast")
            tree.SetName(f"tree_{name}")
            tree.Write()
            source.Close()
        target.Close()
        """,
        tmp_path,
    )
    tiny = [finding for finding in findings_of(basketry, both) if finding["fault"] == "tiny_baskets"]
    assert [finding["tree"] for finding in tiny] == ["tree_a"]
    assert "--tree-set tree_a basket=32kB" in tiny[0]["command"]
    check(basketry, both, tiny[0], tmp_path).unlink()
    # Even for one tree only, the command leaves the other unchanged.
    (alone,) = [f for f in basketry.json("inspect", f"{both}:tree_a")["findings"] if f["fault"] == "tiny_baskets"]

    assert alone["command"] == tiny[0]["command"]


def test_branches_in_an_absent_file_are_found(basketry: Basketry, tmp_path: Path) -> None:
    """The command once asked a rewrite for a branch that is unreadable."""
    folder = tmp_path / "apart"
    folder.mkdir()
    path = folder / "main.root"
    run_root_script(
        """
        import array
        file = ROOT.TFile("main.root", "recreate")
        tree = ROOT.TTree("t", "t")
        x, y = array.array("i", [0]), array.array("i", [0])
        tree.Branch("x", x, "x/I", 300)
        tree.Branch("y", y, "y/I", 300).SetFile("other.root")
        tree.SetAutoFlush(0)
        for i in range(20_000):
            x[0] = y[0] = i
            tree.Fill()
        file.Write()
        file.Close()
        """,
        folder,
    )
    assert "missing_file" not in [finding["fault"] for finding in findings_of(basketry, path)]
    (folder / "other.root").unlink()
    missing, *others = findings_of(basketry, path)
    assert (missing["fault"], missing["branches"], missing["command"]) == ("missing_file", ["y"], None)
    (tiny,) = (finding for finding in others if finding["pays"] == "reader")
    assert tiny["fault"] == "small_clusters"
    assert tiny["command"].endswith(" --drop y")
    assert "lacks 1 branch" in tiny["price"]["note"]
    check(basketry, path, tiny, tmp_path)


def test_commands_of_readspeed_work(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "a file.root"
    basketry("generate", "aod", "--size", "4MB", "--compression", "lzma:7", "--cluster", "1000000", "-o", path)
    chosen = [column["name"] for column in basketry.json("readspeed", path)["columns"]][:2]
    slow = ("--throttle", "2MB/s", "--branches", *chosen)
    said: list[str] = []
    for options in ((), slow, ("--threads", "0")):
        report = basketry.json("readspeed", path, *options)
        said += report["commands"]
        printed = basketry("readspeed", path, *options)
        # Another reading may find another bottleneck; each command is printed on a line of its own.
        assert report["bottleneck"] != "decompression" or "    basketry readspeed" in printed
    assert any("--keep" in command for command in said), said
    assert any("--layouts" in command for command in said), said
    for number, command in enumerate(dict.fromkeys(said)):
        folder = tmp_path / str(number)
        folder.mkdir()
        done = shell(basketry, command, folder)
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_the_command_of_a_sweep_works(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "in.root"
    basketry("generate", "aod", "--size", "1MB", "--compression", "zlib:1", "-o", path)
    axis = ("--grid", "compression=as-is,lz4:4", "--only", "copy,full")
    basketry("sweep", path, "-o", tmp_path / "sweep", *axis, "--repeat", "1", "-q")
    command = basketry.json("sweep", "report", tmp_path / "sweep")["command"]
    (tmp_path / "run").mkdir()
    shutil.copy(tmp_path / "sweep" / "layout.toml", tmp_path / "run")
    done = shell(basketry, command, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    basketry("verify", path, tmp_path / "run" / "in.chosen.root")
