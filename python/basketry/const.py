"""ROOT's numbers of codecs, by uproot's names."""

from .compression import LZ4, LZMA, ZLIB, ZSTD

kZLIB = ZLIB.number
kLZMA = LZMA.number
kLZ4 = LZ4.number
kZSTD = ZSTD.number
