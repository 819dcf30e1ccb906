"""Puts the command `basketry` into a wheel as a program, in place of Python's script: it starts in milliseconds, and
loads the same compiled half as the package, so that the engine is in the wheel once (packaging/launcher).
`python tools/wheel_command.py WHEEL [COMPILER...]`, and the last step of `build_backend`.

An extension module leaves Python's symbols open. They are made weak here: an interpreter resolves them as before, and a
program that has none can load the module. Wheels for other systems than Linux stay as they are, with the script.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import shlex
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
SOURCE = REPO / "packaging/launcher/basketry.c"
MODULE = "basketry/_core.abi3.so"
FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-s"]
#: Of ELF (64 bits, little-endian): sizes of the entries of a section and a symbol, the kind of a table of dynamic
#: symbols, weak binding.
SECTION, SYMBOL, DYNSYM, WEAK = 64, 24, 11, 2


def with_weak_symbols(module: bytes) -> bytes:
    """A module whose open symbols of Python are weak."""
    changed = bytearray(module)
    (sections,) = struct.unpack_from("<Q", module, 40)
    size, count = struct.unpack_from("<HH", module, 58)
    assert size == SECTION
    entries = [struct.unpack_from("<IIQQQQIIQQ", module, sections + place * SECTION) for place in range(count)]
    for _, kind, _, _, start, length, link, *_ in entries:
        if kind != DYNSYM:
            continue
        names = entries[link][4]
        for at in range(start, start + length, SYMBOL):
            name, info, _, section = struct.unpack_from("<IBBH", module, at)
            text = module[names + name : module.index(b"\0", names + name)]
            if section == 0 and text.startswith((b"Py", b"_Py")):
                changed[at + 4] = WEAK << 4 | info & 15
    return bytes(changed)


def launcher(version: str, compiler: list[str]) -> bytes:
    """The program."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "basketry"
        subprocess.run([*compiler, *FLAGS, f'-DVERSION="{version}"', SOURCE, "-o", out, "-ldl"], check=True)
        return out.read_bytes()


def record(files: dict[str, bytes], name: str) -> bytes:
    """The list of all files, with their digests."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.writerow([path, f"sha256={digest}", len(content)])
    lines.writerow([name, "", ""])
    return text.getvalue().encode()


def put_command(wheel: Path, *compiler: str) -> None:
    """Puts the program into a wheel, if that is for Linux. The compiler is the system's, or that of the environment."""
    with zipfile.ZipFile(wheel) as archive:
        about = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}
        files = {name: archive.read(name) for name in about}
    if not files.get(MODULE, b"").startswith(b"\x7fELF\x02\x01"):
        print(f"{wheel}: the command stays a script: the compiled half is not for Linux", file=sys.stderr)
        return
    _, version, *_ = wheel.name.split("-")
    own = f"basketry-{version}"
    scripts = f"{own}.dist-info/entry_points.txt"
    command = f"{own}.data/scripts/basketry"
    if command in files:
        return
    assert files.pop(scripts).decode().split() == ["[console_scripts]", "basketry=basketry._command:main"]
    files[MODULE] = with_weak_symbols(files[MODULE])
    listed = f"{own}.dist-info/RECORD"
    del files[listed]
    words = compiler or (os.environ.get("CC", "cc"),)
    files[command] = launcher(version, [word for part in words for word in shlex.split(part)])
    files[listed] = record(files, listed)
    written = wheel.with_suffix(".new")
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, about.get(name, about[listed]).date_time)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name in (command, MODULE) else 0o100644) << 16
            archive.writestr(entry, content)
    written.replace(wheel)


if __name__ == "__main__":
    put_command(Path(sys.argv[1]), *sys.argv[2:])
