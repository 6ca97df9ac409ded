// How long texts of kernels may be, by the names of the kernels, and how long NVRTC itself may compile one for one device: the only place that says
// so. Read by `nvrtc.cpp`, which refuses longer texts, and by `nvrtc.py`, which measures. Behind each ceiling stands the present maximum, of
// all texts that the tests compile (seconds on a slow machine, alone; `$NVRTC_SLOWER` is a factor for one that is slower).
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
