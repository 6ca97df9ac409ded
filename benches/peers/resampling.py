"""What PyTorch gives for operations that resample: written to tests/data/resampling.json, which the tests compare with.

    python3 benches/peers/resampling.py

Elements of operands follow from a formula, `((i * times + plus) % modulus - minus) / divisor`, which every dtype here holds exactly.
"""
import json, math
import torch
import torch.nn.functional as F

DTYPES = {"u8": torch.uint8, "i64": torch.int64, "bool": torch.bool, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
          "f64": torch.float64, "c64": torch.complex64}
NUMBERS = [37, 11, 61, 30, 8]
BYTES = [37, 11, 256, 0, 1]
GRID = [53, 7, 167, 83, 64]
cases = []


def tensor(dtype, shape, layout="row_major", fill=None, values=None, nan=None):
    """An operand, and how it is written down."""
    spec = {"dtype": dtype, "shape": list(shape), "layout": layout}
    count = math.prod(shape)
    if values is None:
        fill = fill or (BYTES if dtype in ("u8", "i64", "bool") else NUMBERS)
        times, plus, modulus, minus, divisor = fill
        spec["fill"] = fill
        values = [((i * times + plus) % modulus - minus) / divisor for i in range(count)]
        if dtype == "bool":
            values = [x % 3 == 0 for x in values]
    else:
        spec["values"] = values
    x = torch.tensor(values, dtype=torch.float64 if dtype != "c64" else None).reshape(shape).to(DTYPES[dtype])
    if dtype == "c64":
        x = x * (1 + 2j)
    if nan is not None:
        spec["nan"] = nan
        x.view(-1)[nan] = math.nan
    if layout == "channels_last":
        x = x.contiguous(memory_format=torch.channels_last if x.dim() == 4 else torch.channels_last_3d)
    elif layout == "transposed":
        x = x.transpose(-1, -2).contiguous().transpose(-1, -2)
    elif layout == "steps":
        wide = torch.zeros(*shape[:-1], 2 * shape[-1], dtype=x.dtype)
        wide[..., ::2] = x
        x = wide[..., ::2]
    return x, spec


def number(x):
    if isinstance(x, complex):
        return [number(x.real), number(x.imag)]
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    return x


def written(x):
    x = x.resolve_conj()
    if x.dtype in (torch.float16, torch.bfloat16):
        values = [float(v) for v in x.flatten()]
    elif x.dtype == torch.float32:
        values = [number(float(str(v))) for v in x.flatten().numpy()]
    else:
        values = [number(v.item()) for v in x.flatten()]
    return {"sizes": list(x.shape), "strides": list(x.stride()), "values": values}


def case(name, op, operands, run=None, **kwargs):
    run = run or getattr(F, op)
    given = {k: v for k, v in kwargs.items()}
    results = run(*[x for x, _ in operands], **given)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    cases.append({"name": name, "op": f"nn.functional.{op}", "operands": [spec for _, spec in operands], "kwargs": kwargs,
                  "results": [written(x) for x in results]})


