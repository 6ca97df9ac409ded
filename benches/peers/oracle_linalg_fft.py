"""Writes tests/oracle/linalg.json.gz and fft.json.gz: what PyTorch gives for small inputs, by name.

A row is [operation, arguments, named arguments, results, kind]; tensors are {"t": dtype, "s": sizes, "l": layout, "v": elements},
complex elements as two numbers, the layouts "c" (contiguous), "t" (transposed), "s" (a slice of a longer axis). Results are a list,
or {"err": text} where PyTorch refuses. `kind` says how results are compared: "values", or by what they reconstruct.
"""

import gzip
import json
import math
import sys
import warnings

import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)
NAMES = {
    torch.float32: "f32", torch.float64: "f64", torch.complex64: "c64", torch.complex128: "c128", torch.int64: "i64",
    torch.int32: "i32", torch.float16: "f16", torch.bfloat16: "bf16", torch.bool: "bool", torch.uint8: "u8",
}
FIELDS = [torch.float32, torch.float64, torch.complex64, torch.complex128]


def number(x):
    if isinstance(x, bool):
        return int(x)
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    return x


def elements(t):
    # As few digits as the comparison needs: operands are multiples of 1/64.
    digits = 13 if t.dtype in (torch.float64, torch.complex128) else 8
    if t.is_complex():
        t = torch.view_as_real(t.resolve_conj().contiguous())
    short = [float(f"{x:.{digits}g}") if isinstance(x, float) else x for x in t.flatten().tolist()]
    return [number(int(x) if isinstance(x, float) and x == round(x, 0) and abs(x) < 1e6 else x) for x in short]


def encoded(x, layout="c"):
    if isinstance(x, torch.Tensor):
        return {"t": NAMES[x.dtype], "s": list(x.shape), "l": layout, "v": elements(x)}
    if isinstance(x, (list, tuple)):
        return [encoded(item) for item in x]
    if isinstance(x, torch.dtype):
        return {"dtype": NAMES[x]}
    if isinstance(x, float):
        return {"float": number(x)}
    return x


def laid_out(x, layout):
    if layout == "t":
        return x.mT.contiguous().mT
    if layout == "s":
        wide = torch.zeros(*x.shape[:-1], x.shape[-1] + 1, dtype=x.dtype)
        wide[..., 1:] = x
        return wide[..., 1:]
    return x


rows = []


def row(name, args, kind="values", layout="c", **named):
    function = torch
    for part in name.split("."):
        function = getattr(function, part)
    given = [laid_out(x, layout) if isinstance(x, torch.Tensor) and x.dim() > 1 else x for x in args]
    try:
        result = function(*given, **named)
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        # Vectors that are not unique are compared by what they reconstruct.
        unique = {"svd": [1], "old_svd": [1], "eigh": [0], "eig": [0]}.get(kind, range(len(results)))
        results = [encoded(x if at in unique else x.new_zeros(0)) | {"s": list(x.shape)} for at, x in enumerate(results)]
    except Exception as error:
        results = {"err": str(error).split("\n")[0]}
    shown = [encoded(x, layout if isinstance(x, torch.Tensor) and x.dim() > 1 else "c") for x in args]
    rows.append([name, shown, {k: encoded(v) for k, v in named.items()}, results, kind])


def write(path):
    text = json.dumps({"torch": torch.__version__, "rows": rows}, separators=(",", ":"))
    with gzip.GzipFile(path, "w", mtime=0) as file:
        file.write(text.encode())
    print(path, len(rows), "rows", len(text), "bytes")
    rows.clear()


def rand(*sizes, dtype):
    # Few digits, so that the table stays small.
    def part():
        return (torch.randn(*sizes, dtype=torch.float64) * 64).round() / 64

    x = torch.complex(part(), part()) if dtype.is_complex else part()
    return x.to(dtype)


