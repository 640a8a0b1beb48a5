#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/map.h"
#include "kernels/cpu/op_code.h"
#include "kernels/map.h"

namespace shoal::kernels::cpu {

/// What one thread reuses from kernel to kernel, so that a call of a few elements allocates
/// nothing.
class BlockScratch {
 public:
  /// Memory of at least `bytes`, aligned to cache lines, contents undefined. Ends the life of what
  /// it gave before.
  std::byte* Registers(int64_t bytes);

  struct Value {
    DType dtype = DType::kFloat32;
    int64_t item_bytes = 0;     ///< Where it lies: float32 for halves in registers.
    std::byte* data = nullptr;  ///< Of the first element of the range, or the register.
    int64_t advance = 0;        ///< Bytes from one element of the range to the next; 0: a register.
    int32_t last_use = -1;      ///< The last step that reads it; the number of steps: an output.
    int32_t reg = -1;           ///< Its register, if it has one.
  };
  struct Step {
    MapLoop loop = nullptr;
    MapLoop streaming_loop = nullptr;  ///< Null: not for this step.
    std::array<int16_t, 3> operands = {};
    int8_t operand_count = 0;
    int16_t value = 0;
    int32_t params = -1;
    bool rounds = false;  ///< A half, computed in float32.
  };
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<Params> params;
  std::vector<int32_t> free_registers;
  std::vector<int16_t> loads;  ///< Inputs (or the index) that are brought into their registers.

 private:
  struct Aligned {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Aligned> registers_;
  int64_t register_bytes_ = 0;
};

/// One run of the interpreter: the kernel's values given their places, then block after block.
class BlockRun {
 public:
  BlockRun(const MapKernel& kernel, const MapArgs& args, MapRange range, Stores stores,
           BlockScratch& scratch);

  void Run();

 private:
  using Value = BlockScratch::Value;
  using Step = BlockScratch::Step;

  void FindLastUses();
  void PlaceInputs();
  void PlaceSteps();
  void PlaceStep(size_t index);
  Params ParamsOf(const MapStep& step) const;
  bool MayWriteInPlace() const;
  void TakeRegister(Value& value);
  void FillConstants(int64_t count);
  int64_t AlignedStart() const;
  void RunBlock(int64_t begin, int64_t count);
  void Load(int16_t input, int64_t begin, int64_t count);
  void RunStep(const Step& step, int64_t begin, int64_t count);
  void PassOn(size_t output, int64_t begin, int64_t count);
  void Emit(size_t output, int64_t begin, int64_t count);
  bool IsInput(int16_t value) const { return static_cast<size_t>(value) < kernel_.inputs.size(); }
  bool Streams(const std::byte* address) const;
  std::byte* At(const Value& value, int64_t begin) const {
    return value.data + begin * value.advance;
  }

  const MapKernel& kernel_;
  const MapArgs& args_;
  const MapRange range_;
  const bool streams_;
  BlockScratch& scratch_;
  const BlockCode& code_ = BlockCodeOfMachine();
  int32_t register_count_ = 0;
  int64_t block_elements_ = 0;
};

}  // namespace shoal::kernels::cpu
