#include "kernels/program/builder.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/broadcast.h"

namespace shoal::kernels::program {
namespace {

std::string NameOf(const OpInfo& op) {
  return op.symbol.empty() ? std::string(op.name) : absl::StrCat("'", std::string(op.symbol), "'");
}
std::string NameOf(DType dtype) { return std::string(Name(dtype)); }

struct NumberText {
  std::string operator()(std::complex<double> value) const {
    return absl::StrCat(value.real(), "+", value.imag(), "j");
  }
  template <class T>
  std::string operator()(T value) const {
    return absl::StrCat(value);
  }
};

// As bits: NaN is itself, and -0 is not 0.
bool IsSameNumber(const Scalar& a, const Scalar& b) {
  const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<double>(&a)) return bits(*x) == bits(std::get<double>(b));
  if (const auto* x = std::get_if<std::complex<double>>(&a)) {
    const auto& y = std::get<std::complex<double>>(b);
    return bits(x->real()) == bits(y.real()) && bits(x->imag()) == bits(y.imag());
  }
  return a == b;
}

absl::Status CheckOperandCount(const OpInfo& op, size_t given) {
  const auto count = static_cast<int64_t>(given);
  if (count >= op.inputs_min && count <= op.inputs_max) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(NameOf(op), " takes ", int{op.inputs_min},
                                                 op.inputs_min == 1 ? " operand" : " operands",
                                                 ", not ", given));
}

NodeKey KeyOf(const Node& node) {
  return {node.kind, node.op, node.type, node.operands, node.slot, node.fold};
}

}  // namespace

Value GraphBuilder::Input(const ArrayType& type) {
  const Node node = {.kind = NodeKind::kInput,
                     .op = nullptr,
                     .type = type,
                     .operands = {},
                     .slot = graph_.input_count++};
  graph_.nodes.push_back(node);
  return {.node = static_cast<NodeId>(graph_.nodes.size() - 1), .number = {}, .weak = {}};
}

absl::StatusOr<NodeId> GraphBuilder::Add(Node node) {
  const auto id = static_cast<NodeId>(graph_.nodes.size());
  const auto [known, is_new] = known_.try_emplace(KeyOf(node), id);
  if (!is_new) return known->second;
  if (id >= limits_.nodes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", limits_.nodes, " operations in one program"));
  }
  graph_.nodes.push_back(std::move(node));
  return id;
}

absl::StatusOr<NodeId> GraphBuilder::AddScalar(DType dtype, const Scalar& number) {
  if (!IsValueOf(dtype, number)) {
    return absl::InvalidArgumentError(absl::StrCat("the number ", std::visit(NumberText(), number),
                                                   " is not a value of ", NameOf(dtype)));
  }
  size_t slot = 0;
  while (slot < graph_.scalars.size() && !IsSameNumber(graph_.scalars[slot], number)) ++slot;
  if (slot == graph_.scalars.size()) graph_.scalars.push_back(number);
  return Add({.kind = NodeKind::kScalar,
              .op = nullptr,
              .type = {dtype, Shape()},
              .operands = {},
              .slot = static_cast<int32_t>(slot)});
}

absl::StatusOr<NodeId> GraphBuilder::AsNode(const Value& value, DType dtype) {
  if (value.node < 0) return AddScalar(dtype, value.number);
  const ArrayType type = TypeOf(value);
  if (type.dtype == dtype) return value.node;
  return Add({.kind = NodeKind::kConvert,
              .op = nullptr,
              .type = {dtype, type.shape},
              .operands = {value.node},
              .slot = -1});
}

absl::StatusOr<std::vector<NodeId>> GraphBuilder::Converted(absl::Span<const Value> operands,
                                                            DType dtype) {
  std::vector<NodeId> nodes;
  for (const Value& operand : operands) {
    SHOAL_ASSIGN_OR_RETURN(const NodeId node, AsNode(operand, dtype));
    nodes.push_back(node);
  }
  return nodes;
}

absl::StatusOr<DType> GraphBuilder::CommonDType(absl::Span<const Value> operands) const {
  std::optional<DType> common;
  std::optional<WeakKind> kind;
  for (const Value& operand : operands) {
    if (operand.weak.has_value()) {
      kind = std::max(kind.value_or(*operand.weak), *operand.weak);
    } else {
      const DType dtype = TypeOf(operand).dtype;
      common = common.has_value() ? Promote(*common, dtype) : dtype;
    }
  }
  if (!common.has_value()) return DefaultDType(*kind);
  return kind.has_value() ? PromoteWeak(*common, *kind) : *common;
}

