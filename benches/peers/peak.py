"""The peak resident memory of a command, of castiron or of a peer:

    python3 benches/peers/peak.py target/release/embed --synthetic
    python3 benches/peers/peak.py python3 benches/peers/networks.py once embed 8
"""
import resource, subprocess, sys

# (This program stays small: a command begins as a copy of it, which would count.)
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB", *sys.argv[1:])
