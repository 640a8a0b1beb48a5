#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/kernels/cases.h"
#include "kernels/map.h"
#include "kernels/program/plan.h"
#include "kernels/shape.h"
#include "server/device/cpu/cpu_work.h"

namespace shoal::bench {

/// A program that is run in this process, as a worker runs its part of it: the text is read, typed
/// and planned once; then each run hands every step to device::RunWork, which cuts it into chunks
/// for the threads.
///
/// Thread-safety: one thread at a time.
class PreparedProgram {
 public:
  /// Takes the case's text for arguments of these types, x first.
  ///
  /// Errors: as kernels::language::Parse, kernels::program::TypeProgram and MakePlan have them.
  ///   UNIMPLEMENTED  a program of more than one output.
  static absl::StatusOr<std::unique_ptr<PreparedProgram>> Make(
      const KernelCase& which, absl::Span<const kernels::ArrayType> inputs);

  const kernels::ArrayType& Output() const { return plan_.outputs[0]; }

  /// Computes the output from the inputs, each 64-byte aligned. `context` has the threads.
  ///
  /// Errors: as device::RunWork has them.
  absl::Status Run(absl::Span<const void* const> inputs, void* output,
                   const device::CpuContext& context);

 private:
  explicit PreparedProgram(kernels::program::Plan plan);

  struct Memory {
    absl::Span<const void* const> inputs;
    void* output;
  };
  void* Written(const kernels::program::Place& place, const Memory& memory);
  const void* Read(const kernels::program::Place& place, const Memory& memory);
  absl::Status RunStep(size_t index, const Memory& memory, const device::CpuContext& context);
  absl::Status RunSort(const kernels::program::Step& step, const Memory& memory,
                       const device::CpuContext& context);

  struct alignas(16) Slot {
    std::array<std::byte, 16> bytes = {};  // As large as any element.
  };
  const kernels::program::Plan plan_;
  std::vector<Slot> temporaries_;
  std::vector<std::vector<kernels::MapInput>> step_inputs_;  // By step.
};

}  // namespace shoal::bench
