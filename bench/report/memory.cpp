#include "report/memory.hpp"

#include "report/attention_calls.hpp"
#include "report/numbers.hpp"

#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace headwise::report {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// A line of /proc/self/status in bytes: VmRSS is the memory now, VmHWM the most that there ever was.
double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(name + ":")) continue;
    double kibibytes = 0;
    std::istringstream(line.substr(name.size() + 1)) >> kibibytes;
    return kibibytes * 1024;
  }
  return unknown;
}

/// Runs the call in a child and returns by how much its memory grew at most.
template <class Call>
double growth_of(Call&& call) {
  int ends[2];
  if (pipe(ends) != 0) return unknown;
  const pid_t child = fork();
  if (child < 0) return unknown;
  if (child == 0) {
    const double before = status_bytes("VmRSS");
    call();
    const double growth = status_bytes("VmHWM") - before;
    const bool written = write(ends[1], &growth, sizeof growth) == ssize_t(sizeof growth);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  double growth = unknown;
  if (read(ends[0], &growth, sizeof growth) != ssize_t(sizeof growth)) growth = unknown;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return growth;
}

}  // namespace

std::vector<MemoryUse> measure_memory(Index longest, Progress& progress) {
  std::vector<MemoryUse> uses;
  for (Index seq_len = 1024; seq_len <= longest; seq_len *= 2) {
    const Operands operands = make_operands(seq_len);
    for (const Pattern pattern : patterns) {
      progress.step("memory over " + grouped(seq_len) + " tokens", std::string(name_of(pattern)));
      MemoryUse use{pattern, seq_len, 0, 0};
      use.forward_bytes = growth_of([&] { (void)run_forward(pattern, operands); });
      use.backward_bytes = growth_of([&] {
        const Attended<float> attended = run_forward(pattern, operands);
        (void)run_backward(pattern, operands, attended);
      });
      if (use.forward_bytes > 0 && use.backward_bytes > 0) uses.push_back(use);
    }
  }
  return uses;
}

}  // namespace headwise::report
