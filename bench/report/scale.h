#pragma once

#include <string>
#include <vector>

namespace shoal::bench {

/// A logarithmic axis: values to places on the page.
///
/// Thread-safety: immutable.
class LogScale {
 public:
  /// Where an axis begins and ends on the page; `end` may be less than `begin` (y grows downwards).
  struct Pixels {
    double begin = 0;
    double end = 1;
  };

  /// From the power of `base` at or below `low` to the one at or above `high`; `high` is at least
  /// one power above `low` then. Values must be positive.
  static LogScale Covering(double low, double high, int base, Pixels pixels);

  double Place(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  int base() const { return base_; }

  /// Powers of the base, every one or every n-th, so that there are at most `count_max`.
  std::vector<double> Ticks(int count_max) const;
  /// Values between powers of ten (2, 3, ... 9 times each) for fine lines; none for other bases,
  /// nor over more than four decades.
  std::vector<double> MinorTicks() const;

 private:
  LogScale(double low, double high, int base, Pixels pixels)
      : low_(low), high_(high), base_(base), pixels_(pixels) {}

  double low_;
  double high_;
  int base_;
  Pixels pixels_;
};

/// "8 B", "4 KiB", "256 MiB".
std::string BytesLabel(double bytes);

/// "1", "10", "1k", "1M", "0.1", "0.01"; below 0.001 "1e-4".
std::string NumberLabel(double value);

/// "500 ns", "20 µs", "3 ms", "1 s" from microseconds.
std::string MicrosecondsLabel(double microseconds);

}  // namespace shoal::bench
