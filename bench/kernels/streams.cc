#include "bench/kernels/streams.h"

#include <cstring>

#include "base/check.h"
#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/kernels/streams.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::bench::HWY_NAMESPACE {

namespace hn = ::hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<uint8_t>;
using Vector = hn::Vec<Tag>;

// Vectors between two looks at the end: enough loads under way to keep memory busy.
constexpr int64_t kUnroll = 4;

HWY_INLINE const uint8_t* At(const StreamBlock& block, int input, int64_t offset) {
  return reinterpret_cast<const uint8_t*>(block.input[static_cast<size_t>(input)]) + offset;
}

// Folds kReads vectors of each input into one.
template <int kInputs, int kReads>
HWY_INLINE Vector Fold(const StreamBlock& block, int64_t offset) {
  const Tag d;
  Vector folded = hn::LoadU(d, At(block, 0, offset));
  for (int input = 0; input < kInputs; ++input) {
    for (int i = 0; i < kReads; ++i) {
      if (input == 0 && i == 0) continue;
      const auto at = offset + i * static_cast<int64_t>(hn::Lanes(d));
      folded = hn::Xor(folded, hn::LoadU(d, At(block, input, at)));
    }
  }
  return folded;
}

// Each step reads kReads vectors of each input and writes kWrites.
template <int kInputs, int kReads, int kWrites, bool kAround>
void Move(const StreamBlock& block) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto* const output = reinterpret_cast<uint8_t*>(block.output);
  const int64_t steps = block.output_bytes / (lanes * kWrites);
  const auto step = [&](int64_t i) HWY_ATTR {
    const Vector folded = Fold<kInputs, kReads>(block, i * kReads * lanes);
    for (int write = 0; write < kWrites; ++write) {
      uint8_t* const to = output + (i * kWrites + write) * lanes;
      if constexpr (kAround) {
        hn::Stream(folded, d, to);
      } else {
        hn::StoreU(folded, d, to);
      }
    }
  };
  int64_t i = 0;
  for (; i + kUnroll <= steps; i += kUnroll) {
    for (int64_t j = 0; j < kUnroll; ++j) step(i + j);
  }
  for (; i < steps; ++i) step(i);
  // What no whole step covers is less than a step: its time is nothing, its pages are touched.
  const int64_t done = steps * lanes * kWrites;
  std::memset(output + done, 1, static_cast<size_t>(block.output_bytes - done));
  if constexpr (kAround) hwy::FlushStream();
}

template <int kInputs, bool kAround>
void MoveShaped(const StreamBlock& block) {
  if (block.input_bytes == block.output_bytes) return Move<kInputs, 1, 1, kAround>(block);
  if (block.input_bytes == 2 * block.output_bytes) return Move<kInputs, 2, 1, kAround>(block);
  if (block.input_bytes == 4 * block.output_bytes) return Move<kInputs, 4, 1, kAround>(block);
  if (block.input_bytes == 8 * block.output_bytes) return Move<kInputs, 8, 1, kAround>(block);
  SHOAL_CHECK(2 * block.input_bytes == block.output_bytes);
  Move<kInputs, 1, 2, kAround>(block);
}

void MoveAll(const StreamBlock& block) {
  if (block.inputs == 1) {
    block.around_caches ? MoveShaped<1, true>(block) : MoveShaped<1, false>(block);
  } else {
    block.around_caches ? MoveShaped<2, true>(block) : MoveShaped<2, false>(block);
  }
}

// Several accumulators, so that no load waits for the one before it.
template <int kInputs>
uint8_t Read(const StreamBlock& block) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector folded[kUnroll] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  int64_t offset = 0;
  for (; offset + kUnroll * lanes <= block.input_bytes; offset += kUnroll * lanes) {
    for (int64_t j = 0; j < kUnroll; ++j) {
      folded[j] = hn::Xor(folded[j], Fold<kInputs, 1>(block, offset + j * lanes));
    }
  }
  for (; offset + lanes <= block.input_bytes; offset += lanes) {
    folded[0] = hn::Xor(folded[0], Fold<kInputs, 1>(block, offset));
  }
  const Vector all = hn::Xor(hn::Xor(folded[0], folded[1]), hn::Xor(folded[2], folded[3]));
  return hn::AllTrue(d, hn::Eq(all, hn::Zero(d))) ? 1 : 0;  // Depends on every byte.
}

uint8_t ReadAll(const StreamBlock& block) {
  return block.inputs == 1 ? Read<1>(block) : Read<2>(block);
}

}  // namespace shoal::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::bench {

HWY_EXPORT(MoveAll);
HWY_EXPORT(ReadAll);

void MoveBlock(const StreamBlock& block) { HWY_DYNAMIC_DISPATCH(MoveAll)(block); }

void ReadBlock(const StreamBlock& block) {
  // The compiler must not see that nobody wants what was read.
  volatile uint8_t sink = HWY_DYNAMIC_DISPATCH(ReadAll)(block);
  static_cast<void>(sink);
}

}  // namespace shoal::bench
#endif  // HWY_ONCE
