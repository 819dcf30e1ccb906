#!/usr/bin/env bash
# Packs a static program with what belongs to it. Usage: tarball.sh PROGRAM FOLDER; writes FOLDER.tar.gz and its SHA-256.
# The same files give the same bytes: no times, no owners, one order.
set -euo pipefail
program=$1 folder=$2
here=$(dirname "$0")
name=$(basename "$folder")
rm -rf "$folder"
install -D -m 755 "$program" "$folder/bin/basketry"
install -D -m 644 -t "$folder/share/doc/basketry" "$here/../LICENSE" "$here/../THIRD-PARTY.txt" "$here/../README.md" "$here/../CHANGELOG.md"
# Of a program for another processor there is nothing to be asked.
if "$folder/bin/basketry" --version >/dev/null 2>&1; then
  "$folder/bin/basketry" man "$folder/share/man/man1" >/dev/null
  mkdir -p "$folder/share/completions"
  for shell in bash zsh fish; do
    "$folder/bin/basketry" completions "$shell" >"$folder/share/completions/basketry.$shell"
  done
fi
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$(dirname "$folder")" -c "$name" | gzip -9n >"$folder.tar.gz"
(cd "$(dirname "$folder")" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
ls -l "$folder.tar.gz"
