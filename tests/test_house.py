"""The structure of the sources: crates use only lower crates, modules are small and documented, and no circles."""

import functools
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from referee.paths import REPO
from referee.python_imports import Sources
from referee.rust_functions import functions, takes_tuples
from referee.rust_imports import Crate

# Lowest first.
CRATES = ["rootfile", "remote", "dataset", "objects", "expr", "flow", "lab", "cli", "python", "capi"]
LONGEST_MODULE = 500
# Functions that take two ideas as one parameter without a name. The number only falls.
MOST_WITH_TUPLES = 204
# Folders of Python sources, each with the package that it is; modules of the others are imported by their own names.
PYTHON = {REPO / "python": (), REPO / "tests": (), REPO / "bench": (), REPO / "studies": ("studies",)}
# Integration tests that are programs of their own, beside `it`: their allocators limit the memory of the whole process;
# in the model, modules of the crate are compiled once more with other locks.
OWN_PROGRAMS = {"dataset": {"ntuple_corrupt"}, "flow": {"corrupt", "resealed", "write_model"}}
# The folders of `flow`, earlier stages first.
STAGES = "table commit execute plan arrow select keys reorder survey verify rewrite edit split gather events".split()


@functools.cache
def imports(crate: str) -> Crate:
    """The import graph of a crate."""
    return Crate(REPO / "crates" / crate / "src")


def modules() -> list[Path]:
    """The source files of all crates."""
    return sorted((REPO / "crates").glob("*/src/**/*.rs"))


@pytest.mark.parametrize("crate", CRATES)
def test_a_crate_uses_only_lower_crates(crate: str) -> None:
    manifest = tomllib.loads((REPO / "crates" / crate / "Cargo.toml").read_text())
    used = {name.removeprefix("basketry-") for name in manifest["dependencies"] if name.startswith("basketry-")}
    assert used <= set(CRATES[: CRATES.index(crate)])


@pytest.mark.parametrize("crate", CRATES)
def test_folders_of_a_crate_do_not_use_each_other(crate: str) -> None:
    assert imports(crate).folder_circles() == []


@pytest.mark.parametrize("crate", CRATES)
def test_files_of_a_crate_do_not_use_each_other_in_a_circle(crate: str) -> None:
    assert imports(crate).file_circles() == []


@pytest.mark.parametrize("crate", CRATES)
def test_integration_tests_of_a_crate_are_one_program(crate: str) -> None:
    """Each program links all libraries: 37 programs took minutes, and gigabytes."""
    folder = REPO / "crates" / crate / "tests"
    programs = {path.stem for path in folder.glob("*.rs")} | {path.parent.name for path in folder.glob("*/main.rs")}
    assert programs - {"it"} == OWN_PROGRAMS.get(crate, set())
    if "it" in programs:
        modules = {path.stem for path in (folder / "it").iterdir()} - {"main"}
        assert modules == set(re.findall(r"^mod (\w+);", (folder / "it/main.rs").read_text(), re.MULTILINE))


def test_the_graph_finds_circles(tmp_path: Path) -> None:
    sources = {
        "lib.rs": "mod a;\nmod b;\nmod low;\npub use low::Shared;",
        "a.rs": "use crate::b::{self, Two};\npub struct One(Two);",
        "b.rs": "pub struct Two;\nfn back() -> super::a::One { todo!() }\nfn down(_: crate::Shared) {}",
        # Comments, strings and unit tests do not count.
        "low.rs": '// crate::a::One\nconst TEXT: &str = "crate::a::One";\npub struct Shared;\n'
        "#[cfg(test)]\nmod tests { use crate::a::One; }",
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text)

    crate = Crate(tmp_path)

    assert crate.file_circles() == [["a", "b"]]
    assert crate.edges()[("b",)] == {("a",): {"One"}, ("low",): {"Shared"}}
    assert crate.edges()[("low",)] == {}


def test_python_files_do_not_import_each_other_in_a_circle() -> None:
    sources = Sources(PYTHON)
    # Each folder takes part.
    taking_part = {("basketry", "reading", "table"), ("referee", "paths"), ("measure",), ("studies", "study")}
    assert taking_part <= sources.edges().keys()
    assert sources.circles() == []


def test_python_names_a_container_only_to_choose_one() -> None:
    """What trees and RNTuples do differently is in classes, not in questions."""
    sources = {path for suffix in ("py", "pyi") for path in (REPO / "python").rglob(f"*.{suffix}")}
    asked = [path for path in sorted(sources) if re.search(r"is_ntuple|table\.kind", path.read_text())]
    assert [path.name for path in asked] == ["table.py"]


