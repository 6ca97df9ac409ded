"""Writes tests/oracle/counted.json.gz: what PyTorch gives by name for incomplete gamma functions, histograms, normalisation with its
statistics, bilinear forms, reductions under masks, pooling by windows that stand at random and attention of several heads.

A row is [operation, arguments, named arguments, results]; tensors are {"t": dtype, "s": sizes, "v": elements}. Results are a list,
or {"err": text} where PyTorch refuses. Numbers have as many digits as their dtype.
"""

import gzip
import itertools
import json
import math
import sys
import warnings

import torch
import torch.masked

warnings.simplefilter("ignore")
torch.set_num_threads(1)
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.int64: "i64", torch.bool: "bool"}
DIGITS = {torch.float64: 17, torch.float32: 9, torch.float16: 5, torch.bfloat16: 4}


def number(x):
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    return x


def encoded(x):
    if isinstance(x, torch.Tensor):
        digits = DIGITS.get(x.dtype)
        elements = x.flatten().tolist()
        if digits:
            elements = [float(f"{v:.{digits}g}") for v in elements]
        return {"t": NAMES[x.dtype], "s": list(x.shape), "v": [number(v) for v in elements]}
    if isinstance(x, (list, tuple)):
        return [encoded(item) for item in x]
    if isinstance(x, float):
        return {"float": number(x)}
    return x


def flat(results):
    for result in results:
        if isinstance(result, (list, tuple)):
            yield from flat(result)
        else:
            yield result


rows = []


def row(name, *args, **named):
    function = torch
    for part in name.split("."):
        function = getattr(function, part)
    given, words = encoded(args), {key: encoded(value) for key, value in named.items()}
    try:
        result = function(*args, **named)
        results = [encoded(x) for x in flat(result if isinstance(result, (tuple, list)) else [result])]
    except Exception as error:
        results = {"err": str(error).split("\n")[0]}
    rows.append([name, given, words, results])


def gammas():
    ends = [0.0, -0.0, 1.0, math.inf, math.nan, -1.0, 1e-30]
    pairs = list(itertools.product(ends, ends))
    near = [1e-3, 0.1, 0.49, 0.5, 0.75, 1.0, 1.1, 1.5, 3.0, 8.0, 19.5, 20.0, 21.0, 60.0, 199.0, 200.0, 250.0, 1e3, 1e5]
    pairs += [(a, x) for a in near for x in near]
    pairs += [(a, a * by) for a in [20.5, 25.0, 150.0, 201.0, 1e4, 1e7] for by in [0.71, 0.9, 0.995, 1.0, 1.003, 1.1, 1.29]]
    for dtype in [torch.float64, torch.float32, torch.float16, torch.bfloat16]:
        a, x = (torch.tensor(list(column), dtype=torch.float64).to(dtype) for column in zip(*pairs))
        row("igamma", a, x)
        row("igammac", a, x)
    x = torch.tensor([[1.0, 2.0, 5.0]])
    row("igamma", x, torch.tensor([[1], [3]]))
    row("special.gammainc", torch.tensor([1, 2, 3]), x)
    row("special.gammaincc", x, torch.tensor(2.0, dtype=torch.float64))
    row("igamma", torch.tensor([1, 2]), torch.tensor([1, 2]))
    row("igammac", torch.tensor([True]), torch.tensor([False]))


def histograms():
    for dtype in [torch.float32, torch.float64]:
        def of(*x):
            return torch.tensor(x, dtype=dtype)

        torch.manual_seed(0)
        x = (torch.randn(60, dtype=torch.float64) * 64).round().to(dtype) / 64
        w = (torch.rand(60, dtype=torch.float64) * 64).round().to(dtype) / 64
        for bins in [1, 2, 7, 10, 33]:
            row("histogram", x, bins)
            row("histogram", x, bins, density=True)
            row("histogram", x, bins, range=(-1.003, 2.507), weight=w)
            row("histogram", x, bins, range=(-1.003, 2.507), weight=w, density=True)
        for edges in [of(0.0, 1.0, 2.0), of(-3.0, -0.5, -0.25, 0.0, 1.5), of(0.5), of(), of(0.0, 0.0, 1.0)]:
            row("histogram", x, edges)
            row("histogram", x, edges, weight=w, density=True)
        y = of(1.0, 2.0, 1.0)
        row("histogram", y.reshape(1, 3), 2, weight=torch.ones(3, dtype=dtype))
        row("histogram", of(1.0, math.nan), 4)
        row("histogram", of(1.0, math.nan, 3.0, math.inf), 4, range=(0.0, 3.0))
        row("histogram", of(), 3)
        row("histogram", torch.tensor(1.5, dtype=dtype), 2)
        row("histogram", torch.ones(3, dtype=dtype), 3)
        row("histogram", of(5.0), 3, range=(0.0, 1.0), density=True)
        for bins in [0, -1, of(1.0, 2.0).half(), torch.ones(1, 2, dtype=dtype)]:
            row("histogram", y, bins)
        for ends in [(2.0, 1.0), (math.inf, 1.0), (1.0,), (1.0, 1.0)]:
            row("histogram", y, 3, range=ends)
        row("histogram", y, of(0.0, 1.0), range=(0.0, 1.0))
        row("histogram", y, 3, weight=of(1.0, 2.0))
        row("histogram", y, 3, weight=torch.ones(3, dtype=torch.float16))
        z = torch.stack([x[:20], x[20:40], x[40:]], 1)
        row("histogramdd", z, [2, 3, 4])
        row("histogramdd", z, 2, density=True)
        row("histogramdd", z, [2, 1, 2], range=[-1.0, 1.0, -2.0, 0.5, 0.0, 3.0], weight=w[:20], density=True)
        row("histogramdd", z.reshape(4, 5, 3), [2, 1, 2], weight=w[:20].reshape(4, 5))
        row("histogramdd", z.reshape(4, 5, 3), [2, 1, 2], weight=w[:20])
        row("histogramdd", z[:, :2], [of(-1.0, 0.0, 1.0), of(0.0, 1.0)], weight=w[:20])
        row("histogramdd", z, [2, 3])
        row("histogramdd", z, [of(0.0, 1.0)])
        row("histogramdd", z, [2, 0, 1])
        row("histogramdd", z, [2, 3, 1], range=[0.0, 1.0])
        row("histogramdd", y, [3])
        row("histogramdd", torch.empty(0, 2, dtype=dtype), [2, 2])
    for dtype in [torch.float16, torch.bfloat16, torch.int64]:
        row("histogram", torch.ones(2).to(dtype), 2)


