"""A slow application: the masses of all pairs of jets, entry by entry, in plain Python. Prints its time."""

import math
import sys
import time

import uproot

COLUMNS = ("Jet_pt", "Jet_eta", "Jet_phi", "Jet_mass")


def main() -> None:
    """Reads the columns of the named file, and loops over all entries."""
    started, used = time.perf_counter(), time.process_time()
    with uproot.open(sys.argv[1]) as file:
        columns = [file["Events"][name].array(library="np") for name in COLUMNS]
    heaviest = 0.0
    for jets in zip(*columns, strict=True):
        momenta = [momentum(*jet) for jet in zip(*(part.tolist() for part in jets), strict=True)]
        for place, one in enumerate(momenta):
            for other in momenta[:place]:
                e, x, y, z = (a + b for a, b in zip(one, other, strict=True))
                heaviest = max(heaviest, e * e - x * x - y * y - z * z)
    print(f"inside {time.perf_counter() - started:.6f} {time.process_time() - used:.6f}")
    print(f"heaviest pair: {math.sqrt(heaviest):.1f}")


def momentum(pt: float, eta: float, phi: float, mass: float) -> tuple[float, float, float, float]:
    """Energy and momentum of a jet."""
    x, y, z = pt * math.cos(phi), pt * math.sin(phi), pt * math.sinh(eta)
    return math.sqrt(x * x + y * y + z * z + mass * mass), x, y, z


if __name__ == "__main__":
    main()