absl::StatusOr<Shape> GraphBuilder::CommonShape(absl::Span<const NodeId> operands) const {
  Shape common;
  for (const NodeId operand : operands) {
    const Shape& shape = graph_.nodes[static_cast<size_t>(operand)].type.shape;
    std::optional<Shape> both = Broadcast(common, shape);
    if (!both.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("shapes ", common.ToString(), " and ",
                                                     shape.ToString(), " do not fit each other"));
    }
    common = *std::move(both);
  }
  return common;
}

absl::StatusOr<Value> GraphBuilder::Apply(const OpInfo& op, absl::Span<const Value> operands,
                                          absl::Span<const Scalar> params) {
  SHOAL_RETURN_IF_ERROR(CheckOperandCount(op, operands.size()));
  switch (op.form) {
    case OpForm::kMap:
      return ApplyMap(op, operands, params);
    case OpForm::kReduce:
      return ReduceAll(op, operands);
    case OpForm::kSort:
      return ApplySort(op, operands);
    case OpForm::kMove:
      break;
  }
  return absl::UnimplementedError(
      absl::StrCat(NameOf(op), " is not built inside of programs; apply it as an op"));
}

absl::StatusOr<Value> GraphBuilder::ApplyMap(const OpInfo& op, absl::Span<const Value> operands,
                                             absl::Span<const Scalar> params) {
  const absl::Span<const Value> values = op.condition ? operands.subspan(1) : operands;
  SHOAL_ASSIGN_OR_RETURN(const DType common, CommonDType(values));
  SHOAL_ASSIGN_OR_RETURN(const DType dtype, ComputeDType(op, common));
  SHOAL_RETURN_IF_ERROR(ValidateParams(op, dtype, params));
  Node node = {.kind = NodeKind::kMap, .op = &op, .type = {}, .operands = {}, .slot = -1};
  if (op.condition) {
    SHOAL_ASSIGN_OR_RETURN(const NodeId condition, AsNode(operands[0], DType::kBool));
    node.operands.push_back(condition);
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<NodeId> converted, Converted(values, dtype));
  node.operands.insert(node.operands.end(), converted.begin(), converted.end());
  SHOAL_ASSIGN_OR_RETURN(node.type.shape, CommonShape(node.operands));
  node.type.dtype = OutputDType(op, dtype);
  if (!params.empty()) {
    node.slot = static_cast<int32_t>(graph_.scalars.size());
    graph_.scalars.insert(graph_.scalars.end(), params.begin(), params.end());
  }
  SHOAL_ASSIGN_OR_RETURN(const NodeId id, Add(std::move(node)));
  Value value = {.node = id, .number = {}, .weak = {}};
  // What is made of numbers alone is a number still, of the kind that its dtype is.
  const bool all_weak = std::all_of(operands.begin(), operands.end(),
                                    [](const Value& operand) { return operand.weak.has_value(); });
  if (all_weak) {
    const DType result = graph_.nodes[static_cast<size_t>(id)].type.dtype;
    value.weak = result == DType::kBool                  ? WeakKind::kBool
                 : IsComplex(result)                     ? WeakKind::kComplex
                 : ClassOf(result) == DTypeClass::kFloat ? WeakKind::kFloat
                                                         : WeakKind::kInt;
  }
  return value;
}

// The sum of products of two arguments is their dot product, to the bit where neither sum nor
// product has another dtype than they have; it reads them once and writes nothing on the way.
std::optional<std::vector<Value>> GraphBuilder::FactorsOf(const Value& term) const {
  const Node* node = term.node < 0 ? nullptr : &graph_.nodes[NodeOf(term)];
  if (node == nullptr || node->kind != NodeKind::kMap) return std::nullopt;
  const bool is_square = node->op->name == "square";
  if (!is_square && node->op->name != "multiply") return std::nullopt;
  const OpInfo& sum = *FindOp("sum");
  if (IsHalf(node->type.dtype) || OutputDType(sum, node->type.dtype) != node->type.dtype) {
    return std::nullopt;
  }
  std::vector<Value> factors;
  for (const NodeId operand : {node->operands.front(), node->operands.back()}) {
    const Node& factor = graph_.nodes[static_cast<size_t>(operand)];
    if (factor.kind != NodeKind::kInput || !(factor.type == node->type)) return std::nullopt;
    factors.push_back({.node = operand, .number = {}, .weak = {}});
  }
  return factors;
}

