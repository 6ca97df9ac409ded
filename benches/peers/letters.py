"""PyTorch on the workloads `n` to `q`, `s` and `u` of `cargo bench`: JSON lines as that writes them, with the same method.

    OUT=FILE THREADS=1 python3 benches/peers/letters.py nopqsu [compile]

`benches/peers/alternate.py` runs it and others by turns; `benches/peers/compare.py FILE…` prints the lines of several programs side by side.
"""
import json, os, sys, time
import numpy
import torch
import torch.nn.functional as F
import networks

THREADS, BUDGET = int(os.environ.get("THREADS", 1)), float(os.environ.get("BENCH_MS", 200)) / 1e3
FILTER, OUT = os.environ.get("FILTER"), os.environ.get("OUT")
torch.set_num_threads(THREADS)


def samples(f):
    start, runs = time.perf_counter(), 0
    while runs < 2 or time.perf_counter() - start < 0.025:
        f()
        runs += 1
        if time.perf_counter() - start > 1.5:
            break

    def timed(times):
        start = time.perf_counter()
        for _ in range(times):
            f()
        return (time.perf_counter() - start) / times

    estimate = timed(1)
    times = max(1, int(60e-6 / max(estimate, 1e-10) + 1))
    count = min(400, max(5, int(BUDGET / (estimate * times))))
    start, result = time.perf_counter(), []
    for index in range(count):
        result.append(timed(times))
        if index >= 3 and time.perf_counter() - start > BUDGET * 4:
            break
    return sorted(result)


def measured(name, f, peer="torch"):
    if FILTER and FILTER not in name:
        return
    s = samples(f)
    at = lambda part: s[int((len(s) - 1) * part)] * 1e9
    line = json.dumps({"peer": peer, "threads": THREADS, "name": name, "ns": at(0.5), "min": at(0), "p10": at(0.1), "p90": at(0.9), "n": len(s)})
    if OUT:
        with open(OUT, "a") as file:
            file.write(line + "\n")
    print(line, flush=True)


def floats(*sizes):
    return torch.rand(sizes) + 0.1


def convolutions():
    for name, (n, c, h), (o, k), stride, padding in [
        ("3x3_64_64_56", (1, 64, 56), (64, 3), 1, 1),
        ("3x3_128_128_28", (1, 128, 28), (128, 3), 1, 1),
        ("3x3_256_256_14", (1, 256, 14), (256, 3), 1, 1),
        ("3x3_512_512_7", (1, 512, 7), (512, 3), 1, 1),
        ("1x1_256_64_56", (1, 256, 56), (64, 1), 1, 0),
        ("7x7s2_3_64_224", (1, 3, 224), (64, 7), 2, 3),
        ("3x3_64_64_56_b8", (8, 64, 56), (64, 3), 1, 1),
        ("3x3s2_64_128_56", (1, 64, 56), (128, 3), 2, 1),
        ("1x1s2_64_128_56", (1, 64, 56), (128, 1), 2, 0),
    ]:
        x, w = floats(n, c, h, h), floats(o, c, k, k)
        measured(f"n.{name}_nchw", lambda: F.conv2d(x, w, None, stride, padding))
        x, w = (t.contiguous(memory_format=torch.channels_last) for t in (x, w))
        measured(f"n.{name}_nhwc", lambda: F.conv2d(x, w, None, stride, padding))


