#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/dtype.h"
#include "server/device/cpu/cpu_work.h"
#include "server/device/work.h"

// How the CPU's work is cut up and stopped.
namespace shoal::device {

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline bool IsRaised(CancelFlag cancelled) {
  return cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
}

/// Chunks of one piece of work, none begun after `cancelled` was raised.
inline absl::Status ForChunks(int64_t count, CancelFlag cancelled, const CpuContext& context,
                              absl::FunctionRef<void(int64_t)> body) {
  if (count <= 1 || context.team->width() == 1) {
    for (int64_t i = 0; i < count && !IsRaised(cancelled); ++i) body(i);
  } else {
    context.team->ParallelFor(count, [&](int64_t i) {
      if (!IsRaised(cancelled)) body(i);
    });
  }
  return IsRaised(cancelled) ? absl::CancelledError("cancelled while it ran") : absl::OkStatus();
}

inline absl::Status NotBuilt(std::string_view op, kernels::DType dtype) {
  return absl::UnimplementedError(
      absl::StrCat(std::string(op), " is not built for ", std::string(Name(dtype))));
}

}  // namespace shoal::device
