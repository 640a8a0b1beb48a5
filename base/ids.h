#pragma once

#include <compare>
#include <cstdint>
#include <utility>

namespace shoal {

/// A number that names one kind of thing and cannot be mistaken for another.
///
/// 0 is "none"; the process that makes ids starts at 1 and never reuses one.
template <typename Tag>
struct Id {
  uint64_t value = 0;

  constexpr explicit operator bool() const { return value != 0; }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Id& id) {
    return H::combine(std::move(h), id.value);
  }
};

using ArrayId = Id<struct ArrayTag>;      ///< A stored array of the catalogue.
using TaskId = Id<struct TaskTag>;        ///< One application of an op.
using AttemptId = Id<struct AttemptTag>;  ///< One try at running a task on one worker.
using LeaseId = Id<struct LeaseTag>;      ///< A region of plane A lent to one client.

/// A worker's seat in this front end: dense from 0, never given to another worker.
struct WorkerId {
  int32_t value = -1;

  friend constexpr auto operator<=>(const WorkerId&, const WorkerId&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const WorkerId& id) {
    return H::combine(std::move(h), id.value);
  }
};

}  // namespace shoal
