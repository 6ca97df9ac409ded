// A pretend driver, `libcuda.so.1`: two devices (sm_90, sm_80) whose memory is apart from the host's, streams that run late, modules
// that `nvrtc.cpp` has made. It does what CUDA's documentation says of the functions that castiron calls, and is stricter.
//
// - A device's memory is mapped twice: kernels' addresses can be read by nobody but a kernel of that device, which is let in for as
//   long as it runs. Fresh memory is 0xA5; freed memory is gone, and its addresses are not used again.
// - What is begun on a stream runs when somebody waits, or reads to the host. A fault of a kernel is told by a later call, and by
//   every call after it.
// - A kernel runs twice, with its blocks and threads in two orders ($PRETEND_ORDER: both, 0, 1); results that differ are a fault.
// - $PRETEND_DEVICES (2), $PRETEND_MEMORY (bytes of each, 1 GiB); `pretend_fault` makes calls fail.
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))
typedef unsigned long long Address;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
       INVALID_CONTEXT = 201, NO_BINARY = 209, INVALID_HANDLE = 400, UNSUPPORTED_BY_CAPTURE = 900, CAPTURE_INVALIDATED = 901, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719 };

struct Grid { unsigned blocks[3], threads[3]; int order; };
struct Kernel { const char *(*run)(const Grid *, void **); unsigned count; const unsigned *sizes; const unsigned char *pointers; };

static const uint64_t BASE = 0x200000000000, SPAN = uint64_t(1) << 36, PAGE = 4096;
static const int MOST = 2;
static std::recursive_mutex lock;
#define HERE std::lock_guard<std::recursive_mutex> held(lock)

static void complain(const char *format, ...) {
  va_list list; va_start(list, format);
  fputs("pretend driver: ", stderr); vfprintf(stderr, format, list); fputc('\n', stderr);
  va_end(list);
}
static uint64_t number(const char *name, uint64_t otherwise) { const char *text = getenv(name); return text ? strtoull(text, 0, 0) : otherwise; }

struct Block { uint64_t bytes, pages; bool freed; };
struct Device;
// Work that was captured, which is begun again by each launch.
struct Graph { Device *device; std::vector<std::function<void()>> nodes; };
// What was begun runs in order when somebody waits; what stands on another stream runs earlier only if an event is waited for.
struct Stream {
  Device *device = 0;
  std::deque<std::function<void()>> queue;
  uint64_t ran = 0;                                        // how much of what was begun has run
  Graph *capture = 0;                                      // what it captures in place of running it
  bool broken = false;                                     // something came that can't be captured
  void begin(std::function<void()> work) { if (capture) capture->nodes.push_back(work); else queue.push_back(work); }
};
// (A device is its own first stream.)
struct Device : Stream {
  int id = 0, major = 9, minor = 0, file = -1, code = OK;   // code: the fault that ended it
  char *inside = 0;                                        // the same memory, for the driver
  uint64_t top = 0, used = 0, limit = 0, threshold = 0;
  std::map<Address, Block> blocks;
  std::map<uint64_t, uint64_t> kept;                       // freed blocks that the pool keeps: how many of so many bytes
  std::vector<Stream *> others;                            // streams beside the first
  int streams = 0;
  uint64_t base() const { return BASE + id * SPAN; }
  uint64_t held() const { uint64_t sum = 0; for (auto &k : kept) sum += k.first * k.second; return sum; }
  char *own(Address at) const { return inside + (at - base()); }
};
static Device devices[MOST];
static bool started;
static int count_of_devices;
static thread_local Device *current;

// Runs a stream up to a place.
static void run_until(Stream *s, uint64_t place) {
  while (s->ran < place && !s->queue.empty()) {
    auto work = std::move(s->queue.front());
    s->queue.pop_front(); s->ran++;
    if (!s->device->code) work();
  }
}
static void flush(Stream *s) { run_until(s, ~uint64_t(0)); }
static void flush_all(Device *d) { if (d->device) flush(d); for (auto s : d->others) flush(s); }

