// How long kernel texts may be, by the names of the kernels, and how long NVRTC itself may take to compile one for one device. These limits
// stand only here. Read by `nvrtc.cpp`, which refuses longer texts, and by `nvrtc.py`, which measures. The comment after each ceiling is
// the present maximum over all texts that the tests compile (seconds on a slow machine, alone; `$NVRTC_SLOWER` is a factor for a slower
// one).
#pragma once
static const struct { const char *kernel; unsigned long bytes, longest; double seconds, slowest; } ceilings[] = {
  {"elementwise", 40000, 35221, 1.5, 0.5},
  {"reduce", 52000, 45475, 6.0, 3.7},
  {"lanes", 36000, 30774, 3.0, 1.0},
  {"scan", 78000, 71142, 3.0, 1.1},
  {"order", 40000, 35139, 4.0, 1.5},
  {"product", 32000, 27049, 2.5, 0.8},
  {"moved", 30000, 25919, 4.0, 1.3},
  {"draw", 29000, 24891, 1.5, 0.4},
  {"fill", 2000, 259, 0.5, 0.1},
};
