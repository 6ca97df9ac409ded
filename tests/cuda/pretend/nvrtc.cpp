// A pretend NVRTC, `libnvrtc.so`: compiles a kernel's text with the C++ compiler that built it, behind `executor.h`, into a shared
// library, which counts as a CUBIN of the architecture that was asked for. Strict where NVRTC has nothing: no headers.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <mutex>
#include <regex>
#include <sstream>
#include <string>

#include "ceilings.h"

#define API extern "C" __attribute__((visibility("default")))
enum { OK = 0, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6 };
struct Program { std::string text, name, log, cubin; };
static std::mutex lock; // one compilation at a time, as NVRTC
static long fault_at, compilations, programs;

// The `at`-th compilation from now on fails.
API void pretend_compile_fault(long at) { fault_at = at; }
API long pretend_compilations() { return compilations; }
API long pretend_programs() { return programs; }

API int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return OK; }
API int nvrtcCreateProgram(Program **program, const char *text, const char *name, int headers, const char *const *, const char *const *) {
  if (headers) return 3;
  programs++;
  *program = new Program{text, name ? name : "default_program", "", ""};
  return OK;
}
API int nvrtcDestroyProgram(Program **program) { delete *program; *program = 0; programs--; return OK; }
static std::string read(const std::string &path) { std::ifstream in(path, std::ios::binary); std::stringstream all; all << in.rdbuf(); return all.str(); }

// What the command `$PRETEND_BESIDE` says of the text in this file, such as `python3 tests/cuda/pretend/nvrtc.py`; nothing where it
// takes it, or where there is no command.
static std::string beside(const std::string &file) {
  const char *command = getenv("PRETEND_BESIDE");
  if (!command || !*command) return "";
  const std::string log = file + ".beside";
  const int refused = system((std::string(command) + " " + file + " > " + log + " 2>&1").c_str());
  const std::string said = read(log);
  unlink(log.c_str());
  return refused ? "beside:\n" + said : "";
}

// `$PRETEND_MISTAKE`, `before=>after`, changes every text that it stands in: tests ask whether they notice.
static long mistakes;
API long pretend_mistakes() { return mistakes; }
static std::string mistaken(std::string text) {
  const char *mistake = getenv("PRETEND_MISTAKE");
  if (!mistake || !*mistake) return text;
  const std::string all = mistake;
  const size_t arrow = all.find("=>");
  const std::string before = all.substr(0, arrow), after = all.substr(arrow + 2);
  for (size_t at = 0; (at = text.find(before, at)) != std::string::npos; at += after.size()) { text.replace(at, before.size(), after); mistakes++; }
  return text;
}

// Checks the length of a text against the ceiling for its kernel.
static std::string too_long(const std::string &text) {
  std::regex kernel("(?:extern\\s+\"C\"\\s+__global__|CI_KERNEL)\\s+void\\s+(?:__launch_bounds__\\s*\\([^)]*\\)\\s*)?(\\w+)\\s*\\(");
  std::string name;
  for (std::sregex_iterator k(text.begin(), text.end(), kernel), end; k != end; ++k) name = (*k)[1];
  // (`$PRETEND_TEXTS` is a file to list them in.)
  if (const char *list = getenv("PRETEND_TEXTS")) std::ofstream(list, std::ios::app) << name + " " + std::to_string(text.size()) + "\n" << std::flush;
  for (auto &c : ceilings)
    if (name == c.kernel && text.size() > c.bytes)
      return "the text of a kernel `" + name + "` has " + std::to_string(text.size()) + " bytes, and `ceilings.h` allows " + std::to_string(c.bytes);
  return "";
}