// --- faults on demand, and counts
struct Fault { long at = 0, times = 0; int code = 0; };
static std::map<std::string, Fault> faults;
static std::map<std::string, long> counts;
// The code that a call is to fail with, or 0.
static int fault(const char *what) {
  counts[what]++;
  // "any" counts calls of all kinds.
  if (strcmp(what, "any")) if (int code = fault("any")) return code;
  auto found = faults.find(what);
  if (found == faults.end() || found->second.times == 0) return 0;
  Fault &f = found->second;
  if (f.at > 1) { f.at--; return 0; }
  f.times--;
  return f.code;
}
// The `at`-th call from now on, and `times` in all, fail with a code.
API void pretend_fault(const char *what, long at, long times, int code) { HERE; faults[what] = {at, times, code}; }
API long pretend_count(const char *what) { HERE; return counts[what]; }
API long pretend_live() {
  HERE; long live = 0;
  for (auto &d : devices) { flush_all(&d); for (auto &b : d.blocks) live += !b.second.freed; }
  return live;
}

// --- addresses
static Device *owner(uint64_t at) { return at >= BASE && at < BASE + MOST * SPAN ? &devices[(at - BASE) / SPAN] : 0; }
static const Block *block(Device *d, Address at, uint64_t bytes) {
  auto next = d->blocks.upper_bound(at);
  if (next == d->blocks.begin()) return 0;
  auto &found = *--next;
  return !found.second.freed && at + bytes <= found.first + found.second.bytes ? &found.second : 0;
}
static bool is_device(const char *what, Device *d, Address at, uint64_t bytes) {
  if (block(d, at, bytes)) return true;
  Device *of = owner(at);
  complain("%s: %llu bytes at %#llx are not inside an allocation of device %d (%s)", what, (unsigned long long)bytes, at, d->id,
           !of ? "it is no address of a device" : of != d ? "it is another device's" : "freed, or past its end");
  return false;
}
static bool is_host(const char *what, const void *at, uint64_t bytes) {
  uint64_t start = (uint64_t)at;
  if (start && !owner(start) && !owner(start + bytes)) return true;
  complain("%s: %p is no address of the host", what, at);
  return false;
}

