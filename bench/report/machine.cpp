#include "report/machine.hpp"

#include "support/instruction_set.hpp"

#include <array>
#include <ctime>
#include <fstream>
#include <string>
#include <sys/utsname.h>
#include <thread>

namespace headwise::report {

namespace {

std::string cpu_name() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);) {
    if (!line.starts_with("model name") && !line.starts_with("Model")) continue;
    const std::size_t at = line.find(": ");
    if (at != std::string::npos) return line.substr(at + 2);
  }
  return "unknown";
}

std::string system_name() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + " " + name.release + ", " + name.machine;
}

std::string compiler_name() {
#if defined(__clang__)
  return "Clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
         std::to_string(__clang_patchlevel__);
#elif defined(__GNUC__)
  return "GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
         std::to_string(__GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

std::string optimisation() {
#if defined(__OPTIMIZE__)
  return "optimised";
#else
  return "not optimised: times mean nothing";
#endif
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text{};
  const std::tm* parts = std::localtime(&now);
  if (parts == nullptr || std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", parts) == 0)
    return "unknown";
  return text.data();
}

}  // namespace

MachineFacts machine_facts() {
  MachineFacts facts;
  facts.cpu = cpu_name();
  facts.system = system_name();
  facts.compiler = compiler_name() + ", " + optimisation();
  facts.compiled_for = bench::compiled_instruction_set();
  facts.date = today();
  facts.cores = int(std::thread::hardware_concurrency());
  return facts;
}

}  // namespace headwise::report
