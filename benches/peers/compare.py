"""The JSON lines of several programs side by side: python3 benches/peers/compare.py FILE…

Times are medians in microseconds, of several runs the median of theirs; with `TIME=min` they are the fastest. The last column is the fastest peer's time over castiron's: above 1 castiron is faster.
"""
import json, os, statistics, sys

time, best = ("min", min) if os.environ.get("TIME") == "min" else ("ns", statistics.median)
rows, peers = {}, []
for path in sys.argv[1:]:
    for line in open(path):
        row = json.loads(line)
        if "ns" not in row or row["name"].startswith("k."):
            continue
        peers += [row["peer"]] if row["peer"] not in peers else []
        rows.setdefault((row["threads"], row["name"]), {}).setdefault(row["peer"], []).append(row[time] / 1e3)
peers.sort(key=lambda peer: (peer != "castiron", peer))
print("| workload | threads | " + " | ".join(peers) + " | fastest peer / castiron |")
print("|---" * (len(peers) + 3) + "|")
for (threads, name), times in sorted(rows.items()):
    times = {peer: best(several) for peer, several in times.items()}
    cells = [f"{times[peer]:.1f}" if peer in times else "" for peer in peers]
    others = [time for peer, time in times.items() if not peer.startswith("castiron")]
    factor = f"{min(others) / times['castiron']:.2f}" if others and "castiron" in times else ""
    print(f"| {name} | {threads} | " + " | ".join(cells) + f" | {factor} |")
