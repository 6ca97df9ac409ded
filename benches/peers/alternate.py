"""Runs programs by turns, so that a machine whose speed varies treats them alike, then prints `compare.py`'s table:

    cargo bench --bench workloads --features safetensors --no-run     # says where the program is
    THREADS=1 FILTER=embed python3 benches/peers/alternate.py 8 castiron="PROGRAM q" torch="python3 benches/peers/letters.py q"

The first number is how many turns. `before="OTHER q" castiron="PROGRAM q"` compares two builds. `THREADS`, `FILTER` and `BENCH_MS` are the
programs' own; `TIME=min` prints the fastest times in place of medians.
"""
import os, subprocess, sys, tempfile

turns, programs = int(sys.argv[1]), [argument.split("=", 1) for argument in sys.argv[2:]]
threads = os.environ.get("THREADS", "1")
with tempfile.TemporaryDirectory() as folder:
    files = {peer: f"{folder}/{peer}" for peer, _ in programs}
    for _ in range(turns):
        for peer, command in programs:
            settings = {"THREADS": threads, "RAYON_NUM_THREADS": threads, "MATMUL_NUM_THREADS": threads, "OUT": files[peer], "PEER": peer}
            subprocess.run(command.split(), env=os.environ | settings, stdout=subprocess.DEVNULL, check=True)
    compare = os.path.join(os.path.dirname(__file__), "compare.py")
    subprocess.run([sys.executable, compare, *files.values()], check=True)
