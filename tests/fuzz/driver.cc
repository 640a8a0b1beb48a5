// Runs one fuzz target without libFuzzer: every seed as it is, then damaged seeds for a while.
// Built where the compiler has no libFuzzer; the targets are the same (cmake/ShoalTests.cmake).

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Defined by the sanitizers' runtime where there is one.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using std::chrono::steady_clock;

constexpr size_t kBytesMax = size_t{1} << 16;
constexpr int64_t kRunsBetweenLooks = 64;  // At the clock.

struct Options {
  std::string corpus;
  std::string found = ".";  // Where an input that kills the target is left.
  std::vector<std::string> files;
  double seconds = 0.0;
  uint64_t seed = 1;
};

// The input in hand, for the handler that runs when the target dies. Not a value that a function
// could take: a signal handler has no argument of ours.
const char* current_data = nullptr;
size_t current_bytes = 0;
std::string crash_path;  // Set once, before a handler can run.

void SaveCurrentInput() {
  const int file = open(crash_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  const ssize_t written = write(file, current_data, current_bytes);
  close(file);
  if (written < 0) return;
  for (const char* text : {"the input is in ", crash_path.c_str(), "\n"}) {
    if (write(STDERR_FILENO, text, std::string_view(text).size()) < 0) return;
  }
}

void OnDeath(int signal_number) {
  SaveCurrentInput();
  // The handler was reset as it was entered: this ends the process as it would have ended.
  raise(signal_number);
}

void WatchForDeath() {
  // With a sanitizer its own handlers report first, then call back.
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(SaveCurrentInput);
  struct sigaction action = {};
  action.sa_handler = OnDeath;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  sigaction(SIGABRT, &action, nullptr);
  if (__sanitizer_set_death_callback != nullptr) return;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(number, &action, nullptr);
}

bool TakeOption(std::string_view argument, std::string_view name, std::string* value) {
  if (argument.substr(0, name.size()) != name) return false;
  *value = argument.substr(name.size());
  return true;
}

Options ParseOptions(int count, char** arguments) {
  Options options;
  std::string value;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (TakeOption(argument, "--corpus=", &options.corpus)) continue;
    if (TakeOption(argument, "--found=", &options.found)) continue;
    if (TakeOption(argument, "--seconds=", &value)) {
      options.seconds = std::atof(value.c_str());
    } else if (TakeOption(argument, "--seed=", &value)) {
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else {
      options.files.emplace_back(argument);
    }
  }
  if (options.seed == 0) options.seed = std::random_device()();
  return options;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void RunOne(const std::string& input) {
  current_data = input.data();
  current_bytes = input.size();
  // A copy of exact size: a sanitizer sees the first byte read beyond it, which the spare
  // capacity of a string would hide.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::vector<std::string> ReadCorpus(const Options& options) {
  std::vector<std::filesystem::path> paths(options.files.begin(), options.files.end());
  if (!options.corpus.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(options.corpus)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());  // A folder has no order of its own.
  std::vector<std::string> seeds;
  seeds.reserve(paths.size());
  for (const auto& path : paths) seeds.push_back(ReadFile(path));
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  const std::vector<std::string> seeds = ReadCorpus(options);
  if (seeds.empty()) {
    std::fprintf(stderr, "no seed: give --corpus=FOLDER or files\n");
    return 2;
  }
  crash_path = options.found + "/crash-" + std::to_string(options.seed);
  WatchForDeath();
  for (const std::string& seed : seeds) RunOne(seed);

  const auto end = steady_clock::now() + std::chrono::duration<double>(options.seconds);
  shoal::fuzz::Mutator mutator(seeds, options.seed, kBytesMax);
  int64_t runs = 0;
  while (steady_clock::now() < end) {
    for (int64_t i = 0; i < kRunsBetweenLooks; ++i) RunOne(mutator.Next());
    runs += kRunsBetweenLooks;
  }
  std::printf("%zu seeds, %" PRId64 " damaged inputs in %.1f s, --seed=%" PRIu64 "\n", seeds.size(),
              runs, options.seconds, options.seed);
  return 0;
}
