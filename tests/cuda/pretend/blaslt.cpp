// A pretend cublasLt, `libcublasLt.so.13`: plain products over the memory of the pretend driver, on its stream. It implements the functions
// that castiron calls as NVIDIA documents them, and is stricter:
//
// - Each matrix must be inside one allocation of the current device, aligned as the preference promised; the result must not overlap the
//   factors.
// - An algorithm is valid only for the layouts it was found for, and needs, and writes to, a workspace if one was allowed.
// - Reductions in the result's elements must have been excluded; only numbers that castiron uses are known.
//
// `pretend_fault` of the driver makes calls fail: "blas create", "blas heuristic", "blas matmul". $PRETEND_BLAS_SUPPORTS=0: no product is
// supported; =2: none with a row as epilogue.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#include <atomic>
#include <complex>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))
enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, C_32F = 4, C_64F = 5, R_32I = 10, R_16BF = 14 };
static std::atomic<long> made;
// Descriptions that nobody has destroyed.
API long pretend_blas_live() { return made; }

template <class F> static F *of_driver(const char *name) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return library ? (F *)dlsym(library, name) : 0;
}
static int call(const char *what) { static auto f = of_driver<int(const char *)>("pretend_call"); return f(what); }
static void *current() { static auto f = of_driver<void *()>("pretend_current"); return f(); }
static char *memory(const char *what, void *stream, uint64_t at, uint64_t bytes) {
  static auto f = of_driver<void *(const char *, void *, unsigned long long, uint64_t)>("pretend_memory");
  return (char *)f(what, stream, at, bytes);
}
static void *device_of(void *stream) { static auto f = of_driver<void *(void *)>("pretend_device"); return f(stream); }
static void later(void *stream, int (*work)(void *), void *with, void (*drop)(void *)) {
  static auto f = of_driver<void(void *, int (*)(void *), void *, void (*)(void *))>("pretend_later");
  f(stream, work, with, drop);
}
static int wrong(const char *what) { fprintf(stderr, "pretend cublasLt: %s\n", what); return INVALID_VALUE; }

struct Handle { void *device; };
struct Product { int compute, scale, trans[2] = {0, 0}; unsigned epilogue = 1; uint64_t bias = 0; };
struct Layout { int type; uint64_t rows, columns; int64_t lead; int32_t batch = 1; int64_t step = 0; };
struct Preference { uint64_t workspace = 0; uint32_t reductions = 7, aligned[4] = {256, 256, 256, 256}; };
// The content of the 64 bytes of an algorithm.
struct Algorithm { uint64_t magic, hash; uint32_t aligned[4]; uint64_t workspace, rest[3]; };
static_assert(sizeof(Algorithm) == 64, "");
struct Result { Algorithm algorithm; size_t workspace; int state; float waves; int reserved[4]; };
static const uint64_t MAGIC = 0x6c74616c676f7269;

API int cublasLtGetProperty(int which, int *value) { *value = which == 0 ? 13 : which == 1 ? 1 : 2; return SUCCESS; }
API int cublasLtCreate(Handle **handle) {
  if (int code = call("blas create")) return code;
  if (!current()) return NOT_INITIALIZED;
  *handle = new Handle{current()};
  return SUCCESS;
}
API int cublasLtMatmulDescCreate(Product **p, int compute, int scale) { made++; *p = new Product; (*p)->compute = compute; (*p)->scale = scale; return SUCCESS; }
API int cublasLtMatmulDescDestroy(Product *p) { made--; delete p; return SUCCESS; }
API int cublasLtMatmulDescSetAttribute(Product *p, int which, const void *value, size_t bytes) {
  if ((which == 3 || which == 4) && bytes == 4) { memcpy(&p->trans[which - 3], value, 4); return SUCCESS; }
  if (which == 7 && bytes == 4) { memcpy(&p->epilogue, value, 4); return SUCCESS; }
  if (which == 8 && bytes == 8) { memcpy(&p->bias, value, 8); return SUCCESS; }
  return wrong("no such attribute of a product");
}
API int cublasLtMatrixLayoutCreate(Layout **l, int type, uint64_t rows, uint64_t columns, int64_t lead) {
  if (!rows || !columns || lead < (int64_t)rows) return wrong("a layout whose columns overlap, or of nothing");
  made++; *l = new Layout; (*l)->type = type; (*l)->rows = rows; (*l)->columns = columns; (*l)->lead = lead;
  return SUCCESS;
}
API int cublasLtMatrixLayoutDestroy(Layout *l) { made--; delete l; return SUCCESS; }
API int cublasLtMatrixLayoutSetAttribute(Layout *l, int which, const void *value, size_t bytes) {
  if (which == 5 && bytes == 4) { memcpy(&l->batch, value, 4); return l->batch > 0 ? SUCCESS : wrong("a batch of none"); }
  if (which == 6 && bytes == 8) { memcpy(&l->step, value, 8); return SUCCESS; }
  return wrong("no such attribute of a layout");
}
API int cublasLtMatmulPreferenceCreate(Preference **p) { made++; *p = new Preference; return SUCCESS; }
API int cublasLtMatmulPreferenceDestroy(Preference *p) { made--; delete p; return SUCCESS; }
API int cublasLtMatmulPreferenceSetAttribute(Preference *p, int which, const void *value, size_t bytes) {
  if (which == 1 && bytes == 8) { memcpy(&p->workspace, value, 8); return SUCCESS; }
  if (which == 3 && bytes == 4) { memcpy(&p->reductions, value, 4); return SUCCESS; }
  if (which >= 5 && which <= 8 && bytes == 4) { memcpy(&p->aligned[which - 5], value, 4); return SUCCESS; }
  return wrong("no such attribute of a preference");
}