def attention():
    for batch in (1, 8):
        for length in (128, 512, 2048):
            q, k, v = (floats(batch, 12, length, 64) for _ in range(3))
            measured(f"o.f32_b{batch}_{length}", lambda: F.scaled_dot_product_attention(q, k, v))
            measured(f"o.causal_f32_b{batch}_{length}", lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
            q, k, v = (x.bfloat16() for x in (q, k, v))
            measured(f"o.bf16_b{batch}_{length}", lambda: F.scaled_dot_product_attention(q, k, v))


def layers():
    x, w, b = floats(256, 384), floats(1536, 384), floats(1536)
    measured("p.linear_gelu_256", lambda: F.gelu(F.linear(x, w, b)))
    n, m = floats(384), floats(384)
    measured("p.layer_norm_256x384", lambda: F.layer_norm(x, (384,), n, m))
    y, c = floats(8, 64, 56, 56), floats(64)
    measured("p.batch_norm_8x64x56", lambda: F.batch_norm(y, c, c, c, c))
    measured("p.group_norm_8x64x56", lambda: F.group_norm(y, 8, c, c))
    z = floats(1, 64, 112, 112)
    last = z.contiguous(memory_format=torch.channels_last)
    for layout, t in (("nchw", z), ("nhwc", last)):
        measured(f"p.max_pool_3s2_64x112_{layout}", lambda: F.max_pool2d(t, 3, 2, 1))
        measured(f"p.avg_pool_2_64x112_{layout}", lambda: F.avg_pool2d(t, 2))
    measured("p.adaptive_avg_pool_64x112_nhwc", lambda: F.adaptive_avg_pool2d(last, 1))
    scores, labels = floats(256, 1000), torch.randint(1000, (256,))
    measured("p.cross_entropy_256x1000", lambda: F.cross_entropy(scores, labels))
    table, words = floats(30522, 384), torch.randint(30522, (8, 128))
    measured("p.embedding_8x128x384", lambda: F.embedding(words, table))


def models():
    embed, classify = networks.Embed(), networks.Classify()
    kinds = [("torch", embed, classify)]
    if "compile" in sys.argv:
        kinds.append(("torch-compile", torch.compile(embed.__call__), torch.compile(classify.__call__)))
    for peer, embed, classify in kinds:
        for batch in (1, 8, 32):
            words, mask = networks.sentences(batch, 32)
            measured(f"q.embed_{batch}x32", lambda: embed(words, mask), peer)
        for batch in (1, 8, 32):
            x = networks.images(batch).contiguous(memory_format=torch.channels_last)
            measured(f"q.classify_{batch}", lambda: classify(x), peer)


class Block(torch.nn.Module):
    """A block of GPT-2 small, whose projections to heads are three products without biases."""

    def __init__(self):
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(768) for _ in range(2))
        self.heads = torch.nn.ModuleList(torch.nn.Linear(768, 768, bias=False) for _ in range(3))
        self.output = torch.nn.Linear(768, 768, bias=False)
        self.widen, self.narrow = torch.nn.Linear(768, 3072), torch.nn.Linear(3072, 768)

    def forward(self, x):
        normed = self.norms[0](x)
        q, k, v = (head(normed).view(-1, 12, 64).transpose(0, 1) for head in self.heads)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(seen.transpose(0, 1).reshape(-1, 768))
        return x + self.narrow(F.gelu(self.widen(self.norms[1](x))))


def learning():
    def step(network, loss):
        """A step of gradient descent."""
        sgd = torch.optim.SGD(network.parameters(), 0.05)

        def run():
            sgd.zero_grad()
            value = loss()
            value.backward()
            sgd.step()
            return value.item()

        return run

    def layers(*sizes):
        pairs = [torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
        all = [part for pair in pairs for part in (pair, torch.nn.ReLU())]
        return torch.nn.Sequential(*all[:-1])

    compiles = [("torch", lambda f: f)] + ([("torch-compile", torch.compile)] if "compile" in sys.argv else [])
    for peer, compiled in compiles:
        for name, batch, sizes in (("digits_step_32", 32, (64, 96, 10)), ("digits_step_1024", 1024, (64, 96, 10)), ("mlp_step_64", 64, (784, 512, 512, 10))):
            network, x, labels = layers(*sizes), floats(batch, sizes[0]), torch.randint(10, (batch,))
            forward = compiled(lambda x, labels, network=network: F.cross_entropy(network(x), labels))
            measured(f"s.{name}", step(network, lambda: forward(x, labels)), peer)
        block, x = Block(), floats(512, 768)
        forward = compiled(lambda x: block(x).square().mean())

        def run():
            for parameter in block.parameters():
                parameter.grad = None
            forward(x).backward()

        measured("s.block_step_512", run, peer)
        block16, x16 = block.bfloat16(), x.bfloat16()
        forward16 = compiled(lambda x: block16(x).float().square().mean())

        def run():
            for parameter in block16.parameters():
                parameter.grad = None
            forward16(x16).backward()

        measured("s.block_step_512_bf16", run, peer)
        for batch in (1, 8, 32):
            for format in (torch.contiguous_format, torch.channels_last):
                network, labels = ResNet().to(memory_format=format), torch.randint(10, (batch,))
                x = floats(batch, 3, 32, 32).contiguous(memory_format=format)
                forward = compiled(lambda x, labels, network=network: F.cross_entropy(network(x), labels))
                name = peer + ("-nhwc" if format == torch.channels_last else "")
                measured(f"s.resnet18_step_{batch}", step(network, lambda: forward(x, labels)), name)
    backward()


class Basic(torch.nn.Module):
    def __init__(self, inputs, channels):
        super().__init__()
        conv, norm, stride = torch.nn.Conv2d, torch.nn.BatchNorm2d, 1 if inputs == channels else 2
        self.first = torch.nn.Sequential(conv(inputs, channels, 3, stride, 1, bias=False), norm(channels))
        self.second = torch.nn.Sequential(conv(channels, channels, 3, 1, 1, bias=False), norm(channels))
        self.beside = torch.nn.Sequential(conv(inputs, channels, 1, 2, bias=False), norm(channels)) if stride == 2 else torch.nn.Identity()

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.beside(x))


