"""tune: its output is measured, proven equal, and within the limits."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import uproot

from referee import expected_sizes, root_ntuples, schema_document
from referee.command import Basketry
from referee.paths import BUILD, FOUND, REPO


@pytest.fixture(scope="module")
def nano() -> Path:
    """A small version of the demo's NanoAOD-like file with its bad layout."""
    path = BUILD / "nano-like-8MB.root"
    if not path.exists():
        scratch = path.with_name(f".{os.getpid()}-{path.name}")
        command = [sys.executable, str(REPO / "demo" / "make_input.py"), str(scratch), "--megabytes", "8"]
        subprocess.run(command, check=True, capture_output=True)
        scratch.rename(path)
    return path


def test_the_tuned_file_is_smaller_cheaper_to_read_and_equal(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "tuned.root"
    report = basketry.json("tune", nano, "-o", out)
    assert report["schema"] == 1
    assert report["chosen"]["read"] < report["today"]["read"]
    assert out.stat().st_size <= nano.stat().st_size
    assert report["chosen"]["size"] == pytest.approx(out.stat().st_size, rel=expected_sizes.WORST)
    assert report["proof"] is not None
    basketry("verify", nano, out)

    with uproot.open(nano) as before, uproot.open(out) as after:
        for name in ("event", "nJet", "Jet_pt", "HLT_IsoMu24"):
            assert before["Events"][name].array().tolist() == after["Events"][name].array().tolist()


@pytest.fixture(scope="module")
def objects(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four vectors of classes, split, in clusters of two entries."""
    folder = tmp_path_factory.mktemp("objects")
    layout = ("--split-level", "99", "--cluster", "2")
    basketry("generate", "aod", "--size", "5MB", *layout, "-o", folder / "aod.root")
    basketry("rewrite", folder / "aod.root", "--keep", "muon_*", "-o", folder / "muons.root")
    return folder / "muons.root"


def test_recode_changes_the_split_level_of_columns(objects: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "tuned.root"
    # In few clusters baskets of members are large enough.
    report = basketry.json("tune", objects, "--recode", "--max-size", "1.2x", "--min-clusters", "30", "-o", out)
    assert report["recasts"], report["why"]
    assert report["proof"]["equal"]
    assert report["proof"]["baskets"]["measured"] == pytest.approx(report["chosen"]["baskets"], rel=0.15)
    found = {recast["column"] for recast in report["recasts"]}
    with uproot.open(out) as file, uproot.open(objects) as before:
        for name in found:
            assert len(before["Events"][name].keys()) > 3
            assert not file["Events"][name].keys(), name
    as_it_is = basketry.json("tune", objects)

    assert not as_it_is["recasts"]
    assert any("--recode" in why for why in as_it_is["why"])


def test_documented_and_printed_fields_agree(nano: Path, objects: Path, basketry: Basketry, tmp_path: Path) -> None:
    proven = basketry.json("tune", nano, "--goal", "reading", "-o", tmp_path / "tuned.root")
    recast = basketry.json("tune", objects, "--recode", "--max-size", "1.2x", "--min-clusters", "30")
    refused = basketry.run("tune", nano, "--max-size", "100kB", "--json")
    assert refused.code == 1, str(refused)
    compared = basketry.json("tune", nano, "--container", "any")
    # Recasts and what looser limits would give, wherever the machine's speeds make the price choose otherwise.
    fastest = basketry.json("tune", objects, "--recode", "--goal", "reading", "--max-size", "1.2x")
    printed = [proven, recast, json.loads(refused.out), compared, fastest]
    found = schema_document.differences(REPO / "docs" / "tune-schema.md", printed)

    assert not found, "\n".join(found)


def test_without_an_output_nothing_is_written(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    outcome = basketry.run("tune", nano, cwd=tmp_path)
    assert outcome.code == 0, str(outcome)
    assert not list(tmp_path.iterdir())
    for column in ("today", "chosen"):
        assert column in outcome.out


def test_the_cost_of_measuring_is_announced(nano: Path, basketry: Basketry) -> None:
    outcome = basketry.run("tune", nano)
    said = re.fullmatch(r"measuring takes up to about (\d+\.\d) s of CPU time\n", outcome.err)
    assert said, outcome.err
    assert float(said[1]) >= 2.0
    # The report contains it for programs.
    report = json.loads(basketry("tune", nano, "--json"))

    assert report["measuring"]["allowed"] == pytest.approx(float(said[1]), abs=0.05)
    assert basketry.run("tune", nano, "-q").err == ""


def test_the_decided_layout_can_be_given_to_rewrite(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    layout, tuned, rewritten = tmp_path / "layout.toml", tmp_path / "tuned.root", tmp_path / "rewritten.root"
    report = basketry.json("tune", nano, "--layout-out", layout)
    assert layout.read_text() == report["layout"]
    basketry("rewrite", nano, "-o", rewritten, "--layout", layout)

    assert report["chosen"]["size"] == pytest.approx(rewritten.stat().st_size, rel=expected_sizes.WORST)
    assert not tuned.exists()


@pytest.mark.parametrize("share", [0.95, 1.1])
def test_a_size_limit_holds(share: float, nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "tuned.root"
    limit = int(nano.stat().st_size * share)
    basketry("tune", nano, "-o", out, "--max-size", f"{limit}B")

    assert out.stat().st_size <= limit


def test_the_smallest_file_that_reads_as_fast(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "small.root"
    small = basketry.json("tune", nano, "--goal", "size", "-o", out)
    fast = basketry.json("tune", nano, "--goal", "reading")

    assert (small["goal"], fast["goal"]) == ("size", "reading")
    assert out.stat().st_size < fast["chosen"]["size"]
    assert "zstd:7" in " ".join(small["measuring"]["codecs"] + small["measuring"]["dropped"])
    [limit] = [limit for limit in small["limits"] if limit["name"] == "--max-read-time"]
    assert limit["is_default"]
    assert limit["value"] == pytest.approx(small["today"]["read"])
    assert small["proof"]["reading"]["interval"][0] <= 1
    basketry("verify", nano, out)

    refused = basketry.run("tune", nano, "--goal", "size", "--max-read-time", "0.001x")
    assert refused.code == 1, str(refused)
    assert "--max-read-time" in refused.out
    assert basketry.run("tune", nano, "--goal", "beauty").code == 2


def test_an_impossible_limit_exits_with_1(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "tuned.root"
    outcome = basketry.run("tune", nano, "-o", out, "--max-size", "100kB")

    assert outcome.code == 1, str(outcome)
    assert "max-size" in outcome.out + outcome.err
    assert not out.exists()


def test_a_limit_that_no_layout_meets_is_named_alone(nano: Path, basketry: Basketry) -> None:
    refused = basketry.run("tune", nano, "--memory", "1kB")
    assert refused.code == 1, str(refused)
    assert re.search(r"--memory 1\.0 kB cannot be met; with the other limits, --memory \S+ MB can", refused.out)
    assert re.search(r"--max-read-time .* can be met", refused.out), refused.out


def test_a_container_without_a_choice_is_compared_with_the_input(nano: Path, basketry: Basketry) -> None:
    forced = ("tune", nano, "--container", "rntuple", "--max-read-time", "0.01x")
    refused = basketry.run(*forced, "--json")
    assert refused.code == 1, str(refused)
    report = json.loads(refused.out)
    assert report["today"]["size"] == nano.stat().st_size
    assert report["chosen"] is None
    [limit] = [limit for limit in report["limits"] if limit["name"] == "--max-read-time"]
    assert limit["nearest"]["value"] > limit["value"]
    shown = basketry.run(*forced).out
    assert "* chosen" not in shown
    found = re.search(r"--max-read-time (.+) cannot be met; with the other limits, --max-read-time (.+) can", shown)
    assert found, shown
    assert found[1] != found[2]


def test_sizes_by_codec_add_up_to_no_more_than_the_file(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    small = tmp_path / "small.root"
    basketry("rewrite", nano, "--basket", "500B", "--cluster", "20", "-o", small)
    report = basketry.json("tune", small)
    for side in ("today", "chosen"):
        assert sum(group[side]["size"] for group in report["groups"]) <= report[side]["size"]


def test_what_no_layout_can_be_chosen_for_is_refused(nano: Path, basketry: Basketry) -> None:
    assert "no column of Events matches" in basketry.refuses("tune", nano, "--workload", "columns:zzz")
    passed = ("--workload", "columns:zzz", "--allow-no-match")
    assert "reads none of the columns" in basketry.refuses("tune", nano, *passed)
    assert "the largest table has" in basketry.refuses("tune", nano, "--min-clusters", "10000000")


def test_the_workload_decides(nano: Path, basketry: Basketry) -> None:
    few = basketry.json("tune", nano, "--workload", "columns:MET_*")
    full = basketry.json("tune", nano, "--workload", "full")

    assert few["today"]["read"] < full["today"]["read"] / 5
    assert few["workload"] != full["workload"]


@pytest.mark.parametrize("workload", ["full", "columns:Jet_*,nJet", "sparse:1%"])
def test_reading_is_predicted_stage_by_stage(workload: str, nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    report = basketry.json("tune", nano, "-o", tmp_path / "tuned.root", "--workload", workload)
    for cost in (report["today"], report["chosen"], *(group["today"] for group in report["groups"])):
        assert cost["read"] == pytest.approx(cost["fetch"] + cost["decompress"] + cost["decode"])
        assert cost["read"] == 0 or cost["decode"] > 0
    # A busy machine may be far off: this only checks that both count about the same work.
    read = report["proof"]["read_today"]

    assert read["expected"] / 4 < read["measured"] < read["expected"] * 4


def test_a_failing_proof_leaves_the_old_output(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    damaged, out = tmp_path / "damaged.root", tmp_path / "out" / "old.root"
    out.parent.mkdir()
    out.write_bytes(b"old")
    with uproot.open(nano) as file:
        branch = file["Events/HLT_IsoMu24"]
        seek = int(branch.member("fBasketSeek")[branch.num_baskets - 1]) + int(branch.basket_key(0).fKeylen)
    data = bytearray(nano.read_bytes())
    for at in range(seek + 9, seek + 20):
        data[at] ^= 0x5A
    damaged.write_bytes(data)
    outcome = basketry.run("tune", damaged, "-o", out, "-f")

    assert outcome.code == 2, str(outcome)
    assert out.read_bytes() == b"old"
    assert [path.name for path in out.parent.iterdir()] == ["old.root"]


@pytest.mark.parametrize("name", ["tune_leftover", "tune_left", "tune_left2"])
def test_files_that_fail_leave_the_old_output(name: str, basketry: Basketry, tmp_path: Path) -> None:
    file = FOUND / f"{name}.root"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    for recode in ((), ("--recode",)):
        out = tmp_path / f"old{len(recode)}.root"
        out.write_bytes(b"old")
        outcome = basketry.run("tune", file, "-o", out, "-f", *recode)
        assert outcome.code in (1, 2), str(outcome)
        assert out.read_bytes() == b"old"

    assert sorted(path.name for path in tmp_path.iterdir()) == ["old0.root", "old1.root"]


def test_a_cut_is_a_workload(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    with uproot.open(nano) as file:
        numbers = file["Events"]["nJet"].array(library="np")
    share = float(f"{100 * (numbers > 7).mean():.2e}")
    report = basketry.json("tune", nano, "--cut", "nJet > 7", "--define", "n=nJet", "--cut", "n > 0")
    assert report["workload"] == f"cut:{share:g}%,nJet"
    both = basketry.json("tune", nano, "--cut", "nJet > 7", "--workload", "columns:Jet_*")
    assert both["workload"] == f"cut:{share:g}%,nJet,of:Jet_*"
    # It reads less than all columns of some entries, and more than the columns of the cut.
    alone = basketry.json("tune", nano, "--workload", "columns:nJet")
    read = [one["today"]["read"] for one in (alone, both, report)]
    assert read[0] < read[1] < read[2]
    saved, out = tmp_path / "report.json", tmp_path / "out.root"
    saved.write_text(json.dumps(report))
    assert basketry.json("tune", "--again", saved, "--choose", "fastest")["workload"] == report["workload"]
    chosen = ("--choose", "smallest", "--max-read-time", "100x")
    assert basketry.json("tune", nano, "--cut", "nJet > 7", *chosen, "-o", out)["delivered"]
    basketry("verify", nano, out)
    assert "did you mean" in basketry.refuses("tune", nano, "--cut", "nJets > 7")
    assert "passes --cut" in basketry.refuses("tune", nano, "--cut", "nJet > 100000")
    assert "give full or columns:" in basketry.refuses("tune", nano, "--cut", "nJet > 7", "--workload", "sparse:1%")
    assert "--reader root" in basketry.refuses("tune", nano, "--cut", "nJet > 7", "--reader", "uproot")
    assert "--cut" in basketry.refuses("tune", nano, "--define", "n=nJet")
    assert "--again" in basketry.refuses("tune", "--again", saved, "--cut", "nJet > 7")


def test_the_best_layout_is_not_written_again(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    """Tunes its own output until nothing is better: then no file is written."""
    file = nano
    for number in range(8):
        out = tmp_path / f"tuned{number}.root"
        outcome = basketry.run("tune", file, "-o", out, "--json")
        report = json.loads(outcome.out)
        assert outcome.code == (0 if report["delivered"] else 1), str(outcome)
        assert out.exists() == report["delivered"]
        if not report["delivered"]:
            assert report["verdict"]
            assert report["proof"] is None
            assert report["unchanged"] or all(attempt["rejected"] for attempt in report["attempts"])
            return
        assert out.stat().st_size <= file.stat().st_size
        assert report["proof"]["reading"]["interval"][0] <= 1
        file = out
    pytest.fail("eight outputs, each better than the one before")


def test_the_input_cannot_be_the_output(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    file = tmp_path / "in.root"
    file.write_bytes(nano.read_bytes())
    (tmp_path / "link.root").symlink_to(file)
    for name in ("in.root", "link.root"):
        outcome = basketry.run("tune", file, "-o", tmp_path / name, "-f")
        assert outcome.code == 2, str(outcome)

    assert file.read_bytes() == nano.read_bytes()


def test_printed_words_match_the_measurement(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    expected = basketry.run("tune", nano).out
    assert "expectations" in expected
    proven = basketry.run("tune", nano, "-o", tmp_path / "tuned.root").out
    assert "repeats" in proven
    # What was measured is said alike where the file is read and in the verdict.
    [how] = re.findall(r"tuned\.root reads (.+): in .+ of today's time", proven)
    assert how in ("faster than today", "as fast as today within the noise", "slower than today")
    assert f"and reads {how} (" in proven.splitlines()[-1]
    for text in (expected, proven):
        shares = [float(number) for number in re.findall(r"([0-9.]+) %", text)]
        assert shares
        assert all(share <= 200 for share in shares), text
        ratios = [float(number) for number in re.findall(r"([0-9.]+) ?x ", text)]
        assert all(ratio <= 100 for ratio in ratios), text


def test_many_files_of_a_kind_get_one_layout(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    halves = []
    for number, entries in enumerate((":1000", "1000:")):
        halves.append(tmp_path / f"half{number}.root")
        basketry("rewrite", nano, "--entries", entries, "-o", halves[-1])
    layout, merged = tmp_path / "layout.toml", tmp_path / "merged.root"
    report = basketry.json("tune", *halves, "--layout-out", layout)
    assert (report["files"], report["measured_files"]) == (2, 2)
    assert report["chosen"]["read"] < report["today"]["read"]
    assert layout.read_text() == report["layout"]
    basketry("merge", *halves, "--layout", layout, "-o", merged)
    basketry("verify", nano, merged)
    by_pattern = basketry.json("tune", str(tmp_path / "half*.root"))
    (tmp_path / "list.txt").write_text("\n".join(map(str, halves)))
    by_list = basketry.json("tune", f"@{tmp_path / 'list.txt'}")
    assert by_pattern["files"] == by_list["files"] == 2
    for refused in (("-o", tmp_path / "out.root"), ("--max-size", "1MB")):
        assert basketry.run("tune", *halves, *refused).code == 2
    other = tmp_path / "other.root"
    basketry("rewrite", nano, "--drop", "MET_*", "-o", other)
    outcome = basketry.run("tune", halves[0], other)

    assert outcome.code == 2, str(outcome)
    assert "MET_" in outcome.err


def test_branches_can_be_left_out(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    slim, out = tmp_path / "slim.root", tmp_path / "tuned.root"
    basketry("rewrite", nano, "--drop", "HLT_*", "-o", slim)
    report = basketry.json("tune", nano, "--drop", "HLT_*", "-o", out)
    assert report["delivered"]
    assert report["today"]["size"] == pytest.approx(slim.stat().st_size, rel=0.01)
    assert out.stat().st_size <= slim.stat().st_size
    basketry("verify", slim, out)

    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_layout_file_replaces_nothing_without_force(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    file, layout = tmp_path / "in.root", tmp_path / "layout.toml"
    file.write_bytes(nano.read_bytes())
    layout.write_text("mine")
    assert basketry.run("tune", file, "--layout-out", layout).code == 2
    assert layout.read_text() == "mine"
    for force in ((), ("-f",)):
        assert basketry.run("tune", file, "--layout-out", file, *force).code == 2
    assert file.read_bytes() == nano.read_bytes()
    basketry("tune", file, "--layout-out", layout, "-f")

    assert layout.read_text() != "mine"


@pytest.fixture(scope="module")
def ntuple(nano: Path, basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same content as RNTuples, in pages that are slow to read."""
    path = tmp_path_factory.mktemp("ntuple") / "ntuple.root"
    basketry("rewrite", nano, "--container", "rntuple", "--compression", "lzma:1", "--basket", "4kB", "-o", path)
    return path


def test_an_rntuple_is_tuned(ntuple: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "tuned.root"
    report = basketry.json("tune", ntuple, "--max-size", "1.1x", "-o", out)
    assert report["proof"]["equal"]
    assert report["chosen"]["read"] < report["today"]["read"]
    # Some columns are equal, and share pages if they are packed alike.
    assert report["chosen"]["size"] == pytest.approx(out.stat().st_size, rel=0.08)
    assert out.stat().st_size <= 1.1 * ntuple.stat().st_size
    basketry("verify", ntuple, out)

    before, after = root_ntuples.show(f"{ntuple}:Events", f"{out}:Events")
    assert before == after
    assert "entries" in after


def test_the_best_of_both_containers(nano: Path, ntuple: Path, basketry: Basketry, tmp_path: Path) -> None:
    for source, container in ((nano, "rntuple"), (ntuple, "ttree"), (nano, "any")):
        out = tmp_path / f"{container}.root"
        report = basketry.json("tune", source, "--container", container, "--max-size", "2x", "-o", out)
        own = "rntuple" if source == ntuple else "ttree"
        assert [one["container"] for one in report["containers"]] == [own, "ttree" if own == "rntuple" else "rntuple"]
        assert all(one["chosen"]["read"] > 0 for one in report["containers"])
        assert report["proof"]["equal"], report["verdict"]
        basketry("verify", source, out)
        if container != "any":
            assert f'container = "{container}"' in report["layout"]
            about = basketry.json("inspect", out)
            assert bool(about["ntuples"]) == (container == "rntuple")

    with uproot.open(nano) as first, uproot.open(tmp_path / "ttree.root") as second:
        for name in ("event", "nJet", "Jet_pt", "HLT_IsoMu24"):
            assert first["Events"][name].array().tolist() == second["Events"][name].array().tolist()


@pytest.mark.parametrize(("name", "module"), [("root", "ROOT"), ("uproot", "uproot")])
def test_other_programs_read_rntuples(
    name: str,
    module: str,
    ntuple: Path,
    nano: Path,
    basketry: Basketry,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The proof runs `python3`, which is to be the one that runs the tests.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    ours = basketry.json("tune", ntuple)
    out = tmp_path / "tuned.root"
    report = basketry.json("tune", ntuple, "--reader", name, "--max-size", "1.5x", "-o", out)
    assert report["reader"]["name"] == name
    assert report["today"]["read"] != ours["today"]["read"]
    assert report["today"]["size"] == ours["today"]["size"]
    if importlib.util.find_spec(module) is not None:
        assert report["reader"]["instead"] is None
        assert report["reader"]["proven_by"].startswith(name)
        assert report["proof"]["read_today"]["measured"] > 0
    basketry("verify", ntuple, out)

    both = basketry.json("tune", nano, "--container", "any", "--reader", name)
    assert [one["refused"] for one in both["containers"]] == [None, None]
    assert all(one["chosen"]["read"] > 0 for one in both["containers"])


def test_a_profile_without_rntuples_is_for_trees_alone(
    ntuple: Path, nano: Path, basketry: Basketry, tmp_path: Path
) -> None:
    shipped = REPO / "crates" / "lab" / "src" / "decide" / "tune" / "reader" / "root.toml"
    old = tmp_path / "old.toml"
    old.write_text(shipped.read_text().partition("[ntuple")[0])
    assert basketry.json("tune", nano, "--reader", old)["reader"]["profile"] == str(old)

    for arguments in ([ntuple], [nano, "--container", "rntuple"]):
        outcome = basketry.run("tune", *arguments, "--reader", old)
        assert outcome.code == 2, str(outcome)
        assert "--calibrate" in outcome.err
        assert "RNTuples" in outcome.err