def interpolate():
    axes = {3: (7,), 4: (5, 6), 5: (2, 3, 4)}
    larger = {3: (11,), 4: (8, 9), 5: (3, 5, 5)}
    smaller = {3: (3,), 4: (3, 2), 5: (1, 2, 3)}
    modes = [("nearest", (3, 4, 5)), ("nearest-exact", (3, 4, 5)), ("area", (3, 4, 5)), ("linear", (3,)), ("bilinear", (4,)),
             ("bicubic", (4,)), ("trilinear", (5,))]
    for mode, ranks in modes:
        for rank in ranks:
            x = lambda dtype="f32", **more: tensor(dtype, (2, 2, *axes[rank]) if rank < 5 else (1, 2, *axes[rank]), **more)
            tag = f"{mode} {rank}"
            case(f"{tag} up", "interpolate", [x()], size=larger[rank], mode=mode)
            case(f"{tag} down", "interpolate", [x("f64")], size=smaller[rank], mode=mode)
            case(f"{tag} by 2", "interpolate", [x("f64")], scale_factor=2.0, mode=mode)
            case(f"{tag} by 1.3", "interpolate", [x("f32", layout="transposed" if mode != "area" else "row_major")], scale_factor=1.3, mode=mode)
            case(f"{tag} by 0.6, recomputed", "interpolate", [x("f32", layout="steps")], scale_factor=0.6, recompute_scale_factor=True, mode=mode)
            case(f"{tag} nan", "interpolate", [x("f32", nan=3)], size=larger[rank], mode=mode)
            for half in ("f16", "bf16"):
                case(f"{tag} {half}", "interpolate", [x(half)], size=larger[rank], mode=mode)
            if mode in ("linear", "bilinear", "bicubic", "trilinear"):
                case(f"{tag} corners up", "interpolate", [x()], size=larger[rank], mode=mode, align_corners=True)
                case(f"{tag} corners down", "interpolate", [x("f64")], size=smaller[rank], mode=mode, align_corners=True)
                case(f"{tag} to one", "interpolate", [x("f64")], size=1, mode=mode, align_corners=True)
            if rank > 3:
                case(f"{tag} channels last", "interpolate", [x(layout="channels_last")], size=larger[rank], mode=mode)
            if mode.startswith("nearest") or mode in ("bilinear", "bicubic"):
                case(f"{tag} u8", "interpolate", [x("u8")], size=larger[rank], mode=mode)
            if mode != "area":
                case(f"{tag} empty", "interpolate", [tensor("f32", (0, 2, *axes[rank]))], size=larger[rank], mode=mode)
    case("nearest by 1.2, same size", "interpolate", [tensor("f32", (1, 1, 4))], scale_factor=1.2, mode="nearest")
    case("nearest image by 1.2, same size", "interpolate", [tensor("f32", (1, 1, 4, 4))], scale_factor=1.2, mode="nearest")
    for mode in ("bilinear", "bicubic", "lanczos"):
        x = lambda dtype="f32", **more: tensor(dtype, (1, 2, 7, 9), **more)
        case(f"{mode} antialiased down", "interpolate", [x()], size=(3, 4), mode=mode, antialias=True)
        case(f"{mode} antialiased both", "interpolate", [x("f64", layout="channels_last")], size=(9, 4), mode=mode, antialias=True)
        case(f"{mode} antialiased by 0.4", "interpolate", [x("f64")], scale_factor=(0.4, 1.5), mode=mode, antialias=True)
        case(f"{mode} antialiased rows", "interpolate", [x("f32", nan=5)], size=(7, 4), mode=mode, antialias=True)
        case(f"{mode} antialiased u8", "interpolate", [x("u8")], size=(3, 13), mode=mode, antialias=True)
        case(f"{mode} antialiased u8 of six channels", "interpolate", [tensor("u8", (1, 6, 5, 4))], size=(3, 5), mode=mode, antialias=True)
        if mode != "lanczos":
            case(f"{mode} antialiased corners", "interpolate", [x()], size=(4, 12), mode=mode, antialias=True, align_corners=True)
            case(f"{mode} u8 corners", "interpolate", [x("u8", layout="channels_last")], size=(12, 4), mode=mode, align_corners=True)
            case(f"{mode} u8 down", "interpolate", [x("u8")], size=(3, 1), mode=mode)
            case(f"{mode} u8 by 1.7", "interpolate", [tensor("u8", (2, 5, 3, 4))], scale_factor=1.7, mode=mode)
    case("upsample", "upsample", [tensor("f32", (1, 2, 3, 2))], scale_factor=2, mode="bilinear")
    case("upsample_nearest", "upsample_nearest", [tensor("f32", (1, 2, 3, 2))], size=(4, 5))
    case("upsample_bilinear", "upsample_bilinear", [tensor("f32", (1, 2, 3, 2))], size=(4, 5))


def patches():
    for name, dtype, shape, layout, how in [
        ("plain", "f32", (2, 2, 4, 5), "row_major", dict(kernel_size=(2, 3))),
        ("all", "f64", (1, 2, 6, 5), "transposed", dict(kernel_size=(2, 3), dilation=(2, 1), padding=(1, 2), stride=(1, 2))),
        ("channels last", "f32", (2, 3, 3, 4), "channels_last", dict(kernel_size=2, stride=2, padding=1)),
        ("one image", "bf16", (2, 3, 4), "steps", dict(kernel_size=2)),
        ("f16", "f16", (1, 2, 3, 4), "row_major", dict(kernel_size=2, padding=1)),
        ("bool", "bool", (1, 2, 3, 4), "row_major", dict(kernel_size=2, padding=1)),
        ("complex", "c64", (1, 1, 3, 3), "row_major", dict(kernel_size=2)),
        ("empty", "f32", (0, 2, 3, 4), "row_major", dict(kernel_size=2)),
    ]:
        x, spec = tensor(dtype, shape, layout)
        case(f"unfold {name}", "unfold", [(x, spec)], **how)
        columns = list(F.unfold(x, **how).shape)
        output_size = list(shape[-2:])
        y = tensor(dtype, columns, "transposed" if layout != "row_major" and columns[0] else "row_major")
        case(f"fold {name}", "fold", [y], output_size=output_size, **how)