def normalised():
    torch.manual_seed(0)

    def drawn(*sizes, dtype):
        return ((torch.randn(*sizes, dtype=torch.float64) * 64).round() / 64).to(dtype)

    for dtype in [torch.float32, torch.float64, torch.bfloat16]:
        for sizes in [(3, 4), (2, 4, 3), (2, 4, 2, 2)]:
            x, w, b = drawn(*sizes, dtype=dtype), drawn(4, dtype=dtype), drawn(4, dtype=dtype)
            mean, var = drawn(4, dtype=dtype), drawn(4, dtype=dtype).abs()
            row("native_batch_norm", x, w, b, None, None, True, 0.1, 1e-5)
            row("native_batch_norm", x, None, None, None, None, True, 0.1, 1e-3)
            row("native_batch_norm", x, w, b, mean, var, False, 0.1, 1e-5)
            rest = x[0, 0].numel()
            row("native_group_norm", x, w, b, sizes[0], 4, rest, 2, 1e-5)
            row("native_group_norm", x, None, None, sizes[0], 4, rest, 4, 1e-5)
    x = drawn(2, 4, 3, dtype=torch.bfloat16)
    row("native_batch_norm", x, torch.ones(4), torch.zeros(4), None, None, True, 0.1, 1e-5)
    row("native_group_norm", x, torch.ones(4), torch.zeros(4), 2, 4, 3, 2, 1e-5)
    row("nn.functional.batch_norm", torch.ones(1, 3), None, None, training=True)
    for dtype in [torch.float32, torch.float64, torch.int64, torch.float16]:
        def of(*sizes):
            return drawn(*sizes, dtype=dtype) if dtype.is_floating_point else torch.randint(-4, 5, sizes)

        row("nn.functional.bilinear", of(2, 3, 4), of(2, 3, 5), of(2, 4, 5), of(2))
        row("nn.functional.bilinear", of(3, 4), of(3, 5), of(2, 4, 5))
        row("nn.functional.bilinear", of(4), of(5), of(2, 4, 5))
        row("nn.functional.bilinear", of(0, 4), of(0, 5), of(2, 4, 5))
        row("nn.functional.bilinear", of(3, 4), of(2, 5), of(2, 4, 5))
        row("nn.functional.bilinear", of(3, 4), of(3, 4), of(2, 4, 5))


def masked():
    x = torch.tensor([[1.0, -5.0, 3.0, 0.5], [2.0, 2.0, -9.0, 4.0], [7.0, 1.5, 0.25, -1.0]])
    mask = torch.tensor([[True, False, True, True], [False, True, True, False], [False, False, False, True]])
    # 1-d masks broadcast.
    for x in [x, x.double(), x.long(), x.half()]:
        for given in [None, mask, mask[0]]:
            for name in ["argmax", "argmin", "median"]:
                row(f"masked.{name}", x, 1, mask=given)
                row(f"masked.{name}", x, 0, keepdim=True, mask=given if name != "median" else mask.logical_not())
            row("masked.argmax", x, mask=given)
            for name in ["cumsum", "cumprod"]:
                row(f"masked.{name}", x, 1, mask=given)
            for name in ["logsumexp", "var", "std", "norm"]:
                if name == "norm" and not x.is_floating_point() or name == "logsumexp" and not x.is_floating_point():
                    continue
                ord = (2.0,) if name == "norm" else ()
                row(f"masked.{name}", x, *ord, (1,), mask=given)
                row(f"masked.{name}", x, *ord, (0, 1), keepdim=True, mask=given)
                row(f"masked.{name}", x, *ord, mask=given)
            row("masked.var", x, (1,), unbiased=False, mask=given)
            row("masked.std", x, (0,), correction=2, mask=given)
            if x.is_floating_point():
                row("masked.norm", x, -math.inf, (1,), mask=given)
                row("masked.norm", x, 1.0, (1,), mask=given)
    row("masked.median", torch.tensor([1, 2]), 0, mask=torch.tensor([False, False]))