def linalg():
    torch.manual_seed(0)
    for dtype in FIELDS:
        def r(*sizes):
            return rand(*sizes, dtype=dtype)

        def spd(*sizes):
            x = r(*sizes)
            return x @ x.mH + torch.eye(sizes[-1], dtype=dtype)

        for sizes in [(3, 3), (2, 5, 5), (2, 0, 4, 4), (0, 0), (1, 1), (2, 1, 2, 2)]:
            a, h = r(*sizes), spd(*sizes)
            n = sizes[-1]
            for layout in ["c", "t", "s"] if sizes == (2, 5, 5) else ["c"]:
                for upper in [False, True]:
                    row("linalg.cholesky", [h], upper=upper, layout=layout)
                    row("linalg.eigh", [h], "eigh", UPLO="U" if upper else "L", layout=layout)
                    row("linalg.eigvalsh", [h], UPLO="U" if upper else "L", layout=layout)
                row("linalg.inv", [a], layout=layout)
                row("linalg.det", [a], layout=layout)
                row("linalg.slogdet", [a], layout=layout)
                row("logdet", [h], layout=layout)
                row("linalg.eig", [a], "eig", layout=layout)
                row("linalg.eigvals", [a], "spectrum", layout=layout)
                row("linalg.lu_factor", [a], layout=layout)
                row("linalg.matrix_exp", [a], layout=layout)
                row("linalg.pinv", [h], hermitian=True, layout=layout)
                row("linalg.matrix_rank", [h], hermitian=True, layout=layout)
                for p in [None, 2, -2, 1, -1, math.inf, -math.inf, "fro", "nuc"] if layout == "c" else []:
                    row("linalg.cond", [a], p=p, layout=layout)
            row("linalg.cholesky_ex", [h])
            row("linalg.inv_ex", [a])
            row("linalg.lu", [a])
            row("linalg.lu_factor_ex", [a])
            row("lu_unpack", list(torch.linalg.lu_factor(a)))
            row("linalg.solve", [a, r(*sizes[:-1], 2)])
            row("linalg.solve", [a, r(*sizes[:-2], 2, n)], left=False)
            row("linalg.solve", [a, r(*sizes[:-1])])
            row("linalg.solve_ex", [a, r(*sizes[:-1], 2)])
            row("linalg.solve", [a, r(n)])
            row("linalg.solve", [a, r(3, *[1] * (len(sizes) - 2), n, 2)])
            lu, pivots = torch.linalg.lu_factor(a)
            for left in [True, False]:
                b = r(*sizes[:-1], 2) if left else r(*sizes[:-2], 2, n)
                for adjoint in [False, True]:
                    row("linalg.lu_solve", [lu, pivots, b], left=left, adjoint=adjoint)
                for upper in [False, True]:
                    for unitriangular in [False, True]:
                        row("linalg.solve_triangular", [h, b], upper=upper, left=left, unitriangular=unitriangular)
            row("lu_solve", [r(*sizes[:-1], 2), lu, pivots])
            for upper in [False, True]:
                factor = torch.linalg.cholesky(h, upper=upper)
                row("cholesky_inverse", [factor], upper=upper)
                row("cholesky_solve", [r(*sizes[:-1], 2), factor], upper=upper)
                row("triangular_solve", [r(*sizes[:-1], 2), h], upper=upper)
                row("triangular_solve", [r(*sizes[:-1], 2), h], upper=upper, transpose=True)
            for hermitian in [False, True]:
                s = a + (a.mH if hermitian else a.mT)
                row("linalg.ldl_factor", [s], hermitian=hermitian)
                row("linalg.ldl_solve", [*torch.linalg.ldl_factor(s, hermitian=hermitian), r(*sizes[:-1], 2)], hermitian=hermitian)
        for sizes in [(3, 3), (4, 3), (3, 5), (2, 5, 3), (2, 3, 4), (0, 3), (3, 0), (2, 0, 3, 2), (40, 35) if dtype is torch.complex64 else (35, 34)]:
            a = r(*sizes)
            m, n = sizes[-2:]
            for layout in ["c", "t", "s"] if sizes == (2, 5, 3) else ["c"]:
                for mode in ["reduced", "complete", "r"]:
                    row("linalg.qr", [a], mode=mode, layout=layout)
                    if max(sizes) > 8:
                        break
                for full in [True, False]:
                    row("linalg.svd", [a], "svd", full_matrices=full, layout=layout)
                row("linalg.svdvals", [a], layout=layout)
                row("linalg.matrix_rank", [a], layout=layout)
                if max(sizes) > 8:
                    continue
                row("geqrf", [a], layout=layout)
                row("linalg.pinv", [a], layout=layout)
            if max(sizes) > 8:
                continue
            row("linalg.pinv", [a], rtol=0.5)
            row("linalg.matrix_rank", [a], atol=1.0)
            row("linalg.matrix_rank", [a], tol=2.0)
            row("pinverse", [a])
            row("svd", [a], "old_svd")
            row("qr", [a])
            row("linalg.lu", [a])
            row("linalg.lu_factor_ex", [a])
            for p in [2, -2, "nuc", "fro", 1, math.inf]:
                row("linalg.matrix_norm", [a], ord=p)
                row("linalg.matrix_norm", [a], ord=p, keepdim=True)
            row("linalg.cond", [a])
            row("norm", [a], p="nuc", dim=[-2, -1])
            if m >= n and len(sizes) == 2 or len(sizes) == 3 and m >= n:
                qr, tau = torch.geqrf(a)
                row("linalg.householder_product", [qr, tau])
                for left in [True, False]:
                    for transpose in [True, False]:
                        row("ormqr", [qr, tau, r(*sizes[:-2], m, 2) if left else r(*sizes[:-2], 2, m)], left=left, transpose=transpose)
            if m > 0 and n > 0:
                for driver in ["gelsy", "gels", "gelsd", "gelss"]:
                    row("linalg.lstsq", [a, r(*sizes[:-1], 2)], driver=driver)
                row("linalg.lstsq", [a, r(*sizes[:-1])])
        row("linalg.lstsq", [torch.ones(4, 2, dtype=dtype), r(4, 1)])
        row("linalg.matrix_norm", [r(2, 3, 4)], ord=2, dim=[0, 2])
        row("linalg.matrix_norm", [r(2, 3, 4)], ord="nuc", dim=[2, 0], keepdim=True)
        row("linalg.tensorinv", [r(2, 3, 6)])
        row("linalg.tensorinv", [r(6, 3, 2)], ind=1)
        row("linalg.tensorsolve", [r(2, 3, 6), r(2, 3)])
        row("linalg.tensorsolve", [r(6, 2, 3), r(2, 3)], dims=[0])
        z = torch.zeros(3, 3, 3, dtype=dtype)
        z[0] = torch.eye(3)
        nan = torch.full((2, 2), math.nan, dtype=dtype)
        for x in [z, nan, z[1], torch.ones(2, 3, dtype=dtype), torch.ones(3, dtype=dtype)]:
            for name in ["inv", "det", "slogdet", "cholesky", "lu_factor", "svdvals", "eigvals", "eigvalsh", "matrix_rank", "pinv", "matrix_exp", "inv_ex", "lu_factor_ex"]:
                # (PyTorch itself fails on these.)
                if not (name == "inv_ex" and x.shape == z.shape or name == "eigvals" and x is nan):
                    row("linalg." + name, [x], "info" if name.endswith("_ex") else "spectrum" if name == "eigvals" else "values")
        row("linalg.solve", [z, z])
        row("linalg.solve", [r(3, 3), r(4)])
        row("linalg.cholesky", [-torch.eye(3, dtype=dtype)])
        row("linalg.cholesky_ex", [-torch.eye(3, dtype=dtype)], "info")
        row("linalg.matrix_exp", [r(4, 4) * 10])
    for dtype in [torch.int64, torch.float16, torch.bool, torch.bfloat16]:
        x = torch.eye(3).to(dtype)
        for name in ["inv", "det", "cholesky", "qr", "svd", "eigh", "eig", "pinv", "matrix_exp", "lu_factor", "matrix_rank", "cond", "svdvals"]:
            # (PyTorch's exponentials of 16-bit floats are far off.)
            if not (name == "matrix_exp" and x.is_floating_point()):
                row("linalg." + name, [x])
    write("tests/oracle/linalg.json.gz")


