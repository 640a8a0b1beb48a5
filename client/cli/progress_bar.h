#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "shoal/options.h"

namespace shoal::cli {

/// How a bar looks at one moment.
struct ProgressState {
  std::string label;
  int64_t bytes_done = 0;
  int64_t bytes_total = 0;
  std::chrono::nanoseconds elapsed{0};
};

struct ProgressStyle {
  int columns = 80;
  bool unicode = false;
  bool color = false;
};

/// "put x  [#####-----]  50%  512 MiB of 1 GiB  1.20 GiB/s  0:03 left", cut to the columns.
std::string RenderProgress(const ProgressState& state, const ProgressStyle& style);

/// A bar for one transfer, redrawn in place at most ten times a second. It shows only when the
/// transfer takes longer than half a second, and its line is wiped at the end.
///
/// Not thread-safe. `out` outlives it.
class ProgressBar {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  struct Options {
    bool enabled = false;  ///< False: nothing is printed.
    ProgressStyle style;
    std::string label;
    Clock now = &std::chrono::steady_clock::now;
  };

  ProgressBar(std::ostream& out, Options options);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Update(int64_t bytes_done, int64_t bytes_total);

  /// To hand to a call; the bar outlives it. Empty if not enabled.
  Progress Callback();

 private:
  std::ostream& out_;
  const Options options_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_draw_;
  bool drawn_ = false;
};

}  // namespace shoal::cli
