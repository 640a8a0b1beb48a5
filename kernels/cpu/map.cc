#include "kernels/cpu/map.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <variant>

#include "base/check.h"
#include "hwy/cache_control.h"
#include "kernels/cpu/op_code.h"
#include "kernels/half.h"

namespace shoal::kernels::cpu {
namespace {

constexpr int64_t kScratchBytes = 4096;  // Per operand: all of them stay in the first-level cache.
constexpr int64_t kCacheLine = 64;

// ValidateParams let it through: a whole number in the range of some integer dtype.
uint64_t Modulo64(double value) {
  return value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                   : static_cast<uint64_t>(value);
}
uint64_t Modulo64(int64_t value) { return static_cast<uint64_t>(value); }
uint64_t Modulo64(uint64_t value) { return value; }

/// The parameter as it would be as an element of the array (NEP 50).
Param ParamFor(DType dtype, const Scalar& scalar) {
  switch (ClassOf(dtype)) {
    case DTypeClass::kSigned:
    case DTypeClass::kUnsigned:
      return {.real = 0, .integer = std::visit([](auto value) { return Modulo64(value); }, scalar)};
    case DTypeClass::kBool:
    case DTypeClass::kFloat:
    case DTypeClass::kComplex:
      break;
  }
  const double value = ToDouble(scalar);
  if (dtype == DType::kFloat16) {
    return {.real = static_cast<double>(Float16ToFloat(DoubleToFloat16(value))), .integer = 0};
  }
  if (dtype == DType::kBfloat16) {
    return {.real = static_cast<double>(Bfloat16ToFloat(DoubleToBfloat16(value))), .integer = 0};
  }
  return {.real = value, .integer = 0};  // The kernels' own cast to the element rounds it.
}

/// Runs a map block by block, for whatever the plain loop does not do itself: one-element inputs
/// and halves, which go through scratch memory, and streaming stores, which need aligned blocks.
class BlockedMap {
 public:
  BlockedMap(const OpInfo& op, const MapCode& code, const MapArgs& args)
      : args_(args),
        inputs_(static_cast<size_t>(op.KernelInputs())),
        loop_(code.loops[static_cast<size_t>(args.dtype)]),
        streaming_loop_(code.streaming_loops[static_cast<size_t>(args.dtype)]),
        widens_(code.halves_as_float && IsHalf(args.dtype)),
        item_bytes_(ItemBytes(args.dtype)) {}

  void Run(const Params& params, Stores stores) {
    const int64_t computed_bytes = widens_ ? ItemBytes(DType::kFloat32) : item_bytes_;
    const int64_t block_elements = kScratchBytes / computed_bytes;
    SpreadBroadcasts(std::min(block_elements, args_.count));
    int64_t begin = 0;
    int64_t size = block_elements;
    const bool streams = stores == Stores::kStreaming && AlignFirstBlock(size);
    while (begin < args_.count) {
      size = std::min(size, args_.count - begin);
      // The first block may be there only to reach alignment; later ones are whole lines.
      RunBlock({.begin = begin, .count = size}, params, streams && begin > 0);
      begin += size;
      size = block_elements;
    }
    if (streams) hwy::FlushStream();
  }

 private:
  struct Range {
    int64_t begin = 0;
    int64_t count = 0;
  };

  // Fills a whole block with the element of each one-element input, once.
  void SpreadBroadcasts(int64_t count) {
    for (size_t i = 0; i < inputs_; ++i) {
      if (!args_.broadcast[i]) continue;
      std::byte* spread = Scratch(i);
      if (widens_) {
        float element = 0.0F;
        block_code_.widen(args_.dtype, static_cast<const uint16_t*>(args_.inputs[i]), &element, 1);
        std::fill_n(reinterpret_cast<float*>(spread), count, element);
        continue;
      }
      for (int64_t j = 0; j < count; ++j) {
        std::memcpy(spread + j * item_bytes_, args_.inputs[i], static_cast<size_t>(item_bytes_));
      }
    }
  }

  // Shortens the first block so that the second starts a cache line. False when none ever does.
  bool AlignFirstBlock(int64_t& size) const {
    const auto address = reinterpret_cast<uintptr_t>(args_.output);
    const auto to_line = static_cast<int64_t>(-address % kCacheLine);
    if (to_line % item_bytes_ != 0) return false;
    if (to_line != 0) size = to_line / item_bytes_;
    return true;
  }

  void RunBlock(Range range, const Params& params, bool streams) {
    MapBlock block = {.inputs = {}, .params = &params, .output = nullptr, .count = range.count};
    for (size_t i = 0; i < inputs_; ++i) block.inputs[i] = InputAt(i, range);
    std::byte* output = static_cast<std::byte*>(args_.output) + range.begin * item_bytes_;
    block.output = widens_ ? Scratch(inputs_) : output;
    (streams && !widens_ ? streaming_loop_ : loop_)(block);
    if (!widens_) return;
    auto* halves = reinterpret_cast<uint16_t*>(streams ? Scratch(inputs_) : output);
    block_code_.narrow(args_.dtype, reinterpret_cast<const float*>(Scratch(inputs_)), halves,
                       range.count);
    if (streams) block_code_.stream(Scratch(inputs_), output, range.count * item_bytes_);
  }

  const void* InputAt(size_t i, Range range) {
    if (args_.broadcast[i]) return Scratch(i);
    const std::byte* input =
        static_cast<const std::byte*>(args_.inputs[i]) + range.begin * item_bytes_;
    if (!widens_) return input;
    block_code_.widen(args_.dtype, reinterpret_cast<const uint16_t*>(input),
                      reinterpret_cast<float*>(Scratch(i)), range.count);
    return Scratch(i);
  }

  std::byte* Scratch(size_t operand) { return scratch_.data() + operand * kScratchBytes; }

  const MapArgs& args_;
  const size_t inputs_;
  const MapLoop loop_;
  const MapLoop streaming_loop_;
  const bool widens_;
  const int64_t item_bytes_;
  const BlockCode& block_code_ = BlockCodeOfMachine();
  alignas(kCacheLine) std::array<std::byte, (kMapInputsMax + 1) * kScratchBytes> scratch_;
};

}  // namespace

void RunMap(const OpInfo& op, const MapArgs& args, Stores stores) {
  SHOAL_CHECK(op.form == OpForm::kMap && op.Supports(args.dtype));
  const MapCode& code = *FindMapCode(IndexOf(op));
  if (args.count <= 0) return;
  Params params = {};
  for (size_t i = 0; i < op.params.size(); ++i) params[i] = ParamFor(args.dtype, args.params[i]);
  const bool broadcasts = std::ranges::find(args.broadcast, true) != args.broadcast.end();
  const bool widens = code.halves_as_float && IsHalf(args.dtype);
  if (broadcasts || widens || stores == Stores::kStreaming) {
    BlockedMap(op, code, args).Run(params, stores);
    return;
  }
  code.loops[static_cast<size_t>(args.dtype)](
      {.inputs = args.inputs, .params = &params, .output = args.output, .count = args.count});
}

}  // namespace shoal::kernels::cpu