def pooled():
    torch.manual_seed(0)
    for dtype in [torch.float32, torch.float64, torch.float16, torch.bfloat16]:
        for axes, sizes, kernel, places in [(2, (5, 9), (2, 3), (3, 5)), (2, (4, 4), 1, (4, 1)), (3, (4, 5, 6), (2, 3, 1), (2, 2, 5)), (3, (3, 3, 3), 2, (1, 2, 1))]:
            name = f"nn.functional.fractional_max_pool{axes}d"
            for lead in [(2,), (2, 2)]:
                x = ((torch.randn(*lead, *sizes, dtype=torch.float64) * 8).round() / 8).to(dtype)
                samples = torch.rand(lead[0] if len(lead) == 2 else 1, 2, axes, dtype=torch.float64).to(dtype)
                samples[0, 0, 0] = 0.0
                given = {"_random_samples": samples, "return_indices": True}
                row(name, x, kernel, output_size=places, **given)
                x.view(-1)[::5] = math.nan
                row(name, x, kernel, output_size=places, **given)
        row(name, x, 2, output_ratio=(0.4, 0.4, 0.4), **given)
        row(name, x, 2, output_ratio=(0.4, 1.0, 0.4), **given)
        row(name, x, 2, output_size=(3, 1, 1), **given)
        row(name, x, 2, **given)
    row("nn.functional.fractional_max_pool2d", torch.ones(2, 3, 4, dtype=torch.int64), 2, output_size=2)
    row("nn.functional.fractional_max_pool2d", torch.ones(2, 0, 4), 2, output_size=2)
    row("nn.functional.fractional_max_pool2d", torch.ones(4, 4), 2, output_size=2)


def attended():
    torch.manual_seed(0)
    name, wide, heads = "nn.functional.multi_head_attention_forward", 6, 3
    for dtype in [torch.float64, torch.float32]:
        def of(*sizes):
            return ((torch.randn(*sizes, dtype=torch.float64) * 64).round() / 64).to(dtype)

        q, k, v = of(4, 2, wide), of(5, 2, wide), of(5, 2, wide)
        weight, bias, out, out_bias = of(3 * wide, wide), of(3 * wide), of(wide, wide), of(wide)
        causal = torch.triu(torch.ones(4, 5, dtype=torch.bool), 1)
        padding = torch.tensor([[False, False, True, False, False], [False, False, False, False, True]])
        plain = (wide, heads, weight, bias, None, None, False, 0.0, out, out_bias)
        row(name, q, k, v, *plain)
        for mask in [causal, torch.where(causal, -1.5, 0.0).to(dtype), of(6, 4, 5)]:
            for words in [{}, {"key_padding_mask": padding}, {"need_weights": False}, {"average_attn_weights": False}, {"is_causal": True}]:
                row(name, q, k, v, *plain, attn_mask=mask, **words)
        row(name, q, k, v, *plain, attn_mask=causal, is_causal=True, need_weights=False)
        row(name, q, k, v, *plain, is_causal=True)
        row(name, q, k, v, wide, heads, weight, None, of(1, 1, wide), of(1, 1, wide), True, 0.0, out, None, key_padding_mask=padding, attn_mask=causal)
        row(name, q, k, v, wide, heads, weight, None, of(1, 1, wide), None, True, 0.0, out, None)
        row(name, q, k, v, *plain, static_k=of(6, 7, 2), static_v=of(6, 7, 2))
        words = {"use_separate_proj_weight": True, "q_proj_weight": of(wide, wide), "k_proj_weight": of(wide, 4), "v_proj_weight": of(wide, 2)}
        row(name, q, of(5, 2, 4), of(5, 2, 2), wide, heads, None, bias, None, None, False, 0.0, out, out_bias, **words)
        row(name, q[:, 0], k[:, 0], v[:, 0], *plain, key_padding_mask=padding[0], average_attn_weights=False)
        row(name, q[:, 0], k[:, 0], v[:, 0], *plain, need_weights=False)
        row(name, q, k, v, 7, *plain[1:])
        row(name, q, k, v, wide, 4, *plain[2:])
        row(name, q, k, v, *plain, attn_mask=causal[:3])
        row(name, q, k[:4], v, *plain)


def write(path):
    text = json.dumps({"torch": torch.__version__, "rows": rows}, separators=(",", ":"))
    with gzip.GzipFile(path, "w", mtime=0) as file:
        file.write(text.encode())
    print(path, len(rows), "rows", len(text), "bytes")


gammas()
histograms()
normalised()
masked()
pooled()
attended()
write(f"{sys.argv[1] if len(sys.argv) > 1 else 'tests/oracle'}/counted.json.gz")
