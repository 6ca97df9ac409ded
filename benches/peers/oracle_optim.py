"""Writes tests/oracle/optim.json.gz: what torch.optim gives, step by step.

`rows`: [optimiser, options by castiron's names, dtype, parameters after each step]. The three parameters have the shapes of SHAPES; element
`i` of parameter `p` starts as `number(p, i, 0)`, and its gradient in step `s` (from 1 on) is `number(p, i, s)`, times 1 + s for complex
numbers' imaginary parts. `grouped`: the same where the second parameter has the options of the row's third column, too; the dtype is the fourth.
`lbfgs`: [options, dtype, [losses, parameters] after each step] of Rosenbrock's function in four variables.
`schedules`: [schedule, arguments, rates of the steps from 0 on]. `plateau`: [arguments, [measure, rate after it] of each step].
`clipped`: [largest norm, norm, elements after]. The single-tensor implementations are asked (`foreach=False`), with a default dtype of float64
for float64, since PyTorch carries NAdam's product of momenta in the default dtype.
"""

import gzip
import json
import sys

import torch

torch.set_num_threads(1)
SHAPES = [(2, 3), (5,), ()]
STEPS = 7
NAMES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16, "c64": torch.complex64,
         "c128": torch.complex128}


def number(p, i, s):
    return ((i * 37 + s * 11 + p * 53 + 17) % 61 - 30) / 16


def tensor(p, s, dtype):
    shape = SHAPES[p]
    count = 1
    for size in shape:
        count *= size
    values = [number(p, i, s) for i in range(count)]
    if dtype.is_complex:
        values = [complex(x, x * (1 + s)) for x in values]
    return torch.tensor(values, dtype=dtype).reshape(shape)


def short(x, dtype):
    digits = 15 if dtype in (torch.float64, torch.complex128) else 9
    if dtype.is_complex:
        x = torch.view_as_real(x)
    return [float(f"{v:.{digits}g}") for v in x.detach().double().flatten().tolist()]


RENAMED = {"rate": "lr", "decay": "weight_decay", "rate_decay": "lr_decay", "initial": "initial_accumulator_value",
           "decoupled": "decoupled_weight_decay"}


def arguments(options):
    given = {RENAMED.get(k, k): v for k, v in options.items() if k not in ("beta1", "beta2")}
    if "beta1" in options or "beta2" in options:
        given["betas"] = (options.get("beta1", 0.9), options.get("beta2", 0.999))
    return given


def run(name, options, dtype, group=None):
    cls = {"Sgd": torch.optim.SGD, "RmsProp": torch.optim.RMSprop}.get(name) or getattr(torch.optim, name)
    torch.set_default_dtype(torch.float64 if dtype in (torch.float64, torch.complex128) else torch.float32)
    params = [tensor(p, 0, dtype).requires_grad_() for p in range(len(SHAPES))]
    what = params
    if group is not None:
        what = [{"params": [params[0], params[2]]}, {"params": [params[1]], **arguments(group)}]
    opt = cls(what, foreach=False, **arguments(options))
    results = []
    for s in range(1, STEPS + 1):
        for p, param in enumerate(params):
            param.grad = tensor(p, s, dtype)
        opt.step()
        results.append([short(param, dtype) for param in params])
    return results