class ResNet(torch.nn.Module):
    """ResNet-18 for pictures of 32 by 32 pixels, as in `examples/train_resnet`."""

    def __init__(self):
        super().__init__()
        sizes = [64, 64, 64, 128, 128, 256, 256, 512, 512]
        self.stem = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False), torch.nn.BatchNorm2d(64), torch.nn.ReLU())
        self.blocks = torch.nn.Sequential(*(Basic(a, b) for a, b in zip(sizes, sizes[1:])))
        self.head = torch.nn.Linear(512, 10)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


def backward():
    """Single operations forward and backward: `benches/workloads/s_backward.rs`."""

    def back(name, f, *x):
        x = [t.detach().requires_grad_() for t in x]
        ones = torch.ones_like(f(*x))
        measured(f"s.back.{name}", lambda: torch.autograd.grad(f(*x), x, ones))

    w, w1, w2, d = floats(64, 64, 3, 3), floats(64, 64, 1, 1), floats(128, 64, 3, 3), floats(64, 1, 3, 3)
    weight, bias = floats(64), floats(64)
    for layout, format in (("nchw", torch.contiguous_format), ("nhwc", torch.channels_last)):
        x, x8 = (floats(n, 64, 56, 56).contiguous(memory_format=format) for n in (1, 8))
        back(f"conv_3x3_b1_{layout}", lambda x, w: F.conv2d(x, w, None, 1, 1), x, w)
        back(f"conv_3x3_b8_{layout}", lambda x, w: F.conv2d(x, w, None, 1, 1), x8, w)
        back(f"conv_1x1_{layout}", F.conv2d, x, w1)
        back(f"conv_3x3s2_{layout}", lambda x, w: F.conv2d(x, w, None, 2, 1), x, w2)
        back(f"conv_depthwise_{layout}", lambda x, w: F.conv2d(x, w, None, 1, 1, 1, 64), x, d)
        end = "_nhwc" if layout == "nhwc" else ""
        back("batch_norm" + end, lambda x, w, b: F.batch_norm(x, None, None, w, b, True), x8, weight, bias)
        back("max_pool_3s2" + end, lambda x: F.max_pool2d(x, 3, 2, 1), x8)
        if not end:
            back("group_norm", lambda x, w, b: F.group_norm(x, 8, w, b), x8, weight, bias)
            back("avg_pool_2", lambda x: F.avg_pool2d(x, 2), x8)
    x, weight, bias = floats(512, 768), floats(768), floats(768)
    back("layer_norm_512x768", lambda x, w, b: F.layer_norm(x, (768,), w, b), x, weight, bias)
    back("rms_norm_512x768", lambda x, w: F.rms_norm(x, (768,), w, 1e-5), x, weight)
    q, k, v = (floats(1, 12, 512, 64) for _ in range(3))
    back("attention_causal_512", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), q, k, v)
    s = floats(512, 512)
    back("softmax_512", lambda s: s.softmax(1), s)
    back("log_softmax_512", lambda s: s.log_softmax(1), s)
    labels, words = torch.randint(50257, (256,)), torch.randint(30522, (8, 128))
    back("cross_entropy_256x50257", lambda x: F.cross_entropy(x, labels), floats(256, 50257))
    back("embedding_8x128x384", lambda table: F.embedding(words, table), floats(30522, 384))
    back("matmul_512", torch.matmul, floats(512, 512), floats(512, 512))
    for name in ("gelu", "silu", "tanh"):
        back(f"{name}_512x768", getattr(F, name), x)
    x, index, places = floats(1000, 1000), torch.randint(1000, (1000,)), torch.randint(1000, (1000, 1000))
    for end, axis in (("rows", 1), ("columns", 0)):
        for name in ("sum", "mean", "var", "logsumexp", "amax", "cumsum"):
            back(f"{name}_{end}", lambda x: getattr(x, name)(axis), x)
        back(f"gather_{end}", lambda x: x.gather(axis, places), x)
        back(f"index_select_{end}", lambda x: x.index_select(1 - axis, index), x)
        back(f"cat_{end}", lambda x: torch.cat([x, x], 1 - axis), x)
    back("mul_row", lambda x, row: x * row, x, floats(1000))
    back("add_transposed", lambda x: x + x.t(), x)