def pools():
    spaces = {1: (7,), 2: (5, 7), 3: (3, 4, 5)}
    for axes, sizes in spaces.items():
        op = f"lp_pool{axes}d"
        x = lambda dtype, lead=(2, 2), **more: tensor(dtype, (*lead, *sizes), **more)
        case(f"{op} 2", op, [x("f32")], norm_type=2, kernel_size=2)
        case(f"{op} 3", op, [x("f64", lead=(2,))], norm_type=3, kernel_size=2, stride=1)
        case(f"{op} 1", op, [x("f64")], norm_type=1.0, kernel_size=3, stride=2, ceil_mode=True)
        case(f"{op} 2.5", op, [x("f64", fill=[37, 11, 61, 0, 8])], norm_type=2.5, kernel_size=2)
        case(f"{op} inf", op, [x("f32")], norm_type=math.inf, kernel_size=2)
        case(f"{op} -inf", op, [x("f32")], norm_type=-math.inf, kernel_size=2, stride=1)
        case(f"{op} nan", op, [x("f32", nan=4)], norm_type=2, kernel_size=2)
        if axes < 3:
            case(f"{op} f16", op, [x("f16", fill=[37, 11, 61, 0, 32])], norm_type=2, kernel_size=2)
        pool, unpool = getattr(F, f"max_pool{axes}d"), f"max_unpool{axes}d"
        for name, dtype, lead, how, out in [
            ("plain", "f32", (2, 2), dict(kernel_size=2), None),
            ("stride", "f64", (2,), dict(kernel_size=3, stride=2, padding=1), None),
            ("to size", "bf16", (1, 2), dict(kernel_size=2), list(sizes)),
            ("empty", "f32", (0, 2), dict(kernel_size=2), None),
        ]:
            y, index = pool(x(dtype, lead)[0], **how, return_indices=True)
            if out is None:
                stride, padding = how.get("stride", how["kernel_size"]), how.get("padding", 0)
                to = [(n - 1) * stride + how["kernel_size"] - 2 * padding for n in y.shape[-axes:]]
                if math.prod(to) < math.prod(sizes):
                    index = index % max(math.prod(to), 1)
            y, spec = tensor(dtype, tuple(y.shape))
            index, of = tensor("i64", tuple(index.shape), values=index.flatten().tolist())
            more = dict(output_size=out) if out else {}
            case(f"{unpool} {name}", unpool, [(y, spec), (index, of)], **how, **more)
    x, spec = tensor("f32", (1, 1, 4, 4))
    for at in (0, 5, 6):
        x.view(-1)[at] = math.nan
    spec["nan"] = [0, 5, 6]
    case("max_pool2d of several nan", "max_pool2d", [(x, spec)], kernel_size=2, stride=1, return_indices=True)
    x, spec = tensor("f32", (1, 1, 9))
    for at in (0, 1, 5, 6, 7):
        x.view(-1)[at] = math.nan
    spec["nan"] = [0, 1, 5, 6, 7]
    case("max_pool1d of several nan", "max_pool1d", [(x, spec)], kernel_size=3, stride=2, return_indices=True)
    case("adaptive_max_pool1d of several nan", "adaptive_max_pool1d", [(x, spec)], output_size=4, return_indices=True)


def grids():
    for align in (False, True):
        tag = "corners" if align else "pixels"
        for name, dtype, theta, size in [("2d", "f32", (2, 2, 3), (2, 3, 3, 4)), ("3d", "f64", (1, 3, 4), (1, 1, 2, 3, 2)), ("one", "f64", (1, 2, 3), (1, 1, 1, 3)),
                                         ("f16", "f16", (1, 2, 3), (1, 1, 2, 4))]:
            case(f"affine_grid {name} {tag}", "affine_grid", [tensor(dtype, theta)], size=list(size), align_corners=align)
        for padding in ("zeros", "border", "reflection"):
            for mode in ("bilinear", "nearest", "bicubic"):
                x, grid = tensor("f64", (2, 2, 4, 5), "transposed"), tensor("f64", (2, 3, 4, 2), fill=GRID)
                case(f"grid_sample {mode} {padding} {tag}", "grid_sample", [x, grid], mode=mode, padding_mode=padding, align_corners=align)
                if mode != "bicubic":
                    x, grid = tensor("f64", (1, 2, 3, 4, 3)), tensor("f64", (1, 2, 2, 3, 3), "transposed", fill=GRID)
                    case(f"grid_sample 3d {mode} {padding} {tag}", "grid_sample", [x, grid], mode=mode, padding_mode=padding, align_corners=align)
                x, grid = tensor("f32", (1, 1, 3, 4)), tensor("f32", (1, 1, 3, 2), values=[math.nan, 0.25, 0.5, -0.5, -0.25, math.nan])
                grid[1]["values"] = [number(v) for v in grid[1]["values"]]
                case(f"grid_sample nan {mode} {padding} {tag}", "grid_sample", [x, grid], mode=mode, padding_mode=padding, align_corners=align)
            x, grid = tensor("f32", (1, 2, 1, 3)), tensor("f32", (1, 2, 3, 2), fill=[53, 7, 167, 83, 8])
            case(f"grid_sample far {padding} {tag}", "grid_sample", [x, grid], padding_mode=padding, align_corners=align)
        case(f"grid_sample empty {tag}", "grid_sample", [tensor("f32", (0, 2, 3, 3)), tensor("f32", (0, 2, 2, 2), fill=GRID)], align_corners=align)
    case("grid_sample f16", "grid_sample", [tensor("f16", (1, 2, 3, 4)), tensor("f16", (1, 2, 3, 2), fill=GRID)], align_corners=False)
    case("grid_sample channels last", "grid_sample", [tensor("f32", (2, 3, 3, 4), "channels_last"), tensor("f32", (2, 2, 3, 2), fill=GRID)], align_corners=False)


torch.set_num_threads(1)
interpolate()
patches()
pools()
grids()
for entry in cases:
    entry["kwargs"] = {k: (number(v) if isinstance(v, float) else v) for k, v in entry["kwargs"].items()}
with open("tests/data/resampling.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in cases) + "\n]\n")
print(len(cases))