CASES = [
    ("Sgd", {"rate": 0.1}),
    ("Sgd", {"rate": 0.1, "decay": 0.05, "maximize": True}),
    ("Sgd", {"rate": 0.1, "momentum": 0.9}),
    ("Sgd", {"rate": 0.1, "momentum": 0.9, "dampening": 0.3, "decay": 0.02}),
    ("Sgd", {"rate": 0.1, "momentum": 0.8, "nesterov": True, "decay": 0.02}),
    ("Adam", {}),
    ("Adam", {"rate": 0.05, "beta1": 0.8, "beta2": 0.99, "eps": 1e-3, "decay": 0.1}),
    ("Adam", {"rate": 0.05, "amsgrad": True, "beta2": 0.6}),
    ("Adam", {"rate": 0.05, "beta1": 0.3, "decay": 0.1, "decoupled": True, "maximize": True}),
    ("AdamW", {"rate": 0.05}),
    ("AdamW", {"rate": 0.05, "decay": 0.2, "amsgrad": True, "beta2": 0.5}),
    ("RmsProp", {}),
    ("RmsProp", {"rate": 0.05, "alpha": 0.9, "eps": 1e-2, "decay": 0.05, "maximize": True}),
    ("RmsProp", {"rate": 0.05, "momentum": 0.9}),
    ("RmsProp", {"rate": 0.05, "centered": True, "alpha": 0.9, "eps": 1e-2}),
    ("RmsProp", {"rate": 0.05, "centered": True, "momentum": 0.5, "alpha": 0.9, "eps": 1e-2, "decay": 0.01}),
    ("Adagrad", {}),
    ("Adagrad", {"rate": 0.1, "rate_decay": 0.1, "decay": 0.05, "initial": 0.5, "eps": 1e-3}),
    ("Adagrad", {"rate": 0.1, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"rate": 0.5, "rho": 0.7, "eps": 1e-3, "decay": 0.05, "maximize": True}),
    ("Adamax", {}),
    ("Adamax", {"rate": 0.05, "beta1": 0.7, "beta2": 0.8, "eps": 1e-3, "decay": 0.05, "maximize": True}),
    ("NAdam", {}),
    ("NAdam", {"rate": 0.05, "momentum_decay": 0.1, "decay": 0.05, "beta1": 0.8, "eps": 1e-3}),
    ("NAdam", {"rate": 0.05, "decay": 0.1, "decoupled": True, "maximize": True}),
    ("RAdam", {}),
    ("RAdam", {"rate": 0.05, "beta2": 0.9, "decay": 0.05}),
    ("RAdam", {"rate": 0.05, "beta2": 0.99, "decay": 0.1, "decoupled": True, "maximize": True}),
]
GROUPED = [
    ("Sgd", {"rate": 0.1, "momentum": 0.9}, {"rate": 0.02, "momentum": 0.5}),
    ("AdamW", {"rate": 0.05}, {"decay": 0.0}),
    ("RmsProp", {"rate": 0.05}, {"centered": True, "eps": 1e-2}),
]


def lbfgs(options, dtype):
    x = torch.tensor([-1.2, 1.0, 0.5, -0.25], dtype=dtype, requires_grad=True)
    given = dict(options)
    given["lr"] = given.pop("rate", 1)
    if given.pop("strong_wolfe", False):
        given["line_search_fn"] = "strong_wolfe"
    opt = torch.optim.LBFGS([x], **given)

    def closure():
        opt.zero_grad()
        loss = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        loss.backward()
        return loss

    results = []
    for _ in range(5):
        loss = opt.step(closure)
        results.append([short(loss.reshape(1), dtype)[0], short(x, dtype)])
    return results


def scheduled(make, count, rate=0.5):
    x = torch.zeros(1, requires_grad=True)
    opt = torch.optim.SGD([x], lr=rate)
    schedule = make(opt)
    rates = []
    for _ in range(count):
        rates.append(opt.param_groups[0]["lr"])
        opt.step()
        schedule.step()
    return [float(f"{r:.17g}") for r in rates]