def formulas():
    """Formulas of one's own: PyTorch's operations, `torch.compile`, `numexpr`, and loops of `numba` where these are installed."""
    x, strike, years = floats(1 << 20), floats(1 << 20), floats(1 << 20)
    halves, rows, weights = x.bfloat16(), floats(1024, 1024), floats(1024, 1024)
    at = (torch.arange(512) / 200 - 2).expand(512, 512).contiguous()
    height = (torch.arange(512) / 250 - 1)[:, None].expand(512, 512).contiguous()

    def option(x, strike, years):
        deviation = 0.2 * years.sqrt()
        above = ((x / strike).log() + 0.05 * years) / deviation
        normal = lambda v: 0.5 * (1 + torch.erf(v * 0.5**0.5))
        return x * normal(above) - strike * (-0.03 * years).exp() * normal(above - deviation)

    def escape(at, height):
        re, im, count = torch.zeros_like(at), torch.zeros_like(at), torch.zeros_like(at)
        for _ in range(50):
            stays = re * re + im * im < 4
            next_re, next_im = re * re - im * im + at, 2 * re * im + height
            re, im = torch.where(stays, next_re, re), torch.where(stays, next_im, im)
            count = count + stays
        return count

    workloads = {
        "gelu_1M": (F.gelu, x),
        "silu_1M": (F.silu, x),
        "silu_bf16_1M": (F.silu, halves),
        "mish_1M": (F.mish, x),
        "sin_1M": (torch.sin, x),
        "option_1M": (option, x, strike, years),
        "mandelbrot_512": (escape, at, height),
        "sum_rows": (lambda x: x.sum(1), rows),
        "sum_columns": (lambda x: x.sum(0), rows),
        "var_rows": (lambda x: x.var(1), rows),
        "var_columns": (lambda x: x.var(0), rows),
        "weighted_rows": (lambda x, w: (x * w).sum(1), rows, weights),
        "cumsum_rows": (lambda x: x.cumsum(1), rows),
    }
    for name, (f, *given) in workloads.items():
        measured(f"u.{name}", lambda: f(*given))
        if "compile" in sys.argv[2:]:
            compiled = torch.compile(f)
            measured(f"u.{name}", lambda: compiled(*given), "torch-compile")

    try:
        import numexpr
    except ImportError:
        numexpr = None
    if numexpr:
        numexpr.set_num_threads(THREADS)
        names = {"x": x.numpy(), "strike": strike.numpy(), "years": years.numpy()}
        names.update({"half": numpy.float32(0.5), "one": numpy.float32(1)})
        run = lambda name, text: measured(f"u.{name}", lambda: numexpr.evaluate(text, names), "numexpr")
        run("silu_1M", "x / (one + exp(-x))")
        run("mish_1M", "x * tanh(log1p(exp(x)))")
        run("sin_1M", "sin(x)")

    try:
        import numba
    except ImportError:
        return
    import math

    numba.set_num_threads(THREADS)
    one, root = numpy.float32(1), numpy.float32(0.5**0.5)
    kinds = {1: "float32(float32)", 2: "float32(float32, float32)", 3: "float32(float32, float32, float32)"}
    normal = numba.njit(fastmath=False)(lambda v: numpy.float32(0.5) * (one + math.erf(v * root)))

    def own_option(price, strike, years):
        deviation = numpy.float32(0.2) * math.sqrt(years)
        above = (math.log(price / strike) + numpy.float32(0.05) * years) / deviation
        return price * normal(above) - strike * math.exp(numpy.float32(-0.03) * years) * normal(above - deviation)

    def own_escape(at, height):
        re = im = count = numpy.float32(0)
        for _ in range(50):
            if re * re + im * im >= numpy.float32(4):
                break
            re, im = re * re - im * im + at, numpy.float32(2) * re * im + height
            count += one
        return count

    loops = {
        "gelu_1M": (lambda v: v * normal(v), x),
        "silu_1M": (lambda v: v / (one + math.exp(-v)), x),
        "mish_1M": (lambda v: v * math.tanh(math.log1p(math.exp(v))), x),
        "sin_1M": (lambda v: math.sin(v), x),
        "option_1M": (own_option, x, strike, years),
        "mandelbrot_512": (own_escape, at, height),
    }
    for name, (f, *given) in loops.items():
        own = numba.vectorize([kinds[len(given)]], target="parallel" if THREADS > 1 else "cpu")(f)
        arrays = [of.numpy() for of in given]
        measured(f"u.{name}", lambda: own(*arrays), "numba")


if __name__ == "__main__":
    if "s" in sys.argv[1]:
        learning()
    with torch.no_grad():
        for letter, run in (("n", convolutions), ("o", attention), ("p", layers), ("q", models), ("u", formulas)):
            if letter in sys.argv[1]:
                run()
