"""No message, report or `repr` shows what a URL has of secrets, whatever way the URL is written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Argument, Basketry
from servers.odd import Behaviour, OddServer

SECRET = "let-me-in"
PARAMETERS = ("authz", "access_token", "token", "sig", "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token")


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with a tree and a histogram."""
    path = tmp_path_factory.mktemp("secrets") / "a.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": np.float64}).extend({"x": np.arange(100.0)})
        file["h"] = np.histogram(np.arange(10), bins=3)
    return path.read_bytes()


@pytest.fixture
def url(odd_server: OddServer, content: bytes) -> str:
    """Where it is, and a user and password are in the URL."""
    return odd_server.put("a.root", content).replace("http://", f"http://me:{SECRET}@")


WRONG: dict[str, Callable[[str, str], str]] = {
    "a tree that is not there": lambda url, secrets: f"{url}:Nope?{secrets}",
    "a tree behind the parameters": lambda url, secrets: f"{url}?{secrets}:Nope",
    "a file that is not there": lambda url, secrets: f"{url.replace('a.root', 'b.root')}?{secrets}",
    "no scheme": lambda url, secrets: f"{url.partition('@')[2]}?{secrets}",
    "one slash": lambda url, secrets: f"{url.replace('://', ':/')}?{secrets}",
    "another scheme": lambda url, secrets: f"{url.replace('http', 'gopher', 1)}?{secrets}",
    "no port": lambda url, secrets: f"{url.replace('/a.root', '99999999/a.root')}?{secrets}",
    "no host": lambda url, secrets: f"{url.partition('me')[0]}/a.root?{secrets}",
    "a part": lambda url, secrets: f"{url}#{secrets}",
}


def secrets() -> str:
    """All parameters that let in."""
    return "x=1&" + "&".join(f"{name}={SECRET}" for name in PARAMETERS)


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("verb", ["inspect", "check", "verify", "rewrite", "merge", "hadd"])
def test_no_verb_shows_them(
    basketry: Basketry, url: str, wrong: Callable[[str, str], str], verb: str, tmp_path: Path
) -> None:
    place = wrong(url, secrets())
    choices: dict[str, list[Argument]] = {
        "inspect": [place],
        "check": ["--json", place],
        "verify": [place, place],
        "hadd": ["-v", "99", tmp_path / "out.root", place, place],
    }
    words = choices.get(verb, [place, "-o", tmp_path / "out.root"])

    outcome = basketry.within(BASKETRY_REMOTE_RETRIES="0").run(verb, *words)

    assert SECRET not in outcome.out + outcome.err, str(outcome)


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_python_does_not_show_them(url: str, wrong: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASKETRY_REMOTE_RETRIES", "0")
    shown: list[Any] = []

    try:
        shown.append(bk.open(wrong(url, secrets())))
    except (OSError, ValueError, KeyError) as error:
        shown += [error, error.__cause__, error.args]

    assert SECRET not in "".join(f"{one!r}{one}" for one in shown)


def test_a_tree_before_the_parameters_is_found(basketry: Basketry, odd_server: OddServer, content: bytes) -> None:
    place = odd_server.put("p.root", content, Behaviour(token=SECRET))

    assert bk.open(f"{place}:t?authz={SECRET}")["x"].array().to_list() == list(range(100))
    assert basketry.json("readspeed", f"{place}:t?authz={SECRET}")["entries"] == 100
    with pytest.raises(KeyError) as raised:
        bk.open(f"{place}:Nope?authz={SECRET}")
    assert SECRET not in str(raised.value)
    assert "'Nope'" in str(raised.value)


def test_a_watched_command_is_kept_without_them(basketry: Basketry, tmp_path: Path) -> None:
    url = f"https://me:{SECRET}@host/a.root?authz={SECRET}&x=1"
    words = ["env", f"BEARER_TOKEN={SECRET}", "echo", url, f"?sig={SECRET}"]

    outcome = basketry.run("monitor", "--json", "-o", tmp_path / "samples.jsonl", "--", *words)

    echoed = f"{url} ?sig={SECRET}"
    assert outcome.code == 0, str(outcome)
    assert echoed in outcome.out
    assert SECRET not in outcome.out.replace(echoed, "") + outcome.err
    assert SECRET not in (tmp_path / "samples.jsonl").read_text()
    assert "https://host/a.root" in outcome.out.replace(echoed, "")