def fft():
    torch.manual_seed(1)
    for dtype in FIELDS + [torch.int64, torch.bool, torch.uint8, torch.float16, torch.bfloat16]:
        def r(*sizes):
            if dtype in FIELDS:
                return rand(*sizes, dtype=dtype)
            return (rand(*sizes, dtype=torch.float64) * 3).abs().to(dtype)

        names = ["fft", "ifft", "hfft", "irfft"] + ([] if dtype.is_complex else ["rfft", "ihfft"])
        for name in names:
            for sizes in [(1,), (6,), (7,), (2, 5), (3, 2, 4)]:
                x = r(*sizes)
                row("fft." + name, [x], layout="t" if len(sizes) == 3 else "c")
                if dtype in FIELDS:
                    for norm in ["forward", "backward", "ortho"]:
                        row("fft." + name, [x], norm=norm)
                    row("fft." + name, [x], n=9, dim=0)
                    row("fft." + name, [x], n=3)
                    if len(sizes) > 1:
                        row("fft." + name, [x], dim=-2, layout="s")
        multi = ["fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn", "hfft2", "hfftn"]
        multi += [] if dtype.is_complex else ["rfft2", "rfftn", "ihfft2", "ihfftn"]
        for name in multi:
            for sizes in [(4, 3), (2, 3, 5)]:
                x = r(*sizes)
                row("fft." + name, [x])
                if dtype in FIELDS:
                    for norm in ["forward", "ortho"]:
                        row("fft." + name, [x], norm=norm, layout="t")
                    row("fft." + name, [x], s=[4, 5])
                    row("fft." + name, [x], s=[-1, 2], dim=[0, 1])
                    row("fft." + name, [x], dim=[1, 0])
                    row("fft." + name, [x], dim=[0, 0])
                    if name.endswith("n"):
                        row("fft." + name, [x], dim=[-1])
        for name in ["fftshift", "ifftshift"]:
            row("fft." + name, [r(5)])
            row("fft." + name, [r(2, 5, 4)])
            row("fft." + name, [r(2, 5, 4)], dim=[1])
            row("fft." + name, [r(2, 5, 4)], dim=-1)
    row("fft.rfft", [rand(4, dtype=torch.complex64)])
    row("fft.fft", [torch.ones(3)], n=0)
    row("fft.fft", [torch.ones(0)])
    row("fft.fft", [torch.ones(3)], norm="other")
    row("fft.fft", [torch.ones(3)], dim=2)
    row("fft.fft", [torch.tensor(1.0)])
    row("fft.fft", [torch.tensor([1.0, math.nan, math.inf])])
    row("fft.irfft", [torch.ones(1, dtype=torch.complex64)])
    for n in [0, 1, 4, 5]:
        for name in ["fftfreq", "rfftfreq"]:
            row("fft." + name, [n])
            row("fft." + name, [n], d=0.5)
            row("fft." + name, [n], d=0.5, dtype=torch.float64)
    for n in [0, 1, 2, 5, 8]:
        for sym in [True, False]:
            for name, named in [
                ("bartlett", {}), ("blackman", {}), ("cosine", {}), ("exponential", {}), ("exponential", {"tau": 2.5}),
                ("exponential", {"center": 1.0, "tau": 0.5}), ("gaussian", {}), ("gaussian", {"std": 2.0}), ("general_cosine", {"a": [0.46, 0.23, 0.31]}),
                ("general_hamming", {}), ("general_hamming", {"alpha": 0.6}), ("hamming", {}), ("hann", {}), ("kaiser", {}), ("kaiser", {"beta": 3.0}),
                ("nuttall", {}), ("hann", {"dtype": torch.float64}),
            ]:
                row("signal.windows." + name, [n], sym=sym, **named)
        for periodic in [True, False]:
            for name in ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]:
                row(name, [n], periodic=periodic)
        row("hamming_window", [n], periodic=True, alpha=0.6, beta=0.3)
        row("kaiser_window", [n], periodic=False, beta=5.0)
        row("hann_window", [n], dtype=torch.float64)
    for dtype in FIELDS:
        x = rand(2, 20, dtype=dtype)
        w = torch.hann_window(7, dtype=torch.float64).to(torch.float64 if dtype in (torch.float64, torch.complex128) else torch.float32)
        onesided = {} if not dtype.is_complex else {"onesided": False}
        for named in [
            {}, {"hop_length": 3}, {"win_length": 5}, {"center": False}, {"normalized": True}, {"pad_mode": "constant"}, {"onesided": False},
            {"hop_length": 2, "window": w[:6], "win_length": 6}, {"pad_mode": "replicate", "hop_length": 1},
        ]:
            row("stft", [x, 8], return_complex=True, **named)
        row("stft", [x[0], 8], return_complex=True)
        row("stft", [x, 8], return_complex=False, **onesided)
        row("stft", [x, 30], return_complex=True)
        row("stft", [x, 8, 2, 6, w], return_complex=True)
        for named in [{}, {"normalized": True}, {"length": 15}, {"length": 25}, {"window": w, "win_length": 7}, {"onesided": False}, {"center": False}]:
            common = {k: v for k, v in named.items() if k in ("normalized", "window", "win_length", "onesided", "center")}
            if dtype.is_complex:
                common["onesided"] = named["onesided"] = False
            spectrum = torch.stft(x, 8, 2, return_complex=True, **common)
            row("istft", [spectrum, 8, 2], return_complex=dtype.is_complex, **named)
    write("tests/oracle/fft.json.gz")


if __name__ == "__main__":
    (linalg() if "fft" not in sys.argv[1:] else None, fft() if "linalg" not in sys.argv[1:] else None)