absl::StatusOr<Value> GraphBuilder::Reduce(const OpInfo& op, absl::Span<const Value> operands,
                                           FoldShape fold, const Shape& result) {
  if (op.name == "sum" && fold.blocks == 1 && fold.columns == 1) {
    const std::optional<std::vector<Value>> factors = FactorsOf(operands[0]);
    if (factors.has_value()) return Reduce(*FindOp("dot"), *factors, fold, result);
  }
  SHOAL_ASSIGN_OR_RETURN(const DType common, CommonDType(operands));
  SHOAL_ASSIGN_OR_RETURN(const DType dtype, ComputeDType(op, common));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<NodeId> converted, Converted(operands, dtype));
  if (op.needs_elements && fold.rows == 0 && fold.result_count() > 0) {
    return absl::InvalidArgumentError(absl::StrCat(NameOf(op), " of no elements has no value"));
  }
  SHOAL_ASSIGN_OR_RETURN(const NodeId id, Add({.kind = NodeKind::kReduce,
                                               .op = &op,
                                               .type = {OutputDType(op, dtype), result},
                                               .operands = {converted.begin(), converted.end()},
                                               .slot = -1,
                                               .fold = fold}));
  return Value{.node = id, .number = {}, .weak = {}};
}

absl::StatusOr<Value> GraphBuilder::Index(const Shape& shape, FoldShape fold) {
  SHOAL_ASSIGN_OR_RETURN(const NodeId id, Add({.kind = NodeKind::kIndex,
                                               .op = nullptr,
                                               .type = {DType::kInt64, shape},
                                               .operands = {},
                                               .slot = -1,
                                               .fold = fold}));
  return Value{.node = id, .number = {}, .weak = {}};
}

/// Over all elements, of as many operands as the op has.
absl::StatusOr<Value> GraphBuilder::ReduceAll(const OpInfo& op, absl::Span<const Value> operands) {
  const auto shape_of = [&](const Value& operand) {
    return operand.node < 0 ? Shape() : TypeOf(operand).shape;
  };
  const Shape first = shape_of(operands[0]);
  for (const Value& operand : operands) {
    const Shape shape = shape_of(operand);
    if (shape == first) continue;
    return absl::InvalidArgumentError(absl::StrCat("shapes ", first.ToString(), " and ",
                                                   shape.ToString(), " do not fit each other"));
  }
  return Reduce(op, operands, {.blocks = 1, .rows = first.element_count(), .columns = 1}, Shape());
}

absl::StatusOr<Value> GraphBuilder::ApplySort(const OpInfo& op, absl::Span<const Value> operands) {
  if (operands[0].node < 0) {
    return absl::InvalidArgumentError(absl::StrCat(NameOf(op), ": a number has no axis"));
  }
  const ArrayType type = TypeOf(operands[0]);
  SHOAL_RETURN_IF_ERROR(ComputeDType(op, type.dtype).status());
  if (type.shape.rank() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(NameOf(op), ": a scalar (shape ()) has no axis to sort along"));
  }
  SHOAL_ASSIGN_OR_RETURN(const NodeId id, Add({.kind = NodeKind::kSort,
                                               .op = &op,
                                               .type = type,
                                               .operands = {operands[0].node},
                                               .slot = -1}));
  return Value{.node = id, .number = {}, .weak = {}};
}

absl::StatusOr<Value> GraphBuilder::Convert(const Value& operand, DType dtype) {
  SHOAL_ASSIGN_OR_RETURN(const NodeId id, AsNode(operand, dtype));
  return Value{.node = id, .number = {}, .weak = {}};
}

absl::Status GraphBuilder::Output(std::string name, const Value& value) {
  DType dtype = value.weak.has_value() ? DefaultDType(*value.weak) : TypeOf(value).dtype;
  SHOAL_ASSIGN_OR_RETURN(const NodeId node, AsNode(value, dtype));
  graph_.outputs.push_back({std::move(name), node});
  return absl::OkStatus();
}

std::string GraphBuilder::Describe(const Value& value) const {
  if (value.node < 0) return absl::StrCat("the number ", std::visit(NumberText(), value.number));
  const ArrayType& type = TypeOf(value);
  return absl::StrCat(NameOf(type.dtype), " ", type.shape.ToString());
}

Graph GraphBuilder::Finish() && { return std::move(graph_); }

}  // namespace shoal::kernels::program