static uint64_t width(int type) { return type == R_8I ? 1 : type == R_16F || type == R_16BF ? 2 : type == R_32F || type == R_32I ? 4 : type == C_64F ? 16 : 8; }
static bool known(const Product *p, int type) {
  switch (type) {
    case R_16F: case R_16BF: case R_32F: return p->compute == 68 && p->scale == R_32F;
    case R_64F: return p->compute == 70 && p->scale == R_64F;
    case C_32F: return p->compute == 68 && p->scale == C_32F;
    case C_64F: return p->compute == 70 && p->scale == C_64F;
    case R_32I: return p->compute == 72 && p->scale == R_32I;
    default: return false;
  }
}
// What the layouts and the product are, as a number.
static uint64_t hash(const Product *p, const Layout *const l[4]) {
  uint64_t h = 1469598103934665603u;
  auto add = [&](uint64_t x) { h = (h ^ x) * 1099511628211u; };
  add(p->compute); add(p->trans[0]); add(p->trans[1]); add(p->epilogue);
  for (int i = 0; i < 4; i++) { add(l[i]->type); add(l[i]->rows); add(l[i]->columns); add(l[i]->lead); add(l[i]->batch); add(l[i]->step); }
  return h;
}
static int fits(const Product *p, const Layout *const l[4]) {
  const int factors = l[3]->type == R_32I ? R_8I : l[3]->type;
  for (int i = 0; i < 4; i++) if (l[i]->type != (i < 2 ? factors : l[3]->type) || l[i]->batch != l[3]->batch) return wrong("layouts of several dtypes or batches");
  if (!known(p, l[3]->type)) return wrong("numbers that are not those of the dtype");
  for (int i = 0; i < 2; i++) if (p->trans[i] != 0 && p->trans[i] != 1) return wrong("neither as it is nor transposed");
  uint64_t m = p->trans[0] ? l[0]->columns : l[0]->rows, k = p->trans[0] ? l[0]->rows : l[0]->columns;
  uint64_t k2 = p->trans[1] ? l[1]->columns : l[1]->rows, n = p->trans[1] ? l[1]->rows : l[1]->columns;
  if (k != k2 || m != l[3]->rows || n != l[3]->columns || m != l[2]->rows || n != l[2]->columns) return wrong("sizes that do not fit");
  if (l[3]->batch > 1 && l[3]->step < (int64_t)(l[3]->lead * (n - 1) + m)) return wrong("results that overlap");
  if (l[3]->batch > 65535) return wrong("a batch of more than a grid has");
  if (p->epilogue != 1 && p->epilogue != 4) return wrong("no such epilogue");
  return SUCCESS;
}
API int cublasLtMatmulAlgoGetHeuristic(Handle *h, Product *p, Layout *a, Layout *b, Layout *c, Layout *d, Preference *preference, int asked,
                                       Result *results, int *count) {
  const Layout *l[4] = {a, b, c, d};
  if (int code = call("blas heuristic")) return code;
  if (asked < 1 || h->device != current()) return wrong("no room for an algorithm, or another device");
  if (int code = fits(p, l)) return code;
  if (preference->reductions & 5) return wrong("reductions in the result's elements are not excluded");
  const char *supports = getenv("PRETEND_BLAS_SUPPORTS");
  *count = 0;
  if (supports && (supports[0] == '0' || (supports[0] == '2' && p->epilogue == 4))) return NOT_SUPPORTED;
  // Bytes are multiplied where the sums run along memory in both factors, and sizes are multiples of four.
  if (d->type == R_32I && (!p->trans[0] || p->trans[1] || (a->rows | a->columns | b->columns | a->lead | b->lead) & 3)) return NOT_SUPPORTED;
  if (p->epilogue == 4 && d->type != R_16F && d->type != R_16BF && d->type != R_32F) return NOT_SUPPORTED;
  Algorithm &algorithm = results->algorithm;
  memset(results, 0, sizeof *results);
  algorithm.magic = MAGIC; algorithm.hash = hash(p, l);
  memcpy(algorithm.aligned, preference->aligned, sizeof algorithm.aligned);
  // (Products of one row need none.)
  // (`PRETEND_BLAS_WORKSPACE=0`: none needs one. The pretend driver copies all memory at each launch.)
  const char *workspace = getenv("PRETEND_BLAS_WORKSPACE");
  const bool needs = !workspace || strcmp(workspace, "0");
  algorithm.workspace = results->workspace = needs && preference->workspace >= 4096 && d->columns > 1 ? 4096 : 0;
  *count = 1;
  return SUCCESS;
}

