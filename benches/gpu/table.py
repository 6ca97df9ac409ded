"""The lines of `main.rs` and `peer.py` beside each other: `python3 table.py castiron.jsonl torch.jsonl`. Shares are of the plain copy in
the same run, and of PyTorch's bf16 product."""
import json
import sys

found = {}
for path in sys.argv[1:]:
    for line in open(path):
        if line.startswith("{"):
            row = json.loads(line)
            found.setdefault(row["name"], {})[row["side"]] = row
copy = found.pop("ceiling_copy", {}).get("torch", {}).get("gbs") or float("nan")
product = found.get("matmul_bf16_8192", {}).get("torch", {}).get("tflops") or float("nan")
print(f"A plain copy: {copy:.0f} GB/s; bf16 product of PyTorch: {product:.0f} TFLOP/s\n")
print("| workload | castiron ms | PyTorch ms | castiron / PyTorch | GB/s or TFLOP/s | share of the ceiling |")
print("|---|---|---|---|---|---|")
for name, sides in found.items():
    ours, theirs = sides.get("castiron", {}).get("ms"), sides.get("torch", {}).get("ms")
    row = sides.get("castiron") or sides["torch"]
    ratio = f"{ours / theirs:.2f}" if ours and theirs else ""
    figure, share = "", ""
    if row.get("gbs"):
        figure, share = f"{row['gbs']:.0f} GB/s", f"{100 * row['gbs'] / copy:.0f} %"
    elif row.get("tflops"):
        figure = f"{row['tflops']:.1f} TFLOP/s"
        share = f"{100 * row['tflops'] / product:.0f} %" if "16" in name else ""
    text = lambda ms: f"{ms:.4f}" if ms else "-"
    print(f"| {name} | {text(ours)} | {text(theirs)} | {ratio} | {figure} | {share} |")
