#include "server/scheduler/least_load.h"

#include <algorithm>

#include "server/scheduler/events.h"

namespace shoal::scheduler {

LeastLoad::LeastLoad() : nodes_(2) {}

void LeastLoad::Update(WorkerId worker, const WorkerLoad& load) {
  const auto leaf = static_cast<size_t>(worker.value);
  if (leaf >= leaf_count_) Grow(leaf);
  size_t node = leaf_count_ + leaf;
  nodes_[node] = load.open ? Node{load.work.count(), load.free_bytes} : Node{};
  while (node > 1) {
    node /= 2;
    const Node& left = nodes_[2 * node];
    const Node& right = nodes_[2 * node + 1];
    const Node merged{std::min(left.work, right.work), std::max(left.free_bytes, right.free_bytes)};
    if (merged == nodes_[node]) return;
    nodes_[node] = merged;
  }
}

WorkerId LeastLoad::Choose(const PieceNeeds& piece) {
  if (nodes_[1].work == INT64_MAX) return kAnyWorker;
  const size_t leaf = FirstWithLeastWork();
  if (Fits(piece.reserve_bytes, nodes_[leaf_count_ + leaf].free_bytes)) {
    return WorkerId{static_cast<int32_t>(leaf)};
  }
  Best best;
  Search({1, 0, leaf_count_}, piece.reserve_bytes, &best);
  return best.leaf == SIZE_MAX ? kAnyWorker : WorkerId{static_cast<int32_t>(best.leaf)};
}

size_t LeastLoad::FirstWithLeastWork() const {
  size_t node = 1;
  while (node < leaf_count_) {
    node *= 2;
    if (nodes_[node + 1].work < nodes_[node].work) ++node;
  }
  return node - leaf_count_;
}

// Among equals the lowest id wins, so a part with as much work as the best is worth a look only
// when it lies before it.
void LeastLoad::Search(const Span& span, int64_t reserve_bytes, Best* best) const {
  const Node& node = nodes_[span.node];
  if (node.work == INT64_MAX || node.work > best->work || !Fits(reserve_bytes, node.free_bytes)) {
    return;
  }
  if (node.work == best->work && span.first_leaf > best->leaf) return;
  if (span.leaf_count == 1) {
    *best = {node.work, span.first_leaf};
    return;
  }
  const size_t half = span.leaf_count / 2;
  const Span left{2 * span.node, span.first_leaf, half};
  const Span right{2 * span.node + 1, span.first_leaf + half, half};
  const bool right_first = nodes_[right.node].work < nodes_[left.node].work;
  Search(right_first ? right : left, reserve_bytes, best);
  Search(right_first ? left : right, reserve_bytes, best);
}

void LeastLoad::Grow(size_t leaf) {
  const std::vector<Node> old = std::move(nodes_);
  const size_t old_count = leaf_count_;
  while (leaf_count_ <= leaf) leaf_count_ *= 2;
  nodes_.assign(2 * leaf_count_, Node{});
  for (size_t i = 0; i < old_count; ++i) nodes_[leaf_count_ + i] = old[old_count + i];
  for (size_t node = leaf_count_ - 1; node > 0; --node) {
    const Node& left = nodes_[2 * node];
    const Node& right = nodes_[2 * node + 1];
    nodes_[node] = {std::min(left.work, right.work), std::max(left.free_bytes, right.free_bytes)};
  }
}

std::unique_ptr<Placement> MakeLeastLoad() { return std::make_unique<LeastLoad>(); }

}  // namespace shoal::scheduler
