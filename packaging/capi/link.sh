#!/usr/bin/env bash
# Links libbasketry.so from the static library that cargo makes, with versions of its symbols. All that is not the interface is hidden: the
# codecs inside do not meet those of the host. Usage: link.sh libbasketry_capi.a FOLDER VERSION
set -euo pipefail
archive=$1 folder=$2 version=$3
here=$(dirname "$0")
# Until 1.0 the interface may change with the second number.
soname=libbasketry.so.$(cut -d. -f1-2 <<<"$version")
mkdir -p "$folder"
"${CC:-cc}" -shared -o "$folder/libbasketry.so.$version.new" -Wl,-soname,"$soname" -Wl,--version-script,"$here/basketry.map" \
  -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -Wl,--gc-sections -Wl,-O1 -Wl,--as-needed -Wl,-z,relro,-z,now -Wl,-z,defs \
  ${STRIP:+-s} -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
mv "$folder/libbasketry.so.$version.new" "$folder/libbasketry.so.$version"
ln -sf "libbasketry.so.$version" "$folder/$soname"
ln -sf "$soname" "$folder/libbasketry.so"
