"""PyTorch on the workloads of `benches/gpu/main.rs`, under the same names: `python3 peer.py [part of a name]`. One JSON object per line.

Each time is the median of five batches of calls that take 30 ms together, waited for at the end of the batch, as the Rust program does it.
"""
import json
import sys
import time

import torch
import torch.nn.functional as F

WORD = sys.argv[1] if len(sys.argv) > 1 else ""
DEVICE = "cuda"
torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(7)


def measure(name, call, moved=0, flops=0):
    if WORD not in name:
        return

    def batch(calls):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / calls

    try:
        batch(2)
        once = batch(1)
        calls = min(max(int(0.03 / once), 1), 10_000)
        seconds = sorted(batch(calls) for _ in range(5))[2]
    except RuntimeError as error:
        print(json.dumps({"side": "torch", "name": name, "error": str(error).splitlines()[0]}), flush=True)
        return
    line = {"side": "torch", "name": name, "ms": seconds * 1e3, "gbs": moved / seconds / 1e9, "tflops": flops / seconds / 1e12}
    print(json.dumps(line), flush=True)


N = 1 << 28
a, b, c = (torch.randn(N, device=DEVICE) for _ in range(3))
out = a * 2
half = a.bfloat16()

# What this GPU copies at best.
measure("ceiling_copy", lambda: out.copy_(a), 8 * N)

measure("copy_f32", lambda: out.copy_(a), 8 * N)
measure("add_f32", lambda: a + b, 12 * N)
measure("add_in_place_f32", lambda: out.add_(b), 12 * N)
measure("fused_mul_add_exp_f32", lambda: (a * b + c).exp(), 16 * N)
measure("fused_exp_scale_f32", lambda: (a * 2.0 + b).exp(), 12 * N)
measure("gelu_f32", lambda: F.gelu(a), 8 * N)
measure("erf_f32", lambda: a.erf(), 8 * N)
measure("sin_f32", lambda: a.sin(), 8 * N)
measure("pow_f32", lambda: a.pow(b), 12 * N)
measure("lt_f32", lambda: a.lt(b), 9 * N)
mask = a.lt(b)
measure("where_f32", lambda: torch.where(mask, a, b), 13 * N)
del mask
measure("cast_f32_bf16", lambda: a.bfloat16(), 6 * N)
other = b.bfloat16()
measure("add_bf16", lambda: half + other, 6 * N)
measure("gelu_bf16", lambda: F.gelu(half), 4 * N)
del other
integers = (a * 1000).int()
measure("add_i32", lambda: integers + integers, 8 * N)
measure("div_i32", lambda: integers.floor_divide(7), 8 * N)
del integers, c, out

side = 1 << 14
x, y = a.view(side, side), b.view(side, side)
measure("strided_add_f32", lambda: a[::2] + b[::2], 6 * N)
measure("transpose_f32", lambda: x.t().contiguous(), 8 * N)
measure("add_transposed_f32", lambda: x + y.t(), 12 * N)
measure("add_row_f32", lambda: x + x[:1], 8 * N)
measure("add_column_f32", lambda: x + x[:1].t(), 8 * N)
half_square = half.view(side, side)
measure("transpose_bf16", lambda: half_square.t().contiguous(), 4 * N)
measure("cat_rows_f32", lambda: torch.cat([x, y]), 16 * N)
measure("flip_f32", lambda: x.flip(1), 8 * N)
del b, y

rows, short, wide = a.view(-1, 4096), a.view(-1, 64), a.view(64, -1)
measure("sum_all_f32", lambda: a.sum(), 4 * N)
measure("sum_rows_4096_f32", lambda: rows.sum(1), 4 * N)
measure("sum_rows_64_f32", lambda: short.sum(1), 4 * N)
measure("sum_rows_4M_f32", lambda: wide.sum(1), 4 * N)
measure("sum_columns_4096_f32", lambda: rows.sum(0), 4 * N)
measure("sum_columns_64_f32", lambda: short.sum(0), 4 * N)
measure("sum_columns_4M_f32", lambda: wide.sum(0), 4 * N)
measure("mean_all_f32", lambda: a.mean(), 4 * N)
measure("max_all_f32", lambda: a.max(), 4 * N)
measure("argmax_all_f32", lambda: a.argmax(), 4 * N)
measure("argmax_rows_f32", lambda: rows.argmax(1), 4 * N)
measure("max_rows_f32", lambda: rows.max(1), 4 * N)
measure("var_all_f32", lambda: a.var(), 4 * N)
measure("var_rows_f32", lambda: rows.var(1), 4 * N)
measure("norm_all_f32", lambda: torch.linalg.vector_norm(a), 4 * N)
measure("logsumexp_rows_f32", lambda: rows.logsumexp(1), 4 * N)
measure("fused_dot_f32", lambda: (a * a).sum(), 4 * N)
half_rows = half.view(-1, 4096)
measure("sum_all_bf16", lambda: half.sum(), 2 * N)
measure("sum_rows_bf16", lambda: half_rows.sum(1), 2 * N)

