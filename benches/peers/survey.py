"""PyTorch's side of the survey (`benches/survey`): times the calls that it is asked for, one JSON object per line."""
import json
import os
import sys
import time

import torch

torch.set_num_threads(int(os.environ.get("THREADS", "1")))
made = {}


def hashed(start, count):
    """24 bits that look like drawn ones: `tensors.rs` has the same."""
    mask = 0xFFFFFFFF
    bits = (torch.arange(start, start + count) & mask) * 0x9E3779B1 & mask
    bits ^= bits >> 15
    # The product of two numbers of 32 bits would not fit.
    bits = ((bits >> 16) * 0x85EBCA77 << 16 & mask) + (bits & 0xFFFF) * 0x85EBCA77 & mask
    bits ^= bits >> 13
    return bits >> 8


def tensor(spec):
    if spec in made:
        return made[spec]
    dtype, sizes, values, order = spec.split(":")
    dtype = getattr(torch, dtype)
    sizes = [int(size) for size in sizes.split(",")]
    if order == "transposed" and len(sizes) > 1:
        sizes[-2], sizes[-1] = sizes[-1], sizes[-2]
    if order == "steps":
        sizes[-1] *= 2
    count = 1
    for size in sizes:
        count *= size

    def floats(start):
        if values == "ascending":
            return torch.arange(count, dtype=torch.float64) / count
        unit = hashed(start, count).double() / (1 << 24)
        return unit * 60 - 30 if values == "wide" else 0.05 + unit * 0.9

    if values.startswith("below"):
        x = hashed(0, count) % max(int(values[5:]), 1)
    elif dtype == torch.bool:
        x = hashed(0, count) & 1
    elif dtype.is_complex:
        x = torch.complex(floats(0), floats(count))
    elif dtype.is_floating_point:
        x = floats(0)
    else:
        x = torch.arange(count) if values == "ascending" else 1 + hashed(0, count) % 100
    x = x.reshape(sizes).to(dtype)
    if order == "transposed" and len(sizes) > 1:
        x = x.transpose(-2, -1)
    if order == "steps":
        x = x[..., ::2]
    if order == "channels_last":
        x = x.contiguous(memory_format=torch.channels_last)
    made[spec] = x
    return x


def value(given, leaves):
    if isinstance(given, list):
        return [value(item, leaves) for item in given]
    if not isinstance(given, dict):
        return given
    if "tensor" in given:
        x = tensor(given["tensor"])
        if leaves is not None and (x.is_floating_point() or x.is_complex()):
            x = x.detach().requires_grad_()
            leaves.append(x)
        return x
    if "float" in given:
        return given["float"]
    return getattr(torch, given["dtype"])


def function(name):
    """What PyTorch calls it: a function of `torch`, or a method or an attribute of tensors."""
    for scope in (torch, torch.Tensor):
        found = scope
        for part in name.split("."):
            found = getattr(found, part, None)
            if found is None:
                break
        # (`torch.long` is a dtype, `torch.Tensor.long` a method.)
        if callable(found):
            return found
        if found is not None and not isinstance(found, torch.dtype):
            return lambda x: getattr(x, name)
    if name == "gelu_tanh":
        return lambda input: torch.nn.functional.gelu(input, approximate="tanh")
    if name == "trunc_divide":
        return lambda input, other: torch.div(input, other, rounding_mode="trunc")
    raise LookupError(f"PyTorch has no {name}")


def described(result):
    if isinstance(result, torch.Tensor):
        return str(result.dtype).removeprefix("torch.") + str(list(result.shape))
    if isinstance(result, (list, tuple)):
        return "(" + ", ".join(described(part) for part in result) + ")"
    return "a value"


def tensors(result):
    if isinstance(result, torch.Tensor):
        return [result]
    return [x for part in result for x in tensors(part)] if isinstance(result, (list, tuple)) else []


def fastest(call, budget):
    start = time.perf_counter()
    result = call()
    once = time.perf_counter() - start
    # The first call may be far slower than all others.
    if once < budget:
        start = time.perf_counter()
        call()
        once = time.perf_counter() - start
    times = max(1, int(60e-6 / max(once, 1e-7)))
    best, end = once, time.perf_counter() + budget
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(times):
            call()
        best = min(best, (time.perf_counter() - start) / times)
    return best, described(result)


def answer(question):
    if "clear" in question:
        made.clear()
        return {}
    given = dict(question["given"])
    leaves = [] if question["back"] else None
    torch.set_grad_enabled(question["back"])
    given = {name: value(given[name], leaves) for name in question["order"] if name in given}
    in_order, named, gap = [], {}, False
    for name in question["order"]:
        if name not in given:
            gap = True
        elif name.startswith("*"):
            in_order.extend(given[name] if isinstance(given[name], list) else [given[name]])
        elif gap:
            named[name] = given[name]
        else:
            in_order.append(given[name])
    op = question["op"]
    f = function(op)
    try:
        call = lambda: f(*in_order, **named)
        if question["back"]:
            outputs = [x for x in tensors(call()) if x.requires_grad]
            ones = [torch.ones_like(x) for x in outputs]
            call = lambda: torch.autograd.grad(outputs, leaves, ones, retain_graph=True, allow_unused=True)
        seconds, result = fastest(call, question["budget"])
    finally:
        # In place: the next operation gets the elements that castiron's has.
        if op.endswith("_") and not op.endswith("__"):
            made.clear()
    return {"seconds": seconds, "result": result}


for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except Exception as error:  # whatever PyTorch refuses
        reply = {"error": (str(error).splitlines() or [type(error).__name__])[0][:150]}
    print(json.dumps(reply), flush=True)
