"""The networks of `examples` in PyTorch, on the weights of `examples/synthetic`: what they give, and how fast they are.

    python3 benches/peers/networks.py expected     writes tests/data/networks.json, which the tests compare with
    python3 benches/peers/networks.py time [THREADS] [compile]
    python3 benches/peers/networks.py once NETWORK BATCH    for `peak.py`: one network, on one thread
"""
import json, sys, time
import numpy as np
import torch
import torch.nn.functional as F


def fnv(name):
    h = 0x811C9DC5
    for byte in name.encode():
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return h


def numbers(name, count):
    x = (np.arange(count, dtype=np.uint64) + fnv(name)).astype(np.uint32)
    with np.errstate(over="ignore"):
        x ^= x >> np.uint32(16)
        x *= np.uint32(0x7FEB352D)
        x ^= x >> np.uint32(15)
        x *= np.uint32(0x846CA68B)
        x ^= x >> np.uint32(16)
    return (x >> np.uint32(8)).astype(np.float32) / np.float32(8388608.0) - np.float32(1)


def weight(name, *sizes):
    x = numbers(name, int(np.prod(sizes)))
    if len(sizes) > 1:
        x = x * np.float32((3.0 / np.prod(sizes[1:])) ** 0.5)
    elif name.endswith(".weight"):
        x = np.float32(1) + np.float32(0.1) * x
    elif name.endswith(".running_var"):
        x = np.float32(1) + np.float32(0.5) * x
    else:
        x = np.float32(0.1) * x
    return torch.from_numpy(x.reshape(sizes))


class Embed:
    """A BERT of 6 layers, 384 features and 12 heads; the mean of the last features, of length 1."""

    def __init__(self):
        e = "embeddings."
        self.words = weight(e + "word_embeddings.weight", 30522, 384)
        self.positions = weight(e + "position_embeddings.weight", 512, 384)
        self.kinds = weight(e + "token_type_embeddings.weight", 2, 384)
        self.norm = self.pair(e + "LayerNorm", 384)
        self.layers = []
        for i in range(6):
            l = f"encoder.layer.{i}."
            self.layers.append({
                **{n: self.pair(l + "attention.self." + n, 384, 384) for n in ("query", "key", "value")},
                "attended": self.pair(l + "attention.output.dense", 384, 384),
                "attended_norm": self.pair(l + "attention.output.LayerNorm", 384),
                "widen": self.pair(l + "intermediate.dense", 1536, 384),
                "narrow": self.pair(l + "output.dense", 384, 1536),
                "norm": self.pair(l + "output.LayerNorm", 384),
            })

    def pair(self, name, *sizes):
        return weight(name + ".weight", *sizes), weight(name + ".bias", sizes[0])

    def __call__(self, words, mask):
        b, s = words.shape
        norm = lambda x, wb: F.layer_norm(x, (384,), *wb, eps=1e-12)
        x = norm(self.words[words] + self.kinds[0] + self.positions[:s], self.norm)
        seen = mask[:, None, None, :]
        for l in self.layers:
            q, k, v = (F.linear(x, *l[n]).view(b, s, 12, 32).transpose(1, 2) for n in ("query", "key", "value"))
            a = F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).reshape(b, s, 384)
            x = norm(F.linear(a, *l["attended"]) + x, l["attended_norm"])
            x = norm(F.linear(F.gelu(F.linear(x, *l["widen"])), *l["narrow"]) + x, l["norm"])
        w = mask.to(x.dtype)[:, :, None]
        return F.normalize((x * w).sum(1) / w.sum(1), dim=1)


class Classify:
    """ResNet-18 with torchvision's names, batch norms folded into the convolutions before them."""

    def __init__(self):
        self.stem = self.folded("conv1", "bn1", 64, 3, 7)
        self.blocks = []
        channels = 64
        for stage, out in enumerate((64, 128, 256, 512), 1):
            for i in range(2):
                p = f"layer{stage}.{i}."
                stride = 2 if stage > 1 and i == 0 else 1
                down = None
                if stride == 2:
                    down = self.folded(p + "downsample.0", p + "downsample.1", out, channels, 1)
                self.blocks.append((self.folded(p + "conv1", p + "bn1", out, channels, 3), self.folded(p + "conv2", p + "bn2", out, out, 3), down, stride))
                channels = out
        self.head = weight("fc.weight", 1000, 512), weight("fc.bias", 1000)

    def folded(self, conv, norm, out, channels, k):
        w = weight(conv + ".weight", out, channels, k, k)
        gamma, beta, mean, var = (weight(f"{norm}.{n}", out) for n in ("weight", "bias", "running_mean", "running_var"))
        factor = gamma / torch.sqrt(var + 1e-5)
        return (w * factor[:, None, None, None]).contiguous(memory_format=torch.channels_last), beta - mean * factor

    def __call__(self, x):
        x = x.contiguous(memory_format=torch.channels_last)
        x = F.max_pool2d(F.relu(F.conv2d(x, *self.stem, stride=2, padding=3)), 3, 2, 1)
        for first, second, down, stride in self.blocks:
            y = F.relu(F.conv2d(x, *first, stride=stride, padding=1))
            y = F.conv2d(y, *second, padding=1)
            x = F.relu(y + (x if down is None else F.conv2d(x, *down, stride=stride)))
        return F.linear(x.mean((2, 3)), *self.head)


def sentences(batch, longest):
    """Words by a formula; sentence `i` has `longest - i % 3` words."""
    words = torch.tensor([[1000 + (i * 131 + j * 17) % 29000 for j in range(longest)] for i in range(batch)])
    mask = torch.tensor([[j < longest - i % 3 for j in range(longest)] for i in range(batch)])
    return words * mask, mask


def images(batch):
    return weight("image", batch, 3, 224, 224) * (3 * 224 * 224 / 3) ** 0.5


def expected():
    words, mask = sentences(3, 9)
    result = {
        "embed": Embed()(words, mask).flatten().tolist(),
        "classify": Classify()(images(1)).flatten().tolist(),
    }
    with open("tests/data/networks.json", "w") as file:
        json.dump({name: [float(np.format_float_positional(np.float32(x), unique=True)) for x in values] for name, values in result.items()}, file)


def best(f, runs=15):
    f()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 4]


def timed(threads, compiled):
    torch.set_num_threads(threads)
    embed, classify = Embed(), Classify()
    if compiled:
        embed, classify = torch.compile(embed.__call__), torch.compile(classify.__call__)
    for batch in (1, 8, 32):
        words, mask = sentences(batch, 32)
        print(f"embed {batch} x 32: {best(lambda: embed(words, mask)) * 1e3:.2f} ms", flush=True)
    for batch in (1, 8, 32):
        x = images(batch)
        print(f"classify {batch}: {best(lambda: classify(x), 9) * 1e3:.2f} ms", flush=True)


def once(network, batch):
    torch.set_num_threads(1)
    if network == "embed":
        model, inputs = Embed(), sentences(batch, 32)
    else:
        model, inputs = Classify(), (images(batch),)
    for _ in range(3):
        model(*inputs)


if __name__ == "__main__":
    with torch.no_grad():
        if sys.argv[1] == "expected":
            expected()
        elif sys.argv[1] == "once":
            once(sys.argv[2], int(sys.argv[3]))
        else:
            timed(int(sys.argv[2]) if len(sys.argv) > 2 else 1, "compile" in sys.argv)
