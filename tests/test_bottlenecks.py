"""The study of bottlenecks in its quick form: planted bottlenecks are found, and the page has a place for every table.

No time is asserted.
"""

from pathlib import Path

from referee.studies import quick

PLACE = "<!-- measured: "


def test_planted_bottlenecks_are_found(tmp_path: Path) -> None:
    results, pages, _ = quick("bottlenecks", tmp_path, timeout=120)
    page = (pages / "bottlenecks.md").read_text()
    found = {name: case["found"] for name, case in results["found"].items()}
    planted = {name: case["planted"] for name, case in results["found"].items()}
    assert set(planted.values()) == {"application", "storage", "too-few-clusters", "decompression", "decoding"}
    # In so small a file two stages are close to each other here, so other programs can swap their order.
    for close in ("nothing", "one cluster of many baskets"):
        del found[close], planted[close]
    assert found == planted
    line = results["series"]["slow storage"]["basketry"]

    assert line["facts"]["throttle"]
    assert line["real"] >= line["facts"]["compressed"] / line["facts"]["throttle"] - 0.01
    assert page.count(PLACE) == len(results["blocks"])
    assert "| slow application | application | application |" in page
