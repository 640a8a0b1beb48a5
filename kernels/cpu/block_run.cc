#include "kernels/cpu/block_run.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/check.h"
#include "hwy/cache_control.h"
#include "kernels/cpu/cast.h"
#include "kernels/cpu/element_io.h"
#include "kernels/registry.h"

namespace shoal::kernels::cpu {
namespace {

constexpr int64_t kRegisterBytes = 4096;  // A step's operands and result stay in the first cache.
constexpr int64_t kCacheLine = 64;
constexpr int64_t kWholeRange = INT64_MAX;

// Halves are computed as float32; those that are only passed on stay as they are.
bool IsWidened(const BlockScratch::Value& value) {
  return value.item_bytes != ItemBytes(value.dtype);
}

bool IsPlain(const MapInput& input) { return !input.single && input.axes.empty(); }

}  // namespace

void BlockScratch::Aligned::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{kCacheLine});
}

std::byte* BlockScratch::Registers(int64_t bytes) {
  if (bytes > register_bytes_) {
    registers_.reset(static_cast<std::byte*>(
        ::operator new (static_cast<size_t>(bytes), std::align_val_t{kCacheLine})));
    register_bytes_ = bytes;
  }
  return registers_.get();
}

BlockRun::BlockRun(const MapKernel& kernel, const MapArgs& args, MapRange range, Stores stores,
                   BlockScratch& scratch)
    : kernel_(kernel),
      args_(args),
      range_(range),
      streams_(stores == Stores::kStreaming),
      scratch_(scratch) {
  SHOAL_CHECK(args.inputs.size() == kernel.inputs.size());
  SHOAL_CHECK(args.scalars.size() == kernel.scalars.size());
  SHOAL_CHECK(args.outputs.size() == kernel.outputs.size());
  FindLastUses();
  PlaceInputs();
  PlaceSteps();
  int64_t widest = 1;
  for (const Value& value : scratch_.values) widest = std::max(widest, value.item_bytes);
  // Without registers nothing is gained by stopping; one loop runs over all.
  const bool plain = register_count_ == 0 && kernel.steps.size() <= 1;
  block_elements_ = plain ? kWholeRange : kRegisterBytes / widest;
}

void BlockRun::FindLastUses() {
  std::vector<Value>& values = scratch_.values;
  values.assign(kernel_.value_count(), Value());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i].dtype = kernel_.DTypeOf(static_cast<int16_t>(i));
    values[i].item_bytes = ItemBytes(values[i].dtype);
  }
  for (size_t i = 0; i < kernel_.steps.size(); ++i) {
    const MapStep& step = kernel_.steps[i];
    const int inputs = step.op == nullptr ? 1 : step.op->inputs_min;
    for (int j = 0; j < inputs; ++j) {
      Value& operand = values[static_cast<size_t>(step.operands[static_cast<size_t>(j)])];
      operand.last_use = static_cast<int32_t>(i);
      if (IsHalf(operand.dtype)) operand.item_bytes = sizeof(float);
    }
    Value& result = values[static_cast<size_t>(kernel_.StepValue(i))];
    if (IsHalf(result.dtype)) result.item_bytes = sizeof(float);
  }
  for (const int16_t output : kernel_.outputs) {
    if (IsInput(output)) continue;  // Passed on without a register: Emit.
    values[static_cast<size_t>(output)].last_use = static_cast<int32_t>(kernel_.steps.size());
  }
}

void BlockRun::TakeRegister(Value& value) {
  if (scratch_.free_registers.empty()) scratch_.free_registers.push_back(register_count_++);
  value.reg = scratch_.free_registers.back();
  scratch_.free_registers.pop_back();
}

void BlockRun::PlaceInputs() {
  scratch_.free_registers.clear();
  scratch_.loads.clear();
  for (int16_t i = 0; i <= kernel_.IndexValue(); ++i) {
    Value& value = scratch_.values[static_cast<size_t>(i)];
    if (value.last_use < 0) continue;
    const bool is_input = IsInput(i);
    if (is_input && IsPlain(args_.inputs[static_cast<size_t>(i)]) && !IsWidened(value)) {
      const auto* data = static_cast<const std::byte*>(args_.inputs[static_cast<size_t>(i)].data);
      // Inputs are only read; the one type of value serves both directions.
      value.data = const_cast<std::byte*>(data) + range_.begin * value.item_bytes;
      value.advance = value.item_bytes;
      continue;
    }
    TakeRegister(value);
    const bool varies =
        is_input ? !args_.inputs[static_cast<size_t>(i)].single : i == kernel_.IndexValue();
    if (varies) scratch_.loads.push_back(i);
  }
}

// A result may go straight to the output unless a later step would then read an input that it has
// overwritten.
bool BlockRun::MayWriteInPlace() const {
  if (kernel_.steps.size() <= 1 || kernel_.outputs.size() > 1) return true;
  for (const MapInput& input : args_.inputs) {
    for (const void* output : args_.outputs) {
      if (input.data == output) return false;
    }
  }
  return true;
}

