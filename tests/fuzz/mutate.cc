#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace shoal::fuzz {
namespace {

constexpr size_t kDamagesMax = 6;
constexpr size_t kInsertMax = 64;

// Where lengths, counts and products of them tend to go wrong.
constexpr std::array<uint64_t, 14> kEdges = {0,          1,          0x7F,       0x80,
                                             0xFF,       0x7FFF,     0xFFFF,     0x7FFFFFFF,
                                             0x80000000, 0xFFFFFFFF, 1ULL << 32, 0x7FFFFFFFFFFFFFFF,
                                             1ULL << 63, ~0ULL};

}  // namespace

Mutator::Mutator(std::vector<std::string> seeds, uint64_t seed_number, size_t bytes_max)
    : seeds_(std::move(seeds)), random_(seed_number), bytes_max_(bytes_max) {
  SHOAL_CHECK(!seeds_.empty());
}

const std::string& Mutator::Next() {
  input_ = seeds_[Below(seeds_.size())];
  const size_t damages = 1 + Below(kDamagesMax);
  for (size_t i = 0; i < damages; ++i) Damage();
  return input_;
}

// Not std::uniform_int_distribution, whose numbers differ between standard libraries.
size_t Mutator::Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

void Mutator::Damage() {
  switch (Below(7)) {
    case 0:
      return FlipBit();
    case 1:
      return SetBytes();
    case 2:
      return Insert();
    case 3:
      return Erase();
    case 4:
      return RepeatRange();
    case 5:
      return OverwriteNumber();
    default:
      return SpliceSeed();
  }
}

void Mutator::FlipBit() {
  if (input_.empty()) return;
  char& byte = input_[Below(input_.size())];
  byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << Below(8)));
}

void Mutator::SetBytes() {
  const size_t begin = Below(input_.size());
  const size_t count = std::min(1 + Below(4), input_.size() - begin);
  for (size_t i = 0; i < count; ++i) input_[begin + i] = static_cast<char>(Below(256));
}

void Mutator::Insert() {
  if (input_.size() >= bytes_max_) return;
  const size_t count = 1 + Below(std::min(kInsertMax, bytes_max_ - input_.size()));
  input_.insert(Below(input_.size() + 1), count, static_cast<char>(Below(256)));
}

void Mutator::Erase() {
  const size_t begin = Below(input_.size() + 1);
  // Half the time up to the end: a message that was cut off.
  const size_t rest = input_.size() - begin;
  input_.erase(begin, Below(2) == 0 ? rest : Below(rest + 1));
}

void Mutator::RepeatRange() {
  if (input_.size() >= bytes_max_) return;
  const size_t begin = Below(input_.size() + 1);
  const size_t count = std::min(Below(input_.size() - begin + 1), bytes_max_ - input_.size());
  input_.insert(Below(input_.size() + 1), input_.substr(begin, count));
}

void Mutator::OverwriteNumber() {
  const size_t width = size_t{1} << Below(4);
  if (input_.size() < width) return;
  const uint64_t number = kEdges[Below(kEdges.size())] + Below(3) - 1;
  std::memcpy(&input_[Below(input_.size() - width + 1)], &number, width);  // Little-endian first.
}

void Mutator::SpliceSeed() {
  const std::string& other = seeds_[Below(seeds_.size())];
  const size_t keep = Below(input_.size() + 1);
  const size_t begin = Below(other.size() + 1);
  if (keep >= bytes_max_) return;
  input_.resize(keep);
  input_.append(other, begin, bytes_max_ - keep);
}

}  // namespace shoal::fuzz
