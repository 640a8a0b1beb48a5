#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/scheduler/placement.h"

namespace shoal::scheduler {

/// The worker with the least estimated work in flight; among equals the lowest id.
///
/// A tournament tree over the workers, in which each node knows the least work and the most free
/// memory below it. `Update` is O(log workers). `Choose` is O(log workers) when the least loaded
/// worker has the memory; otherwise it looks aside, skipping every part of the tree without
/// enough memory or with more work than found: O(workers) at worst.
class LeastLoad final : public Placement {
 public:
  LeastLoad();

  void Update(WorkerId worker, const WorkerLoad& load) override;
  WorkerId Choose(const PieceNeeds& piece) override;

 private:
  struct Node {
    int64_t work = INT64_MAX;        // Least of the open workers below; INT64_MAX: none is open.
    int64_t free_bytes = INT64_MIN;  // Most of the open workers below.

    friend bool operator==(const Node&, const Node&) = default;
  };
  struct Best {
    int64_t work = INT64_MAX;
    size_t leaf = SIZE_MAX;
  };
  // A node and the leaves below it: `leaf_count` of them from `first_leaf` on.
  struct Span {
    size_t node;
    size_t first_leaf;
    size_t leaf_count;
  };

  size_t FirstWithLeastWork() const;
  void Search(const Span& span, int64_t reserve_bytes, Best* best) const;
  void Grow(size_t leaf);

  std::vector<Node> nodes_;  // A heap: 1 is the root, the children of n are 2n and 2n+1.
  size_t leaf_count_ = 1;    // A power of two; leaf w is node leaf_count_ + w.
};

/// A fresh `LeastLoad`.
std::unique_ptr<Placement> MakeLeastLoad();

}  // namespace shoal::scheduler