void BlockRun::PlaceSteps() {
  scratch_.steps.clear();
  scratch_.params.clear();
  if (MayWriteInPlace()) {
    for (size_t i = kernel_.outputs.size(); i-- > 0;) {
      const int16_t output = kernel_.outputs[i];
      Value& value = scratch_.values[static_cast<size_t>(output)];
      if (output <= kernel_.IndexValue() || IsWidened(value)) continue;
      value.advance = value.item_bytes;
      value.data = static_cast<std::byte*>(args_.outputs[i]) + range_.begin * value.item_bytes;
    }
  }
  for (size_t i = 0; i < kernel_.steps.size(); ++i) PlaceStep(i);
  std::byte* registers = scratch_.Registers(register_count_ * kRegisterBytes);
  for (Value& value : scratch_.values) {
    if (value.reg >= 0) value.data = registers + value.reg * kRegisterBytes;
  }
}

void BlockRun::PlaceStep(size_t index) {
  const MapStep& from = kernel_.steps[index];
  Step step;
  step.value = kernel_.StepValue(index);
  step.operands = from.operands;
  step.operand_count = from.op == nullptr ? int8_t{1} : from.op->inputs_min;
  Value& value = scratch_.values[static_cast<size_t>(step.value)];
  if (from.op == nullptr) {
    step.loop = CastLoop(from.dtype, from.result);
  } else {
    const MapCode& code = *FindMapCode(IndexOf(*from.op));
    const auto slot = static_cast<size_t>(from.dtype);
    step.loop = code.loops[slot];
    step.rounds = IsHalf(from.result);
    if (streams_) step.streaming_loop = code.streaming_loops[slot];
    if (from.first_param >= 0) {
      step.params = static_cast<int32_t>(scratch_.params.size());
      scratch_.params.push_back(ParamsOf(from));
    }
  }
  // What is read again is better kept in the cache.
  const bool read_again =
      std::any_of(kernel_.steps.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                  kernel_.steps.end(), [&](const MapStep& later) {
                    return std::ranges::find(later.operands, step.value) != later.operands.end();
                  });
  if (value.advance == 0 || read_again) step.streaming_loop = nullptr;
  if (value.advance == 0) TakeRegister(value);  // Before its operands' are free: they may overlap.
  for (int8_t i = 0; i < step.operand_count; ++i) {
    const Value& operand =
        scratch_.values[static_cast<size_t>(step.operands[static_cast<size_t>(i)])];
    const bool constant = step.operands[static_cast<size_t>(i)] <= kernel_.IndexValue();
    const bool seen = std::find(step.operands.begin(), step.operands.begin() + i,
                                step.operands[static_cast<size_t>(i)]) != step.operands.begin() + i;
    if (operand.reg >= 0 && !constant && !seen && operand.last_use == static_cast<int32_t>(index)) {
      scratch_.free_registers.push_back(operand.reg);
    }
  }
  scratch_.steps.push_back(step);
}

Params BlockRun::ParamsOf(const MapStep& step) const {
  Params params = {};
  for (size_t i = 0; i < step.op->params.size(); ++i) {
    params[i] = ParamFor(step.dtype, args_.scalars[static_cast<size_t>(step.first_param) + i]);
  }
  return params;
}

void BlockRun::FillConstants(int64_t count) {
  for (size_t i = 0; i < scratch_.values.size(); ++i) {
    const Value& value = scratch_.values[i];
    if (value.reg < 0 || static_cast<int16_t>(i) >= kernel_.IndexValue()) continue;
    const int64_t stored_bytes = ItemBytes(value.dtype);
    alignas(16) std::array<std::byte, 16> element;
    if (i < kernel_.inputs.size()) {
      if (!args_.inputs[i].single) continue;
      std::memcpy(element.data(), args_.inputs[i].data, static_cast<size_t>(stored_bytes));
    } else {
      StoreScalar(value.dtype, args_.scalars[i - kernel_.inputs.size()], element.data());
    }
    if (IsWidened(value)) WidenElement(value.dtype, element.data());
    FillElements(element.data(), value.item_bytes, count, value.data);
  }
}

// Elements until the first output starts a cache line; none where it never does.
int64_t BlockRun::AlignedStart() const {
  const int64_t item_bytes = ItemBytes(kernel_.OutputDType(0));
  const auto* output = static_cast<const std::byte*>(args_.outputs[0]) + range_.begin * item_bytes;
  const auto to_line = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(output) % kCacheLine);
  return to_line % item_bytes == 0 ? to_line / item_bytes : 0;
}

void BlockRun::Run() {
  const int64_t count = range_.end - range_.begin;
  FillConstants(std::min(block_elements_, count));
  int64_t begin = 0;
  int64_t size = block_elements_;
  if (const int64_t start = streams_ && !kernel_.outputs.empty() ? AlignedStart() : 0; start > 0) {
    size = std::min(start, size);
  }
  while (begin < count) {
    size = std::min(size, count - begin);
    RunBlock(begin, size);
    begin += size;
    size = block_elements_;
  }
  if (streams_) hwy::FlushStream();
}

