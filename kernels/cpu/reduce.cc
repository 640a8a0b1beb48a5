#include "kernels/cpu/reduce.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kernels/cpu/op_code.h"

namespace shoal::kernels::cpu {
namespace {

using Node = ReducePartial::Node;

constexpr int64_t LeafOf(int64_t index) { return index / kLeafElements; }

const ReduceCode& CodeOf(const OpInfo& op, DType dtype) {
  SHOAL_CHECK(op.form == OpForm::kReduce && op.Supports(dtype));
  return (*FindReduceCode(IndexOf(op)))[static_cast<size_t>(dtype)];
}

std::array<const void*, 2> InputsAt(const ReduceArgs& args, int64_t offset) {
  const int64_t bytes = offset * ItemBytes(args.dtype);
  std::array<const void*, 2> inputs = {};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (args.inputs[i] == nullptr) continue;
    inputs[i] = static_cast<const std::byte*>(args.inputs[i]) + bytes;
  }
  return inputs;
}

/// Puts `node` behind `nodes`, joining complete pairs of siblings on the way up.
///
/// `Nodes` is a vector, or the array on the stack below; both are in order of index.
template <class Nodes>
void PushNode(const ReduceCode& code, Nodes& nodes, Node node) {
  while (!nodes.empty() && nodes.back().level == node.level && node.index % 2 == 1) {
    Node left = nodes.back();  // Its index is node.index - 1: nodes are adjacent.
    nodes.pop_back();
    code.join(left.value.data(), node.value.data(), 1);
    node.value = left.value;
    node.level += 1;
    node.index /= 2;
  }
  nodes.push_back(node);
}

/// The value of the root over `nodes`, which cover the array's leaves from 0: a missing right child
/// passes the left one through, so the values are joined from the right.
Node FoldRoot(const ReduceCode& code, std::span<const Node> nodes) {
  Node root = nodes.back();
  for (size_t i = nodes.size() - 1; i-- > 0;) {
    Node left = nodes[i];
    code.join(left.value.data(), root.value.data(), 1);
    root.value = left.value;
  }
  return root;
}

/// Complete subtrees of an array that begins at 0 have descending levels, fewer than 52; one more
/// for the last, incomplete leaf.
class NodeStack {
 public:
  bool empty() const { return size_ == 0; }
  Node& back() { return nodes_[size_ - 1]; }
  void pop_back() { --size_; }
  void push_back(const Node& node) { nodes_[size_++] = node; }
  std::span<const Node> All() const { return {nodes_.data(), size_}; }

 private:
  std::array<Node, 53> nodes_;
  size_t size_ = 0;
};

/// Grows a partial at its right end; the partial stays the one of its range at every step.
class Appender {
 public:
  explicit Appender(ReducePartial& partial)
      : partial_(partial),
        code_(CodeOf(*partial.op, partial.input)),
        item_bytes_(ItemBytes(partial.accumulator)) {}

  /// The terms that lie before the next boundary. Requires them not to cross it.
  void AppendTerms(std::span<const std::byte> terms) {
    std::vector<std::byte>& open = Open();
    open.insert(open.end(), terms.begin(), terms.end());
    Advance(static_cast<int64_t>(terms.size()) / item_bytes_, open);
  }

  void AppendInputTerms(const ReduceArgs& args, int64_t offset, int64_t count) {
    std::vector<std::byte>& open = Open();
    const size_t before = open.size();
    open.resize(before + static_cast<size_t>(count * item_bytes_));
    code_.terms(InputsAt(args, offset), count, open.data() + before);
    Advance(count, open);
  }

  void AppendNode(const Node& node) {
    SHOAL_CHECK(partial_.end == (node.index << node.level) * kLeafElements);
    PushNode(code_, partial_.nodes, node);
    partial_.end += kLeafElements << node.level;
  }

 private:
  // Where terms at the right end go: the head until the first boundary has been reached.
  std::vector<std::byte>& Open() {
    return LeafOf(partial_.end) == LeafOf(partial_.begin) ? partial_.head : partial_.tail;
  }

  void Advance(int64_t count, std::vector<std::byte>& open) {
    partial_.end += count;
    const int64_t leaf_bytes = kLeafElements * item_bytes_;
    if (static_cast<int64_t>(open.size()) < leaf_bytes) return;
    Node leaf = {.level = 0, .index = LeafOf(partial_.end) - 1, .value = {}};
    code_.fold(open.data(), kLeafElements, leaf.value.data());
    open.clear();
    PushNode(code_, partial_.nodes, leaf);
  }