API int nvrtcCompileProgram(Program *p, int count, const char *const *options) {
  std::lock_guard<std::mutex> held(lock);
  compilations++;
  if (fault_at && --fault_at == 0) { p->log = "pretend NVRTC: asked to fail"; return COMPILATION; }
  uint64_t architecture = 0; bool fmad = true;
  for (int i = 0; i < count; i++) {
    std::string option = options[i]; std::smatch m;
    if (std::regex_match(option, m, std::regex("--gpu-architecture=sm_([0-9]+)"))) architecture = std::stoul(m[1]);
    else if (option == "--fmad=false") fmad = false;
    else if (option != "--std=c++17") { p->log = "nvrtc: error: unrecognized option " + option + " found"; return INVALID_OPTION; }
  }
  if (architecture < 75) { p->log = "nvrtc: error: invalid value for --gpu-architecture (-arch)"; return INVALID_OPTION; }
  if (std::string wrong = too_long(p->text); !wrong.empty()) { p->log = wrong; return COMPILATION; }
  // The device library, which most texts begin with, is compiled once, with `executor.h` (and without fused multiplications).
  static const std::string library_text = read(PRETEND_LIBRARY);
  const std::string whole = mistaken(p->text);
  const bool shared = !fmad && whole.compare(0, library_text.size(), library_text) == 0;
  const size_t from = shared ? library_text.size() : 0, line = 1 + std::count(whole.begin(), whole.begin() + from, '\n');
  // Memory that a launch sizes is an array here.
  std::string text = std::regex_replace(whole.substr(from), std::regex("extern\\s+__shared__\\s+([^;\\[]*?)(\\w+)\\s*\\[\\s*\\]\\s*;"), "$1 *$2 = ($1 *)pretend_dynamic;");
  // Instructions of PTX are functions here, those that `executor.h` knows.
  std::regex ptx("asm\\s*(?:volatile\\s*)?\\(\"([\\w.]+) %0, %1;\"\\s*:\\s*\"=\\w\"\\(([^()]*)\\)\\s*:\\s*\"\\w\"\\(([^()]*)\\)\\)");
  for (std::smatch m; std::regex_search(text, m, ptx);) {
    std::string name = m[1];
    for (char &c : name) if (c == '.') c = '_';
    text = m.prefix().str() + "pretend_ptx_" + name + "(" + m[2].str() + ", " + m[3].str() + ")" + m.suffix().str();
  }
  char folder[] = "/tmp/pretend-nvrtc-XXXXXX";
  if (!mkdtemp(folder)) return 1;
  std::string at = folder, source = at + "/kernel.cpp", library = at + "/kernel.so", log = at + "/log";
  const bool barriers = std::regex_search(text, std::regex("__sync|_sync\\s*\\("));
  {
    std::ofstream out(source);
    out << "namespace {\n#line " << line << " \"" << p->name << "\"\n" << text << "\n}\n";
    std::regex kernel("(?:extern\\s+\"C\"\\s+__global__|CI_KERNEL)\\s+void\\s+(?:__launch_bounds__\\s*\\([^)]*\\)\\s*)?(\\w+)\\s*\\(");
    for (std::sregex_iterator k(text.begin(), text.end(), kernel), end; k != end; ++k) out << "PRETEND_KERNEL(" << (*k)[1] << ", " << barriers << ")\n";
  }
  // The text alone, with no folder to find a header in.
  std::string alone = at + "/" + p->name;
  std::ofstream(alone) << p->text << std::flush;
  const std::string said = beside(alone);
  std::ofstream(alone) << text;
  std::string command = "cd " + at + " && " PRETEND_COMPILER " -std=c++17 -E -x c++ -nostdinc -nostdinc++ -D__CUDACC_RTC__ -o " + library + " " + p->name + " 2> " + log;
  // (A text without the word includes nothing. Functions of libm are found in the test, which is linked with it: that saves linking time.)
  bool includes = text.find("include") != std::string::npos && (system(command.c_str()) || read(library).find("\n# 1 \"/") != std::string::npos);
  command = PRETEND_COMPILER " " PRETEND_FLAGS " -nostdlib -ffp-contract=";
  command += std::string(fmad ? "fast" : "off") + " -include " PRETEND_HEADERS "/" + (shared ? "library" : "executor") + ".h -o " + library + " " + source + " " PRETEND_HEADERS "/executor.o 2> " + log;
  int failed = includes || system(command.c_str());
  p->log = read(log) + said;
  failed = failed || !said.empty();
  if (!failed) {
    std::string image = read(library); uint64_t head[2] = {architecture, image.size()};
    p->cubin = "PRETEND CUBIN\n" + std::string((char *)head, sizeof head) + image;
  }
  for (auto &path : {source, alone, library, log}) unlink(path.c_str());
  rmdir(folder);
  return failed ? COMPILATION : OK;
}
API int nvrtcGetCUBINSize(Program *p, size_t *size) { if (p->cubin.empty()) return INVALID_PROGRAM; *size = p->cubin.size(); return OK; }
API int nvrtcGetCUBIN(Program *p, char *to) { memcpy(to, p->cubin.data(), p->cubin.size()); return OK; }
API int nvrtcGetProgramLogSize(Program *p, size_t *size) { *size = p->log.size() + 1; return OK; }
API int nvrtcGetProgramLog(Program *p, char *to) { memcpy(to, p->log.c_str(), p->log.size() + 1); return OK; }