void BlockRun::RunBlock(int64_t begin, int64_t count) {
  for (const int16_t input : scratch_.loads) Load(input, begin, count);
  for (const Step& step : scratch_.steps) RunStep(step, begin, count);
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) Emit(i, begin, count);
}

void BlockRun::Load(int16_t input, int64_t begin, int64_t count) {
  const Value& value = scratch_.values[static_cast<size_t>(input)];
  const int64_t first = range_.begin + begin;
  if (input == kernel_.IndexValue()) {
    auto* indices = reinterpret_cast<int64_t*>(value.data);
    for (int64_t i = 0; i < count; ++i) indices[i] = args_.first_index + first + i;
    return;
  }
  const MapInput& from = args_.inputs[static_cast<size_t>(input)];
  const int64_t stored_bytes = ItemBytes(value.dtype);
  const auto* plain = static_cast<const std::byte*>(from.data) + first * stored_bytes;
  // What is widened is gathered into the upper half of its register first: the conversion, in
  // order from the front, never overtakes itself.
  std::byte* const target = value.data + (IsWidened(value) ? kRegisterBytes / 2 : 0);
  if (!from.axes.empty()) {
    GatherBroadcast({.data = static_cast<const std::byte*>(from.data),
                     .item_bytes = stored_bytes,
                     .axes = from.axes},
                    args_.first_index + first, count, target);
    plain = target;
  }
  if (!IsWidened(value)) return;
  code_.widen(value.dtype, reinterpret_cast<const uint16_t*>(plain),
              reinterpret_cast<float*>(value.data), count);
}

void BlockRun::RunStep(const Step& step, int64_t begin, int64_t count) {
  const Value& result = scratch_.values[static_cast<size_t>(step.value)];
  MapBlock block;
  for (int8_t i = 0; i < step.operand_count; ++i) {
    const auto operand = static_cast<size_t>(step.operands[static_cast<size_t>(i)]);
    block.inputs[static_cast<size_t>(i)] = At(scratch_.values[operand], begin);
  }
  static constexpr Params kNoParams = {};
  block.params = step.params < 0 ? &kNoParams : &scratch_.params[static_cast<size_t>(step.params)];
  std::byte* const output = At(result, begin);
  block.output = output;
  block.count = count;
  const bool streams = step.streaming_loop != nullptr && Streams(output);
  (streams ? step.streaming_loop : step.loop)(block);
  if (step.rounds) code_.round(result.dtype, reinterpret_cast<float*>(output), count);
}

bool BlockRun::Streams(const std::byte* address) const {
  return streams_ && reinterpret_cast<uintptr_t>(address) % kCacheLine == 0;
}

// An input that is an output too: byte for byte, and never converted.
void BlockRun::PassOn(size_t output, int64_t begin, int64_t count) {
  const auto index = static_cast<size_t>(kernel_.outputs[output]);
  const MapInput& from = args_.inputs[index];
  const int64_t item_bytes = ItemBytes(kernel_.inputs[index]);
  const int64_t first = range_.begin + begin;
  const auto* data = static_cast<const std::byte*>(from.data);
  std::byte* const target = static_cast<std::byte*>(args_.outputs[output]) + first * item_bytes;
  if (from.single) return FillElements(data, item_bytes, count, target);
  if (!from.axes.empty()) {
    return GatherBroadcast({data, item_bytes, from.axes}, args_.first_index + first, count, target);
  }
  const std::byte* const source = data + first * item_bytes;
  if (source == target) return;
  if (Streams(target)) return code_.stream(source, target, count * item_bytes);
  std::memcpy(target, source, static_cast<size_t>(count * item_bytes));
}

// Brings an output's value to its memory where the step has not made it there.
void BlockRun::Emit(size_t output, int64_t begin, int64_t count) {
  if (IsInput(kernel_.outputs[output])) return PassOn(output, begin, count);
  const Value& value = scratch_.values[static_cast<size_t>(kernel_.outputs[output])];
  const int64_t item_bytes = ItemBytes(value.dtype);
  std::byte* const target =
      static_cast<std::byte*>(args_.outputs[output]) + (range_.begin + begin) * item_bytes;
  std::byte* source = At(value, begin);
  if (source == target) return;
  const int64_t bytes = count * item_bytes;
  alignas(kCacheLine) std::array<uint16_t, kRegisterBytes / sizeof(float)> halves;
  if (IsWidened(value)) {
    code_.narrow(value.dtype, reinterpret_cast<const float*>(source), halves.data(), count);
    source = reinterpret_cast<std::byte*>(halves.data());
  }
  if (Streams(target)) return code_.stream(source, target, bytes);
  std::memcpy(target, source, static_cast<size_t>(bytes));
}

}  // namespace shoal::kernels::cpu