def test_the_graph_of_python_finds_circles(tmp_path: Path) -> None:
    sources = {
        "package/__init__.py": "from .a import One",
        "package/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .inner.b import Two",
        "package/inner/__init__.py": "",
        "package/inner/b.py": "def back():\n    from .. import a\n    import package.low as low",
        # Comments, strings and other libraries do not count.
        "package/low.py": '# from . import a\nTEXT = "import package.a"\nimport json',
        "script.py": "import tool",
        "tool.py": "from package import One\nimport script",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    graph = Sources({tmp_path: ()})

    assert graph.circles() == [["package.a", "package.inner.b"], ["script", "tool"]]
    assert graph.edges()[("package", "inner", "b")] == {("package", "a"), ("package", "low")}
    assert graph.edges()[("package", "low")] == set()
    assert graph.edges()[("tool",)] == {("package",), ("script",)}


def test_a_stage_of_flow_uses_only_earlier_stages() -> None:
    folders = {path.name for path in (REPO / "crates/flow/src").iterdir() if path.is_dir()}
    uses = {
        (user[0], target[0])
        for user, targets in imports("flow").edges().items()
        for target in targets
        if user and target and {user[0], target[0]} <= folders
    }

    assert folders == set(STAGES)
    assert {(user, used) for user, used in uses if STAGES.index(used) > STAGES.index(user)} == set()


def test_flow_names_a_container_in_folders_of_its_name() -> None:
    """What only trees or only RNTuples have lies in `tree` and `ntuple`. The number of other files may only fall."""
    source = REPO / "crates/flow/src"
    names = re.compile(r"dataset::(\{[^}]*\b(tree|ntuple)|tree|ntuple)")
    named = [path.relative_to(source) for path in sorted(source.rglob("*.rs")) if names.search(path.read_text())]
    elsewhere = [str(path) for path in named if not {"tree", "ntuple"} & {*path.with_suffix("").parts}]

    assert len(named) > len(elsewhere)
    assert len(elsewhere) <= 24, elsewhere


def test_the_writer_chooses_a_container_in_one_file() -> None:
    """A file that knows both containers would have an arm for each, and one for what does not fit."""
    write = ("arrow", "write")
    containers = {(*write, "tree", "format"), (*write, "ntuple", "format")}
    users = {user for user, targets in imports("flow").edges().items() if len(containers & targets.keys()) > 1}
    mismatch = re.compile(r'internal error: [^"]*of another')

    assert containers <= imports("flow").edges().keys()
    assert users == {(*write, "table_source")}
    assert [str(path.relative_to(REPO)) for path in modules() if mismatch.search(path.read_text())] == []


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo")
def test_command_wheel_and_tests_are_one_build() -> None:
    """With other features of a library, it and all that uses it would be compiled once more: minutes."""

    def libraries(*what: str) -> set[str]:
        """The packages with their features."""
        command = [
            "cargo",
            "tree",
            "--locked",
            "--prefix",
            "none",
            "--format",
            "{p} {f}",
            "--features",
            "basketry-cli/as-tested",
        ]
        said = subprocess.run([*command, *what], capture_output=True, text=True, cwd=REPO, check=True).stdout
        return {line.removesuffix(" (*)") for line in said.splitlines()}

    tests = libraries()
    for package in ("basketry-cli", "basketry-python", "basketry-capi"):
        assert libraries("-e", "no-dev", "-p", package) <= tests


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo")
@pytest.mark.parametrize(
    ("crate", "left_out"),
    [
        ("rootfile", {"arrow-array", "parquet", "reqwest", "tokio", "charming", "askama", "clap"}),
        ("expr", {"basketry-rootfile", "parquet", "tokio", "clap"}),
        ("dataset", {"parquet", "reqwest", "tokio", "charming", "askama", "clap"}),
        ("flow", {"reqwest", "tokio", "charming", "askama", "clap"}),
        ("lab", {"reqwest", "tokio", "clap"}),
    ],
)
def test_a_crate_takes_little(crate: str, left_out: set[str]) -> None:
    """Parquet, other machines and the command are for those who ask for them."""
    words = ["--no-default-features", "-e", "normal,build", "--prefix", "none", "--format", "{p}"]
    command = ["cargo", "tree", "--locked", "-p", f"basketry-{crate}", *words]
    said = subprocess.run(command, capture_output=True, text=True, cwd=REPO, check=True).stdout
    taken = {line.split()[0] for line in said.splitlines() if line}
    assert f"basketry-{crate}" in taken
    assert taken & left_out == set()


def test_every_module_opens_with_its_purpose() -> None:
    silent = [str(path.relative_to(REPO)) for path in modules() if not path.read_text().startswith("//! ")]
    assert silent == []


def test_parameters_have_names() -> None:
    """A tuple in place of a struct hides what its parts are, and that there are too many parameters."""
    hiding = [
        f"{path.relative_to(REPO)}: {name}"
        for path in modules()
        if path.stem != "tests"
        for name, types in functions(path.read_text())
        if takes_tuples(types)
    ]
    assert len(hiding) <= MOST_WITH_TUPLES, "\n".join(hiding)


def test_functions_with_tuples_are_found() -> None:
    text = """
    fn plain(&self, a: usize, f: &(dyn Fn(u64) + Sync), made: impl Fn((u8, u8)) -> u8, nothing: ()) {}
    fn pair((place, directory): (&Tree, DirId), n: usize) {}
    fn borrowed<'a, F: Fn(u8) -> u8>(f: F, at: &'a mut (u8, Vec<(u8, u8)>)) -> (u8, u8) {}
    // fn comment(a: (u8, u8)) {}
    #[cfg(test)]
    mod tests { fn test(a: (u8, u8)) {} }
    """
    assert [(name, takes_tuples(types)) for name, types in functions(text)] == [
        ("plain", False),
        ("pair", True),
        ("borrowed", True),
    ]


def test_no_module_is_long() -> None:
    lines = {str(path.relative_to(REPO)): len(path.read_text().splitlines()) for path in modules()}
    assert {name: count for name, count in lines.items() if count > LONGEST_MODULE} == {}


def test_every_crate_is_in_the_architecture() -> None:
    text = (REPO / "ARCHITECTURE.md").read_text()
    folders = sorted(path.name for path in (REPO / "crates").iterdir() if path.is_dir())
    assert folders == sorted(CRATES)
    assert all(f"crates/{crate}" in text for crate in folders)