  ReducePartial& partial_;
  const ReduceCode& code_;
  const int64_t item_bytes_;
};

/// Terms up to the first boundary after `begin`, at most `count`.
int64_t TermsToBoundary(int64_t begin, int64_t count) {
  return std::min(count, (kLeafElements - begin % kLeafElements) % kLeafElements);
}

bool IsEmpty(const ReducePartial& partial) { return partial.begin == partial.end; }

}  // namespace

ReducePartial ReduceRange(const OpInfo& op, const ReduceArgs& args) {
  SHOAL_CHECK(args.first_index >= 0 && args.count >= 0);
  const ReduceCode& code = CodeOf(op, args.dtype);
  ReducePartial partial;
  partial.op = &op;
  partial.input = args.dtype;
  partial.accumulator = code.accumulator;
  partial.begin = partial.end = args.first_index;
  Appender appender(partial);

  int64_t offset = TermsToBoundary(args.first_index, args.count);
  if (offset > 0) appender.AppendInputTerms(args, 0, offset);
  for (; args.count - offset >= kLeafElements; offset += kLeafElements) {
    Node leaf = {.level = 0, .index = LeafOf(partial.end), .value = {}};
    code.leaf(InputsAt(args, offset), kLeafElements, leaf.value.data());
    appender.AppendNode(leaf);
  }
  if (offset < args.count) appender.AppendInputTerms(args, offset, args.count - offset);
  return partial;
}

ReducePartial Join(ReducePartial left, ReducePartial right) {
  if (left.op == nullptr) return right;
  if (right.op == nullptr) return left;
  SHOAL_CHECK(left.op == right.op && left.input == right.input);
  SHOAL_CHECK(left.end == right.begin);
  if (IsEmpty(left)) return right;
  Appender appender(left);
  if (!right.head.empty()) {
    // A head that starts on a boundary or before one ends at the next; it crosses none.
    appender.AppendTerms(right.head);
  }
  for (const Node& node : right.nodes) appender.AppendNode(node);
  if (!right.tail.empty()) appender.AppendTerms(right.tail);
  return left;
}

void Finish(const OpInfo& op, DType input, const ReducePartial& partial, void* output) {
  SHOAL_CHECK(partial.begin == 0);
  const ReduceCode& code = CodeOf(op, input);
  if (IsEmpty(partial)) {
    SHOAL_CHECK(code.empty != nullptr);
    alignas(16) std::array<std::byte, sizeof(Node::value)> value;
    code.empty(value.data());
    code.finish(value.data(), output, 1);
    return;
  }
  SHOAL_CHECK(partial.op == &op && partial.input == input);
  std::vector<Node> nodes = partial.nodes;
  const std::vector<std::byte>& rest = partial.nodes.empty() ? partial.head : partial.tail;
  if (!rest.empty()) {
    Node leaf = {.level = 0, .index = LeafOf(partial.end), .value = {}};
    const auto terms = static_cast<int64_t>(rest.size()) / ItemBytes(partial.accumulator);
    code.fold(rest.data(), terms, leaf.value.data());
    nodes.push_back(leaf);
  }
  code.finish(FoldRoot(code, nodes).value.data(), output, 1);
}

void ReduceAll(const OpInfo& op, const ReduceArgs& args, void* output) {
  SHOAL_CHECK(args.first_index == 0 && args.count >= 0);
  if (args.count == 0) {
    Finish(op, args.dtype, ReducePartial{}, output);
    return;
  }
  const ReduceCode& code = CodeOf(op, args.dtype);
  if (args.count <= kLeafElements) {  // The many small arrays need no tree.
    alignas(16) std::array<std::byte, sizeof(Node::value)> value;
    code.leaf(args.inputs, args.count, value.data());
    code.finish(value.data(), output, 1);
    return;
  }
  NodeStack nodes;
  for (int64_t offset = 0; offset < args.count; offset += kLeafElements) {
    const int64_t count = std::min(kLeafElements, args.count - offset);
    Node leaf = {.level = 0, .index = LeafOf(offset), .value = {}};
    code.leaf(InputsAt(args, offset), count, leaf.value.data());
    if (count < kLeafElements) {
      nodes.push_back(leaf);  // Incomplete: it has no sibling.
    } else {
      PushNode(code, nodes, leaf);
    }
  }
  code.finish(FoldRoot(code, nodes.All()).value.data(), output, 1);
}

}  // namespace shoal::kernels::cpu