// --- elements
static float of_half(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, rest = bits & 0x7fff, out;
  if (rest >= 0x7c00) out = 0x7f800000 | (rest & 0x3ff) << 13;
  else { float small = rest & 0x7c00 ? 0 : rest * 0x1p-24f; if (rest & 0x7c00) out = (rest << 13) + (112u << 23); else memcpy(&out, &small, 4); }
  out |= sign;
  float x; memcpy(&x, &out, 4); return x;
}
// Rounded to the nearest, to even where two are.
static uint16_t to_half(float x) {
  uint32_t bits; memcpy(&bits, &x, 4);
  uint16_t sign = bits >> 16 & 0x8000; bits &= 0x7fffffff;
  if (bits > 0x7f800000) return sign | 0x7e00;
  if (bits >= 0x477ff000) return sign | 0x7c00;
  if (bits < 0x38800000) { float magnitude; memcpy(&magnitude, &bits, 4); return sign | (uint16_t)__builtin_rintf(magnitude * 0x1p24f); }
  uint32_t odd = bits >> 13 & 1;
  return sign | (uint16_t)((bits - (112u << 23) + 0xfff + odd) >> 13);
}
static float of_brain(uint16_t bits) { uint32_t out = uint32_t(bits) << 16; float x; memcpy(&x, &out, 4); return x; }
static uint16_t to_brain(float x) {
  uint32_t bits; memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >> 16) | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
struct Half { typedef float Sum; static float get(const char *at) { uint16_t b; memcpy(&b, at, 2); return of_half(b); } static void set(char *at, float x) { uint16_t b = to_half(x); memcpy(at, &b, 2); } };
struct Brain { typedef float Sum; static float get(const char *at) { uint16_t b; memcpy(&b, at, 2); return of_brain(b); } static void set(char *at, float x) { uint16_t b = to_brain(x); memcpy(at, &b, 2); } };
struct Byte { typedef int32_t Sum; static int32_t get(const char *at) { return *(const signed char *)at; } };
template <class T> struct Plain { typedef T Sum; static T get(const char *at) { T x; memcpy(&x, at, sizeof x); return x; } static void set(char *at, T x) { memcpy(at, &x, sizeof x); } };

