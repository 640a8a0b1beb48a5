#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace shoal::fuzz {

/// Inputs made from seeds by small random damage: bits, bytes, lengths, numbers at the edge of
/// their range, pieces of other seeds.
///
/// The same seed number and the same seeds give the same inputs, on every machine.
class Mutator {
 public:
  /// `seeds` is not empty. No input gets longer than `bytes_max`, except a seed that already is.
  Mutator(std::vector<std::string> seeds, uint64_t seed_number, size_t bytes_max);

  /// The next input. Valid until the call after.
  const std::string& Next();

 private:
  void Damage();
  void FlipBit();
  void SetBytes();
  void Insert();
  void Erase();
  void RepeatRange();
  void OverwriteNumber();
  void SpliceSeed();

  /// Any number in [0, bound); 0 for a bound of 0.
  size_t Below(size_t bound);

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
  size_t bytes_max_;
  std::string input_;
};

}  // namespace shoal::fuzz