// --- kernels
static sigjmp_buf out;
static volatile sig_atomic_t running;
static uint64_t fault_at; static int fault_signal;
// A part of the memory that a kernel writes to, as it was before, and as the first of two runs left it.
struct Piece { uint64_t bytes; bool is_open; std::vector<char> before, after; };
static const uint64_t PIECE = 16 * PAGE;
static std::map<Address, Piece> written;
static Device *writer;
// Keeps what is at an address that a kernel writes to for the first time, and lets it write there; false where there is no such memory.
static bool let_write(Address at) {
  auto next = writer->blocks.upper_bound(at);
  if (next == writer->blocks.begin()) return false;
  auto &found = *--next;
  const Address end = found.first + found.second.pages;
  if (at >= end) return false;
  const Address first = found.first + (at - found.first) / PIECE * PIECE;
  Piece &piece = written[first];
  if (piece.is_open) return false;
  if (piece.before.empty()) {
    piece.bytes = end - first < PIECE ? end - first : PIECE;
    piece.before.assign(writer->own(first), writer->own(first) + piece.bytes);
  }
  piece.is_open = true;
  return !mprotect((void *)first, piece.bytes, PROT_READ | PROT_WRITE);
}
static void on_signal(int signal, siginfo_t *info, void *) {
  if (!running) { ::signal(signal, SIG_DFL); return; }
  // (Memory is written by a kernel's own instructions, so this may allocate.)
  if (signal == SIGSEGV && let_write((uint64_t)info->si_addr)) return;
  fault_at = (uint64_t)info->si_addr; fault_signal = signal;
  siglongjmp(out, 1);
}
static void open_memory(Device *d, int rights) {
  // (Memory to be freed later on the stream still counts.)
  for (auto &b : d->blocks) mprotect((void *)b.first, b.second.pages, rights);
}
static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
// Runs a kernel; 0 or the code of its fault.
static int execute(Device *d, const std::string &name, const Kernel *kernel, const Grid &grid, void **arguments) {
  struct sigaction now = {}, before[4];
  now.sa_sigaction = on_signal; now.sa_flags = SA_SIGINFO | SA_NODEFER;
  for (int i = 0; i < 4; i++) sigaction(SIGNALS[i], &now, &before[i]);
  writer = d;
  for (auto &w : written) w.second.is_open = false;
  open_memory(d, PROT_READ);
  const char *wrong = 0; volatile int code = OK;
  if (sigsetjmp(out, 1) == 0) { running = 1; wrong = kernel->run(&grid, arguments); running = 0; }
  else {
    running = 0;
    Device *of = owner(fault_at);
    if (fault_signal == SIGFPE) complain("kernel `%s`: an integer divided by zero, or the quotient overflowed", name.c_str());
    else complain("kernel `%s`: illegal access to %#llx (%s)", name.c_str(), (unsigned long long)fault_at,
                  !of ? "no address of a device" : of != d ? "another device's" : "freed, or past the end of an allocation");
    code = fault_signal == SIGFPE ? LAUNCH_FAILED : ILLEGAL_ADDRESS;
  }
  open_memory(d, PROT_NONE);
  for (int i = 0; i < 4; i++) sigaction(SIGNALS[i], &before[i], 0);
  if (wrong) { complain("kernel `%s`: %s", name.c_str(), wrong); return LAUNCH_FAILED; }
  if (code) return code;
  // Behind the last byte of each allocation, up to the end of its page.
  for (auto &w : written) {
    auto &b = *--d->blocks.upper_bound(w.first);
    const Address used = b.first + b.second.bytes, end = w.first + w.second.bytes;
    for (Address at = used > w.first ? used : w.first; at < end; at++) if (*(unsigned char *)d->own(at) != 0xCB) {
      complain("kernel `%s` wrote behind the end of an allocation of %llu bytes", name.c_str(), (unsigned long long)b.second.bytes);
      return ILLEGAL_ADDRESS;
    }
  }
  return OK;
}
static int run(Device *d, const std::string &name, const Kernel *kernel, Grid grid, std::vector<std::vector<char>> arguments) {
  const char *order = getenv("PRETEND_ORDER");
  bool both = !order || !strcmp(order, "both");
  std::vector<void *> places;
  // (Parameters are aligned as `malloc` aligns.)
  auto pass = [&](int which) {
    std::vector<std::unique_ptr<char[]>> copies; places.clear();
    for (auto &a : arguments) { copies.emplace_back(new char[a.size() + 16]); memcpy(copies.back().get(), a.data(), a.size()); places.push_back(copies.back().get()); }
    grid.order = which;
    return execute(d, name, kernel, grid, places.data());
  };
  written.clear();
  if (!both) return pass(atoi(order));
  if (int code = pass(1)) return code;
  for (auto &w : written) {
    char *own = d->own(w.first);
    w.second.after.assign(own, own + w.second.bytes);
    memcpy(own, w.second.before.data(), w.second.bytes);
  }
  if (int code = pass(0)) return code;
  bool differs = false;
  for (auto &w : written) {
    auto &other = w.second.after.empty() ? w.second.before : w.second.after;
    differs |= memcmp(d->own(w.first), other.data(), other.size()) != 0;
  }
  if (differs) { complain("kernel `%s`: the result depends on the order of threads", name.c_str()); return LAUNCH_FAILED; }
  return OK;
}

// --- streams
static Stream *stream_at(void *at) {
  for (auto &d : devices) {
    if (at == &d) return &d;
    for (auto s : d.others) if (at == s) return s;
  }
  return 0;
}
static void give_back(Device *d, Address at) {
  Block &b = d->blocks[at];
  memset(d->own(at), 0xDD, b.pages);
  mprotect((void *)at, b.pages, PROT_NONE);
  fallocate(d->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at - d->base(), b.pages);
  d->used -= b.pages; d->kept[b.pages]++;
  d->blocks.erase(at);
}
// What every call on a device begins with.
#define ON(stream)                                                                                                            \
  HERE; Stream *s = stream_at(stream);                                                                                        \
  if (!s) { complain("%s: no stream of a device", __func__); return INVALID_HANDLE; }                                         \
  Device *d = s->device;                                                                                                      \
  if (current != d) { complain("%s: the device's context is not current on this thread", __func__); return INVALID_CONTEXT; } \
  if (d->code) return d->code
#define NOT_CAPTURED if (s->capture) { complain("%s: the stream captures", __func__); s->broken = true; return UNSUPPORTED_BY_CAPTURE; }
#define CURRENT HERE; Device *d = current; if (!d) { complain("%s: no context is current", __func__); return INVALID_CONTEXT; } if (d->code) return d->code
#define MAY_FAIL(what) if (int code = fault(what)) return code