struct Work {
  int type; uint64_t m, n, k; int trans[2]; int32_t batch; int64_t lead[4], step[4];
  char *at[4], *bias, *workspace; uint64_t used; char alpha[16], beta[16];
};
template <class T, class R = T> static void multiply(const Work &w) {
  typedef typename T::Sum Sum;
  uint64_t size = width(w.type), factor = width(w.type == R_32I ? R_8I : w.type);
  Sum alpha, beta; memcpy(&alpha, w.alpha, sizeof alpha); memcpy(&beta, w.beta, sizeof beta);
  for (int64_t batch = 0; batch < w.batch; batch++) {
    auto at = [&](int of, uint64_t row, uint64_t column) { return w.at[of] + (batch * w.step[of] + column * w.lead[of] + row) * (of < 2 ? factor : size); };
    for (uint64_t j = 0; j < w.n; j++) for (uint64_t i = 0; i < w.m; i++) {
      Sum sum{};
      for (uint64_t k = 0; k < w.k; k++)
        sum += T::get(w.trans[0] ? at(0, k, i) : at(0, i, k)) * T::get(w.trans[1] ? at(1, j, k) : at(1, k, j));
      sum = alpha * sum;
      if (beta != Sum{}) sum += beta * R::get(at(2, i, j));
      if (w.bias) sum += R::get(w.bias + i * size);
      R::set(at(3, i, j), sum);
    }
  }
}
static int run(void *with) {
  Work *w = (Work *)with;
  if (w->workspace) memset(w->workspace, 0x5A, w->used);
  switch (w->type) {
    case R_16F: multiply<Half>(*w); break;
    case R_16BF: multiply<Brain>(*w); break;
    case R_32F: multiply<Plain<float>>(*w); break;
    case R_64F: multiply<Plain<double>>(*w); break;
    case C_32F: multiply<Plain<std::complex<float>>>(*w); break;
    case C_64F: multiply<Plain<std::complex<double>>>(*w); break;
    case R_32I: multiply<Byte, Plain<int32_t>>(*w); break;
  }
  return 0;
}
// How many elements a batch of matrices reaches over.
static uint64_t reach(const Layout *l) { return (l->batch - 1) * l->step + (l->columns - 1) * l->lead + l->rows; }

API int cublasLtMatmul(Handle *h, Product *p, const void *alpha, const void *A, Layout *a, const void *B, Layout *b, const void *beta, const void *C,
                       Layout *c, void *D, Layout *d, const Algorithm *algorithm, void *workspace, size_t bytes, void *stream) {
  if (int code = call("blas matmul")) return code;
  const Layout *l[4] = {a, b, c, d};
  const void *addresses[4] = {A, B, C, D};
  const char *names[4] = {"A", "B", "C", "D"};
  if (h->device != device_of(stream) || current() != h->device) return wrong("another device's stream");
  if (int code = fits(p, l)) return code;
  if (!algorithm || algorithm->magic != MAGIC || algorithm->hash != hash(p, l)) return wrong("an algorithm for other matrices");
  Work *w = new Work();
  uint64_t size = width(d->type);
  w->type = d->type; w->batch = d->batch; w->m = d->rows; w->n = d->columns; w->k = p->trans[0] ? a->rows : a->columns;
  memcpy(w->trans, p->trans, sizeof w->trans);
  uint64_t scale = p->scale == R_32F || p->scale == R_32I ? 4 : p->scale == C_64F ? 16 : 8;
  memcpy(w->alpha, alpha, scale); memcpy(w->beta, beta, scale);
  for (int i = 0; i < 4; i++) {
    uint64_t at = (uint64_t)addresses[i];
    uint64_t size = width(l[i]->type);
    if (at % algorithm->aligned[i] || at % size) return wrong("an address that is not aligned as promised");
    w->at[i] = memory(names[i], stream, at, reach(l[i]) * size);
    if (!w->at[i]) return INVALID_VALUE;
    w->lead[i] = l[i]->lead; w->step[i] = l[i]->step;
  }
  char *end = w->at[3] + reach(d) * size;
  for (int i = 0; i < 2; i++) if (w->at[i] < end && w->at[3] < w->at[i] + reach(l[i]) * width(l[i]->type)) return wrong("a result over a factor");
  bool in_place = C == D;
  if (in_place ? c->lead != d->lead || (c->batch > 1 && c->step != d->step) : w->at[2] < end && w->at[3] < w->at[2] + reach(c) * size)
    return wrong("a result over another input");
  if (p->epilogue == 4) {
    if (p->bias % 16 || p->bias % std::min(algorithm->aligned[3], 16u)) return wrong("a row that is not aligned");
    if (!(w->bias = memory("bias", stream, p->bias, d->rows * size))) return INVALID_VALUE;
  }
  if (algorithm->workspace) {
    if (bytes < algorithm->workspace || (uint64_t)workspace % 256) return wrong("too little workspace");
    if (!(w->workspace = memory("workspace", stream, (uint64_t)workspace, bytes))) return INVALID_VALUE;
    w->used = bytes;
  }
  later(stream, run, w, [](void *w) { delete (Work *)w; });
  return SUCCESS;
}
