"""Compiles a kernel's text by NVRTC itself: `python3 nvrtc.py kernel.cu`. `$NVRTC` names the library (of a toolkit, or of the wheel
`nvidia-cuda-nvrtc`), `$NVRTC_FOR` the devices. A compilation slower than `ceilings.h` allows is refused; `$NVRTC_SLOWER` is a factor. Where `$NVRTC_KEPT` names a folder, texts and code are kept there, and a list of
devices, names, bytes of text and of code, and seconds."""
import ctypes
import glob
import hashlib
import os
import re
import sys
import time

library = os.environ["NVRTC"]
for other in sorted(glob.glob(os.path.join(os.path.dirname(library), "libnvrtc-builtins.so*"))):
    ctypes.CDLL(other, mode=ctypes.RTLD_GLOBAL)
nvrtc = ctypes.CDLL(library)
text = open(sys.argv[1], "rb").read()
kept = os.environ.get("NVRTC_KEPT")
names = re.findall(rb'(?:extern\s+"C"\s+__global__|CI_KERNEL)\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(', text)
here = os.path.dirname(os.path.abspath(__file__))
ceilings = re.findall(r'\{"(\w+)", \d+, \d+, ([\d.]+),', open(f"{here}/ceilings.h").read())
ceilings = {name: float(seconds) * float(os.environ.get("NVRTC_SLOWER", 1)) for name, seconds in ceilings}
ceiling = ceilings.get(names[-1].decode() if names else "", float("inf"))


def log_of(program):
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    return log.value.decode()


for device in os.environ.get("NVRTC_FOR", "sm_80 sm_90 sm_100").split():
    program = ctypes.c_void_p()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"kernel.cu", 0, None, None):
        sys.exit("no program")
    options = [f"--gpu-architecture={device}".encode(), b"--fmad=false", b"--std=c++17"]
    start = time.perf_counter()
    refused = nvrtc.nvrtcCompileProgram(program, 3, (ctypes.c_char_p * 3)(*options))
    seconds = time.perf_counter() - start
    if refused:
        sys.exit(f"{device}:\n{log_of(program)}")
    if seconds > ceiling:
        sys.exit(f"{device}: `{names[-1].decode()}` took {seconds:.1f} s to compile; `ceilings.h` allows {ceiling}")
    if kept:
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, code)
        name = hashlib.sha256(text).hexdigest()[:16]
        open(f"{kept}/{name}.cu", "wb").write(text)
        open(f"{kept}/{name}.{device}.cubin", "wb").write(code.raw)
        with open(f"{kept}/list", "a") as listed:
            print(device, name, len(text), size.value, f"{seconds:.3f}", file=listed)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