API int cuInit(unsigned flags) {
  HERE; MAY_FAIL("init");
  if (flags) return INVALID_VALUE;
  count_of_devices = (int)number("PRETEND_DEVICES", MOST);
  if (count_of_devices == 0) return NO_DEVICE;
  for (int i = 0; i < MOST && !started; i++) {
    Device &d = devices[i];
    d.device = &d; d.id = i; d.major = i ? 8 : 9; d.limit = number("PRETEND_MEMORY", 1 << 30);
    d.file = memfd_create("pretend device", 0);
    if (d.file < 0 || ftruncate(d.file, SPAN)) { complain("no memory for device %d", i); return 999; }
    void *at = mmap((void *)d.base(), SPAN, PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, d.file, 0);
    d.inside = (char *)mmap(0, SPAN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, d.file, 0);
    if (at != (void *)d.base() || d.inside == MAP_FAILED) { complain("no addresses for device %d", i); return 999; }
  }
  started = true;
  return OK;
}
API int cuDriverGetVersion(int *version) { *version = 13000; return OK; }
API int cuDeviceGetCount(int *count) { if (!started) return NOT_INITIALIZED; *count = count_of_devices; return OK; }
API int cuDeviceGet(int *device, int ordinal) { if (ordinal < 0 || ordinal >= count_of_devices) return INVALID_DEVICE; *device = ordinal; return OK; }
API int cuDeviceGetAttribute(int *value, int which, int device) {
  if (device < 0 || device >= count_of_devices) return INVALID_DEVICE;
  switch (which) {
    case 75: *value = devices[device].major; return OK;
    case 76: *value = devices[device].minor; return OK;
    case 115: *value = (int)number("PRETEND_POOLS", 1); return OK;
    case 16: *value = 4; return OK;
    default: return INVALID_VALUE;
  }
}
// A device, its context, its first stream and its pool are all the device.
API int cuDevicePrimaryCtxRetain(void **context, int device) { MAY_FAIL("context"); *context = &devices[device]; return OK; }
API int cuCtxGetCurrent(void **context) { *context = current; return OK; }
API int cuCtxSetCurrent(void *context) { current = (Device *)context; return OK; }
API int cuDevicePrimaryCtxRelease_v2(int) { return OK; }
API int cuCtxSynchronize() { CURRENT; flush_all(d); return d->code; }
API int cuStreamCreate(void **stream, unsigned) {
  CURRENT;
  if (!d->streams++) { *stream = d; return OK; }
  d->others.push_back(new Stream());
  d->others.back()->device = d;
  *stream = d->others.back();
  return OK;
}
API int cuStreamDestroy_v2(void *stream) {
  ON(stream);
  if (s == d) { complain("the first stream of a device is destroyed"); return INVALID_HANDLE; }
  flush(s);
  for (size_t i = 0; i < d->others.size(); i++) if (d->others[i] == s) d->others.erase(d->others.begin() + i);
  return OK; // (Events may still name it.)
}
API int cuDeviceGetDefaultMemPool(void **pool, int device) { *pool = &devices[device]; return OK; }
API int cuMemPoolSetAttribute(void *pool, int which, void *value) {
  HERE; if (which != 4) return INVALID_VALUE;
  ((Device *)pool)->threshold = *(uint64_t *)value; return OK;
}
API int cuMemPoolGetAttribute(void *pool, int which, void *value) {
  HERE; Device *d = (Device *)pool;
  if (which == 5) *(uint64_t *)value = d->used + d->held(); else if (which == 7) *(uint64_t *)value = d->used; else return INVALID_VALUE;
  return OK;
}
API int cuMemPoolTrimTo(void *pool, size_t keep) { HERE; counts["trim"]++; if (((Device *)pool)->held() > keep) ((Device *)pool)->kept.clear(); return OK; }
API int cuStreamSynchronize(void *stream) {
  ON(stream); NOT_CAPTURED flush(s); if (d->code) return d->code;
  MAY_FAIL("sync");
  if (d->held() > d->threshold) d->kept.clear();
  return OK;
}
// Graphs: captures are relaxed ones, of streams beside the first, which other threads use.
static long graphs;
API int cuStreamBeginCapture_v2(void *stream, int mode) {
  ON(stream); NOT_CAPTURED; MAY_FAIL("begin capture");
  if (mode != 2 || s == d) return INVALID_VALUE;
  s->capture = new Graph{d, {}}; s->broken = false; graphs++;
  return OK;
}
API int cuStreamEndCapture(void *stream, Graph **graph) {
  ON(stream); *graph = 0;
  if (!s->capture) return INVALID_VALUE;
  Graph *captured = s->capture; s->capture = 0;
  int code = s->broken ? (int)CAPTURE_INVALIDATED : fault("end capture");
  if (code) { delete captured; graphs--; return code; }
  *graph = captured;
  return OK;
}
API int cuGraphInstantiateWithFlags(Graph **executable, Graph *graph, unsigned long long flags) {
  CURRENT; MAY_FAIL("instantiate"); if (flags || graph->device != d) return INVALID_VALUE;
  *executable = new Graph(*graph); graphs++;
  counts["nodes"] += graph->nodes.size();
  return OK;
}
API int cuGraphLaunch(Graph *executable, void *stream) {
  ON(stream); NOT_CAPTURED; MAY_FAIL("launch a graph");
  if (executable->device != d) return INVALID_HANDLE;
  for (auto &node : executable->nodes) s->begin(node);
  return OK;
}
API int cuGraphExecDestroy(Graph *graph) { HERE; delete graph; graphs--; return OK; }
API int cuGraphDestroy(Graph *graph) { HERE; delete graph; graphs--; return OK; }
API long pretend_graphs() { HERE; long streams = 0; for (auto &d : devices) streams += d.others.size(); return graphs + streams; }
API int cuMemGetInfo_v2(size_t *free, size_t *total) { CURRENT; *total = d->limit; *free = d->limit - d->used - d->held(); return OK; }
API int cuMemAllocFromPoolAsync(Address *at, size_t bytes, void *pool, void *stream) {
  ON(stream); NOT_CAPTURED if (pool != d || !bytes) return INVALID_VALUE;
  MAY_FAIL("alloc");
  uint64_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
  auto same = d->kept.find(pages);
  if (pages < bytes) return OUT_OF_MEMORY;
  if (same != d->kept.end()) { if (--same->second == 0) d->kept.erase(same); }
  else if (pages > d->limit || d->used + d->held() > d->limit - pages) return OUT_OF_MEMORY;
  if (d->top + pages + PAGE > SPAN) { complain("addresses ran out"); return OUT_OF_MEMORY; }
  *at = d->base() + d->top;
  d->top += pages + PAGE; d->used += pages;
  d->blocks[*at] = {bytes, pages, false};
  memset(d->own(*at), 0xA5, bytes); memset(d->own(*at) + bytes, 0xCB, pages - bytes);
  return OK;
}
API int cuMemAllocAsync(Address *at, size_t bytes, void *stream) { Stream *s = stream_at(stream); return cuMemAllocFromPoolAsync(at, bytes, s ? s->device : 0, stream); }
API int cuMemFreeAsync(Address at, void *stream) {
  ON(stream); NOT_CAPTURED counts["free"]++;
  auto found = d->blocks.find(at);
  if (found == d->blocks.end() || found->second.freed) { complain("free: %#llx is not the start of an allocation", at); return INVALID_VALUE; }
  found->second.freed = true;
  s->begin([=] { give_back(d, at); });
  return OK;
}
// Host memory that the device copies by itself, and events, each a place in a stream.
static std::map<const char *, uint64_t> pinned;
static bool is_pinned(const void *at, uint64_t bytes) {
  for (auto &p : pinned) if ((const char *)at >= p.first && (const char *)at + bytes <= p.first + p.second) return true;
  return false;
}
struct Event { Device *device; Stream *stream; uint64_t place; };
static long events;
API int cuMemHostAlloc(void **at, size_t bytes, unsigned flags) {
  CURRENT; MAY_FAIL("pin");
  if (flags & ~7u || !bytes) return INVALID_VALUE;
  *at = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
  memset(*at, 0xA5, bytes);
  pinned[(char *)*at] = bytes;
  return *at ? OK : OUT_OF_MEMORY;
}
API int cuEventCreate(void **event, unsigned flags) { CURRENT; MAY_FAIL("event"); if (flags & ~7u) return INVALID_VALUE; *event = new Event{d, d, 0}; events++; return OK; }
API int cuEventDestroy_v2(void *event) { HERE; delete (Event *)event; events--; return OK; }
API int cuEventRecord(void *event, void *stream) {
  ON(stream); NOT_CAPTURED MAY_FAIL("record");
  Event *e = (Event *)event;
  if (e->device != d) return INVALID_HANDLE;
  e->stream = s; e->place = s->ran + s->queue.size();
  return OK;
}
API int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  ON(stream); NOT_CAPTURED MAY_FAIL("wait for an event");
  Event *e = (Event *)event;
  if (e->device != d || flags) return INVALID_VALUE;
  Stream *other = e->stream; uint64_t place = e->place;
  if (other != s) s->begin([=] { run_until(other, place); });
  return OK;
}
// A millisecond for each piece of work between the two.
API int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  CURRENT;
  Event *from = (Event *)start, *to = (Event *)end;
  if (from->device != d || to->device != d || from->stream != to->stream || to->place < from->place || to->stream->ran < to->place) return INVALID_HANDLE;
  *milliseconds = (float)(to->place - from->place);
  return OK;
}
// Runs what comes before the event, and nothing behind it.
API int cuEventSynchronize(void *event) {
  CURRENT; MAY_FAIL("wait");
  Event *e = (Event *)event;
  if (e->device != d) return INVALID_HANDLE;
  run_until(e->stream, e->place);
  return d->code;
}
API int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) {
  ON(stream); NOT_CAPTURED MAY_FAIL("upload");
  if (!is_device("upload", d, to, bytes) || !is_host("upload", from, bytes)) return INVALID_VALUE;
  // Pinned memory is read when the stream comes to it; other memory has been read when the call returns.
  if (is_pinned(from, bytes)) { s->begin([=] { memcpy(d->own(to), from, bytes); }); return OK; }
  auto copy = std::make_shared<std::vector<char>>((const char *)from, (const char *)from + bytes);
  s->begin([=] { memcpy(d->own(to), copy->data(), bytes); });
  return OK;
}
API int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) {
  ON(stream); NOT_CAPTURED MAY_FAIL("download");
  if (!is_device("download", d, from, bytes) || !is_host("download", to, bytes)) return INVALID_VALUE;
  counts["bytes to the host"] += bytes;
  s->begin([=] { memcpy(to, d->own(from), bytes); });
  return OK;
}
API int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *stream) {
  ON(stream); MAY_FAIL("copy");
  if (!is_device("copy", d, to, bytes) || !is_device("copy", d, from, bytes)) return INVALID_VALUE;
  s->begin([=] { memmove(d->own(to), d->own(from), bytes); });
  return OK;
}
API int cuMemcpyPeerAsync(Address to, void *to_context, Address from, void *from_context, size_t bytes, void *stream) {
  ON(stream); NOT_CAPTURED MAY_FAIL("peer");
  Device *other = (Device *)from_context;
  if (to_context != d || other == d || !is_device("copy between devices", d, to, bytes) || !is_device("copy between devices", other, from, bytes)) return INVALID_VALUE;
  s->begin([=] { memcpy(d->own(to), other->own(from), bytes); });
  return OK;
}
template <class T> static int fill(Address to, T value, size_t len, void *stream) {
  ON(stream); MAY_FAIL("fill");
  if (!is_device("fill", d, to, len * sizeof(T)) || to % sizeof(T)) return INVALID_VALUE;
  s->begin([=] { for (size_t i = 0; i < len; i++) ((T *)d->own(to))[i] = value; });
  return OK;
}
API int cuMemsetD8Async(Address to, unsigned char value, size_t len, void *stream) { return fill(to, value, len, stream); }
API int cuMemsetD16Async(Address to, unsigned short value, size_t len, void *stream) { return fill(to, value, len, stream); }
API int cuMemsetD32Async(Address to, unsigned value, size_t len, void *stream) { return fill(to, value, len, stream); }