def schedules():
    lr = torch.optim.lr_scheduler
    yield "step", {"every": 3, "factor": 0.1}, scheduled(lambda o: lr.StepLR(o, 3, 0.1), 12)
    yield "multi_step", {"at": [2, 5, 6], "factor": 0.3}, scheduled(lambda o: lr.MultiStepLR(o, [2, 5, 6], 0.3), 10)
    yield "exponential", {"factor": 0.9}, scheduled(lambda o: lr.ExponentialLR(o, 0.9), 10)
    yield "cosine", {"steps": 10, "least": 0.01}, scheduled(lambda o: lr.CosineAnnealingLR(o, 10, 0.01), 11)
    yield "linear", {"from": 0.25, "to": 1.0, "steps": 5}, scheduled(lambda o: lr.LinearLR(o, 0.25, 1.0, 5), 9)
    yield "linear", {"from": 1.0, "to": 0.1, "steps": 6}, scheduled(lambda o: lr.LinearLR(o, 1.0, 0.1, 6), 9)
    yield "constant", {"factor": 0.5, "steps": 4}, scheduled(lambda o: lr.ConstantLR(o, 0.5, 4), 7)
    yield "polynomial", {"power": 2.0, "steps": 6}, scheduled(lambda o: lr.PolynomialLR(o, 6, 2.0), 8)
    yield "restarts", {"first": 4, "times": 2, "least": 0.05}, scheduled(lambda o: lr.CosineAnnealingWarmRestarts(o, 4, 2, 0.05), 15)
    for given in [{}, {"linear": True}, {"three_phase": True}, {"warm": 0.4, "start_by": 10.0, "end_by": 100.0}]:
        def one_cycle(o, given=given):
            return lr.OneCycleLR(o, 0.5, total_steps=20, pct_start=given.get("warm", 0.3), cycle_momentum=False,
                                 anneal_strategy="linear" if given.get("linear") else "cos", three_phase=given.get("three_phase", False),
                                 div_factor=given.get("start_by", 25.0), final_div_factor=given.get("end_by", 1e4))
        yield "one_cycle", {"steps": 20, **given}, scheduled(one_cycle, 20)
    yield "warm_cosine", {"warm": 4, "from": 0.1, "steps": 10}, scheduled(
        lambda o: lr.SequentialLR(o, [lr.LinearLR(o, 0.1, 1.0, 4), lr.CosineAnnealingLR(o, 10)], [4]), 14)


def plateau(options):
    x = torch.zeros(1, requires_grad=True)
    opt = torch.optim.SGD([x], lr=0.5)
    given = {{"least": "min_lr"}.get(k, k): v for k, v in options.items() if k not in ("rising", "absolute")}
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        opt, mode="max" if options.get("rising") else "min", threshold_mode="abs" if options.get("absolute") else "rel", **given)
    steps = []
    for s in range(30):
        measure = ((s * 37) % 23) / 8 - s / 16 if s < 15 else 1.0
        schedule.step(measure)
        steps.append([measure, opt.param_groups[0]["lr"]])
    return steps


def clipped(most):
    grads = [torch.nn.Parameter(tensor(p, 1, torch.float64)) for p in range(len(SHAPES))]
    for g in grads:
        g.grad = g.detach().clone()
    norm = torch.nn.utils.clip_grad_norm_(grads, most)
    return [most, float(norm), [short(g.grad, torch.float64) for g in grads]]


rows = [[name, options, dtype, run(name, options, NAMES[dtype])] for name, options in CASES for dtype in ["f32", "f64"]]
rows += [[name, options, dtype, run(name, options, NAMES[dtype])]
         for name, options in CASES[4:8:2] + CASES[12:17:2] + CASES[20:30:3] for dtype in ["c64", "c128"]]
rows += [[name, options, "bf16", run(name, options, NAMES["bf16"])] for name, options in [CASES[2], CASES[6], CASES[13]]]
written = {
    "rows": rows,
    "grouped": [[name, options, group, dtype, run(name, options, NAMES[dtype], group)]
                for name, options, group in GROUPED for dtype in ["f32", "f64"]],
    "lbfgs": [[options, dtype, lbfgs(options, NAMES[dtype])]
              for options in [{"rate": 0.01, "max_iter": 5}, {"strong_wolfe": True, "max_iter": 8},
                              {"strong_wolfe": True, "max_iter": 6, "history_size": 3, "tolerance_grad": 1e-3}]
              for dtype in ["f64"]],
    "schedules": [list(one) for one in schedules()],
    "plateau": [[options, plateau(options)] for options in
                [{}, {"factor": 0.5, "patience": 2}, {"factor": 0.5, "patience": 1, "cooldown": 3, "least": 0.01},
                 {"rising": True, "patience": 1, "absolute": True, "threshold": 0.1}]],
    "clipped": [clipped(most) for most in [0.5, 100.0]],
}
path = sys.argv[1] if len(sys.argv) > 1 else "tests/oracle/optim.json.gz"
with open(path, "wb") as out, gzip.GzipFile(fileobj=out, mode="wb", mtime=0, filename="") as file:
    file.write(json.dumps(written, separators=(",", ":")).encode())
print(len(rows), "rows")