for length in (1024, 4096, 32768):
    measure(f"softmax_{length}_f32", lambda: a.view(-1, length).softmax(1), 8 * N)
measure("softmax_columns_f32", lambda: rows.softmax(0), 8 * N)
measure("log_softmax_4096_f32", lambda: rows.log_softmax(1), 8 * N)
weight = torch.ones(4096, device=DEVICE)
measure("layer_norm_4096_f32", lambda: F.layer_norm(rows, [4096], weight, weight, 1e-5), 8 * N)
measure("rms_norm_4096_f32", lambda: F.rms_norm(rows, [4096], weight, 1e-5), 8 * N)
measure("softmax_4096_bf16", lambda: half_rows.softmax(1), 4 * N)

measure("cumsum_all_f32", lambda: a.cumsum(0), 8 * N)
measure("cumsum_rows_f32", lambda: rows.cumsum(1), 8 * N)
measure("cumsum_columns_f32", lambda: rows.cumsum(0), 8 * N)

table = half.view(-1, 1024)
choice = torch.randint(0, N // 1024, (N // 1024,), device=DEVICE)
measure("index_select_rows_bf16", lambda: table.index_select(0, choice), 4 * N)
M = N // 16
few, index = a[:M].clone(), torch.randint(0, M, (M,), device=DEVICE)
measure("gather_f32", lambda: few.gather(0, index), 16 * M)
measure("scatter_add_f32", lambda: few.scatter_add(0, index, few), 20 * M)
chosen = few > 0
measure("masked_select_f32", lambda: few.masked_select(chosen), 7 * M)
measure("nonzero", lambda: chosen.nonzero(), 5 * M)

some = a[: N // 4].clone()
measure("sort_64M_f32", lambda: some.sort(), 4 * N)
measure("sort_rows_1024_f32", lambda: some.view(-1, 1024).sort(1), 4 * N)
measure("topk_64M_f32", lambda: some.topk(64), N)
measure("topk_rows_16384_f32", lambda: some.view(-1, 16384).topk(64), N)
measure("median_rows_1024_f32", lambda: some.view(-1, 1024).median(1), N)
del a, half, rows, short, wide, half_rows, half_square, x, table, some, few

for dtype, name in ((torch.bfloat16, "bf16"), (torch.float16, "f16")):
    m = 8192
    x = torch.randn(m, m, device=DEVICE).to(dtype)
    measure(f"matmul_{name}_8192", lambda: x @ x, flops=2 * m**3)
    if name == "bf16":
        measure("matmul_bf16_8192_transposed", lambda: x.t() @ x, flops=2 * m**3)
        bias = torch.ones(m, device=DEVICE, dtype=dtype)
        measure("linear_bf16_8192", lambda: F.linear(x, x, bias), flops=2 * m**3)
for dtype, name in ((torch.float32, "f32"), (torch.float64, "f64")):
    m = 4096
    x = torch.randn(m, m, device=DEVICE, dtype=dtype)
    measure(f"matmul_{name}_4096", lambda: x @ x, flops=2 * m**3)
m = 1024
x = torch.randn(64, m, m, device=DEVICE).bfloat16()
measure("bmm_bf16_64x1024", lambda: x @ x, flops=64 * 2 * m**3)

x, y = torch.ones(1024, device=DEVICE), torch.ones(1024, device=DEVICE)
measure("call_add_1k", lambda: x + y)
measure("call_fused_1k", lambda: (x * 2.0 + y).exp())
measure("call_sum_1k", lambda: x.sum())
measure("call_softmax_1k", lambda: x.softmax(0))
measure("call_zeros_1k", lambda: torch.zeros(1024, device=DEVICE))
host = torch.ones(N)
measure("upload_1GiB", lambda: host.to(DEVICE), 4 * N)
there = host.to(DEVICE)
measure("download_1GiB", lambda: there.to("cpu"), 4 * N)
measure("rand_f32", lambda: torch.rand(N // 4, device=DEVICE), N)
measure("randn_f32", lambda: torch.randn(N // 4, device=DEVICE), N)
