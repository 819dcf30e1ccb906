"""What shells and manual readers get of the command: completions and manual pages, both made from its arguments."""

import subprocess
from pathlib import Path

import pytest

import site_pages
from referee import paths
from referee.command import Basketry

# Completes the last word of a line as an interactive bash does, by the function that `complete` has registered.
COMPLETE = """
source <("$1" completions bash)
COMP_WORDS=(basketry "${@:2}")
COMP_CWORD=$(($# - 1))
_basketry basketry "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["rew"], ["rewrite"]),
        (["re"], ["rewrite", "readspeed", "recover"]),
        (["rewrite", "--compre"], ["--compression"]),
        (["completions", "f"], ["fish"]),
        (["rewrite", "--container", ""], ["ttree", "rntuple"]),
        (["merge", "--streaming", "m"], ["member-wise"]),
        (["rewrite", "--compression", "zs"], ["zstd:1", "zstd:5"]),
    ],
)
def test_bash_completes(words: list[str], completed: list[str], basketry: Basketry) -> None:
    command = ["bash", "-c", COMPLETE, "bash", str(basketry.binary), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout.split() == completed


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_verb(shell: str, basketry: Basketry) -> None:
    script = basketry("completions", shell)

    assert [verb for verb in site_pages.verbs(paths.BINARY) if verb not in script] == []


def test_every_verb_has_a_manual_page(tmp_path: Path, basketry: Basketry) -> None:
    basketry("man", tmp_path)
    overview = (tmp_path / "basketry.1").read_text()
    verbs = site_pages.verbs(paths.BINARY)

    assert "rewrite" in verbs
    for verb in verbs:
        name = f"basketry-{verb}".replace("-", r"\-")
        assert f"{name}(1)" in overview
        # Only hadd lists its flags itself.
        if verb != "hadd":
            assert r"\-\-help" in (tmp_path / f"basketry-{verb}.1").read_text()


def test_help_has_no_broken_lines(basketry: Basketry) -> None:
    # clap made two lines of "merged_{n}.root".
    text = basketry("plan", "--help")

    assert "with \n" not in text
    assert "the letter n in braces" in " ".join(text.split())