// --- for stand-ins of libraries that run on a stream (`blaslt.cpp`)
// Counts a call, and the code that it is to fail with, or 0.
API int pretend_call(const char *what) { HERE; return fault(what); }
// Memory of the stream's device, as the host sees it; null where it is not inside an allocation.
API void *pretend_memory(const char *what, void *stream, Address at, uint64_t bytes) {
  HERE; Stream *s = stream_at(stream);
  if (!s || current != s->device) { complain("%s: no stream of the current device", what); return 0; }
  Device *d = s->device;
  return is_device(what, d, at, bytes) ? d->own(at) : 0;
}
// The device of a stream.
API void *pretend_device(void *stream) { HERE; Stream *s = stream_at(stream); return s ? s->device : 0; }
// The device that is current on this thread.
API void *pretend_current() { return current; }
// Runs `work` when the stream comes to it; a code other than 0 is a fault.
API void pretend_later(void *stream, int (*work)(void *), void *with, void (*drop)(void *)) {
  HERE; Stream *s = stream_at(stream); Device *d = s->device;
  std::shared_ptr<void> kept(with, drop); // (A graph runs it more than once.)
  s->begin([=] { if (int code = work(kept.get())) d->code = code; });
}

// --- modules: "PRETEND CUBIN\n", the capability, the length (8 bytes each), a shared library
struct Function { Device *device; std::string name; const Kernel *kernel; };
struct Module { Device *device; void *library; };
API int cuModuleLoadData(void **module, const void *image) {
  CURRENT; MAY_FAIL("load");
  const char *bytes = (const char *)image; uint64_t head[2];
  if (memcmp(bytes, "PRETEND CUBIN\n", 14)) return INVALID_IMAGE;
  memcpy(head, bytes + 14, sizeof head);
  if (head[0] != uint64_t(d->major * 10 + d->minor)) return NO_BINARY;
  char path[64]; snprintf(path, sizeof path, "/tmp/pretend-module-XXXXXX");
  int file = mkstemp(path);
  if (file < 0 || write(file, bytes + 30, head[1]) != (ssize_t)head[1]) return 999;
  close(file);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  if (!library) { complain("%s", dlerror()); return INVALID_IMAGE; }
  *module = new Module{d, library};
  return OK;
}
API int cuModuleUnload(void *) { CURRENT; return OK; }
API int cuModuleGetFunction(void **function, void *module, const char *name) {
  CURRENT; Module *m = (Module *)module;
  auto kernel = (const Kernel *)dlsym(m->library, (std::string(name) + "__pretend").c_str());
  if (!kernel) return NOT_FOUND;
  *function = new Function{m->device, name, kernel};
  return OK;
}
API int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                       void *stream, void **parameters, void **extra) {
  ON(stream); MAY_FAIL("launch");
  Function *f = (Function *)function;
  if (f->device != d) { complain("launch: `%s` is another device's kernel", f->name.c_str()); return INVALID_HANDLE; }
  if (!gx || !gy || !gz || !bx || !by || !bz || gx > 0x7fffffffu || gy > 65535 || gz > 65535 || (uint64_t)bx * by * bz > 1024 || shared > 48 << 10 || extra) return INVALID_VALUE;
  std::vector<std::vector<char>> arguments;
  for (unsigned i = 0; i < f->kernel->count; i++) {
    const char *at = (const char *)parameters[i];
    if (!at) { complain("launch: `%s` has %u parameters, and only %u arguments came", f->name.c_str(), f->kernel->count, i); return INVALID_VALUE; }
    arguments.emplace_back(at, at + f->kernel->sizes[i]);
    Address address; memcpy(&address, at, f->kernel->sizes[i] < 8 ? f->kernel->sizes[i] : 8);
    if (f->kernel->pointers[i] && address && !is_device("launch", d, address, 0)) {
      // The kernel would fault: it does so when it runs.
      Device *lost = d; s->begin([=] { lost->code = ILLEGAL_ADDRESS; });
      return OK;
    }
  }
  Grid grid = {{gx, gy, gz}, {bx, by, bz}, 0};
  std::string name = f->name; const Kernel *kernel = f->kernel;
  s->begin([=] { if (int code = run(d, name, kernel, grid, arguments)) d->code = code; });
  return OK;
}
static const struct { int code; const char *name, *text; } NAMES[] = {
  {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"}, {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}, {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
  {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}, {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
  {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
  {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}, {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
  {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
  {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
  {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
  {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}, {999, "CUDA_ERROR_UNKNOWN", "unknown error"}};
API int cuGetErrorName(int code, const char **text) { for (auto &n : NAMES) if (n.code == code) { *text = n.name; return OK; } *text = 0; return INVALID_VALUE; }
API int cuGetErrorString(int code, const char **text) { for (auto &n : NAMES) if (n.code == code) { *text = n.text; return OK; } *text = 0; return INVALID_VALUE; }
