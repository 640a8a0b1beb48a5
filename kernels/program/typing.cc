#include "kernels/program/typing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "kernels/language/source_error.h"
#include "kernels/program/functions.h"
#include "kernels/program/numbers.h"
#include "kernels/registry.h"

namespace shoal::kernels::program {
namespace {

using language::AtSource;
using language::NodeIndex;
using language::SourceError;
using language::Syntax;
using language::SyntaxKind;
using language::SyntaxNode;

std::optional<double> ConstantOf(absl::string_view name) {
  if (name == "pi") return std::numbers::pi;
  if (name == "e") return std::numbers::e;
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

struct LiteralValue {
  Value operator()(bool value) const {
    return GraphBuilder::Number(int64_t{value}, WeakKind::kBool);
  }
  Value operator()(uint64_t value) const {
    const bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return GraphBuilder::Number(fits ? Scalar(static_cast<int64_t>(value)) : Scalar(value),
                                WeakKind::kInt);
  }
  Value operator()(double value) const { return GraphBuilder::Number(value, WeakKind::kFloat); }
  Value operator()(language::Imaginary value) const {
    return GraphBuilder::Number(std::complex<double>(0, value.value), WeakKind::kComplex);
  }
};

class Typer {
 public:
  Typer(const Syntax& syntax, const Signature& signature, GraphLimits limits)
      : syntax_(syntax), signature_(signature), builder_(limits) {}

  absl::StatusOr<Graph> Run() {
    SHOAL_RETURN_IF_ERROR(BindArguments());
    values_.resize(syntax_.nodes.size());
    NodeIndex next = 0;
    for (const language::Statement& statement : syntax_.statements) {
      for (; next <= statement.value; ++next) SHOAL_RETURN_IF_ERROR(TypeNode(next));
      if (statement.target.empty()) continue;
      SHOAL_RETURN_IF_ERROR(CheckIsValue(statement.value));
      names_[statement.target] = ValueOf(statement.value);
    }
    SHOAL_RETURN_IF_ERROR(AddOutputs());
    return std::move(builder_).Finish();
  }

 private:
  const SyntaxNode& NodeOf(NodeIndex node) const {
    return syntax_.nodes[static_cast<size_t>(node)];
  }
  const Value& ValueOf(NodeIndex node) const { return values_[static_cast<size_t>(node)]; }

  absl::Status Error(NodeIndex node, absl::string_view message) const {
    return SourceError(syntax_.source, NodeOf(node).where, message);
  }

  /// The names that the program reads before it gives them, in the text's order.
  std::vector<std::string> FreeNames() const {
    std::vector<std::string> free;
    absl::flat_hash_set<absl::string_view> known;  // Given, or among the free ones.
    NodeIndex next = 0;
    for (const language::Statement& statement : syntax_.statements) {
      for (; next <= statement.value; ++next) {
        const SyntaxNode& node = NodeOf(next);
        if (node.kind == SyntaxKind::kName && known.insert(node.name).second) {
          free.push_back(node.name);
        }
      }
      known.insert(statement.target);
    }
    return free;
  }

  absl::Status BindArguments() {
    const std::vector<std::string> reads = FreeNames();
    std::vector<std::string> open = reads;
    const auto take = [&](const std::string& name) {
      const auto found = std::find(open.begin(), open.end(), name);
      if (found == open.end()) return false;
      open.erase(found);
      return true;
    };
    for (const Parameter& parameter : signature_.parameters) {
      if (!take(parameter.name)) return NotRead("parameter", parameter.name, reads);
      names_[parameter.name] = GraphBuilder::Number(parameter.number, parameter.kind);
    }
    for (const ArgumentType& argument : signature_.arguments) {
      if (!argument.name.empty() && !take(argument.name)) {
        return NotRead("argument", argument.name, reads);
      }
    }
    std::erase_if(open, [](const std::string& name) { return ConstantOf(name).has_value(); });
    size_t next = 0;
    for (const ArgumentType& argument : signature_.arguments) {
      const Value value = builder_.Input(argument.type);
      if (argument.name.empty() && next == open.size()) return TooManyUnnamed(open);
      names_[argument.name.empty() ? open[next++] : argument.name] = value;
    }
    return absl::OkStatus();
  }

  absl::Status TooManyUnnamed(const std::vector<std::string>& open) const {
    const auto unnamed =
        std::count_if(signature_.arguments.begin(), signature_.arguments.end(),
                      [](const ArgumentType& argument) { return argument.name.empty(); });
    return absl::InvalidArgumentError(absl::StrCat(unnamed, " arguments without a name, and the ",
                                                   "program reads ", ListOf(open)));
  }

  static std::string ListOf(const std::vector<std::string>& names) {
    return names.empty() ? "none" : absl::StrJoin(names, ", ");
  }

  static absl::Status NotRead(absl::string_view what, const std::string& name,
                              const std::vector<std::string>& reads) {
    return absl::InvalidArgumentError(absl::StrCat("the program reads ", ListOf(reads), ", but no ",
                                                   what, " '", Utf8Prefix(name, 64),
                                                   "', or that is given twice"));
  }

  absl::Status TypeNode(NodeIndex index) {
    const SyntaxNode& node = NodeOf(index);
    Value& value = values_[static_cast<size_t>(index)];
    switch (node.kind) {
      case SyntaxKind::kLiteral:
        value = std::visit(LiteralValue(), node.literal);
        return absl::OkStatus();
      case SyntaxKind::kName:
        return TypeName(index, &value);
      case SyntaxKind::kTuple:
        return absl::OkStatus();  // Has no value; who takes it looks at its elements.
      case SyntaxKind::kCall:
        break;
    }
    for (const NodeIndex argument : node.arguments) SHOAL_RETURN_IF_ERROR(CheckIsValue(argument));
    absl::StatusOr<Value> result = TypeCall(node);
    if (!result.ok()) return AtSource(syntax_.source, node.where, result.status());
    value = *std::move(result);
    return absl::OkStatus();
  }

  absl::Status CheckIsValue(NodeIndex node) const {
    if (NodeOf(node).kind != SyntaxKind::kTuple) return absl::OkStatus();
    return Error(node, "a tuple where a value is needed");
  }

  absl::Status TypeName(NodeIndex index, Value* value) {
    const std::string& name = NodeOf(index).name;
    if (const auto known = names_.find(name); known != names_.end()) {
      *value = known->second;
      return absl::OkStatus();
    }
    if (const auto constant = ConstantOf(name); constant.has_value()) {
      *value = GraphBuilder::Number(*constant, WeakKind::kFloat);
      return absl::OkStatus();
    }
    std::vector<std::string> names;
    for (const auto& [known, unused] : names_) names.push_back(known);
    std::sort(names.begin(), names.end());
    return Error(index, absl::StrCat("nothing has the name '", name, "'", DidYouMean(name, names)));
  }

  absl::StatusOr<Value> TypeCall(const SyntaxNode& node) {
    std::vector<Value> operands;
    for (const NodeIndex argument : node.arguments) operands.push_back(ValueOf(argument));
    absl::StatusOr<Value> result = TypeFunction(node, operands);
    if (result.ok() || operands.empty()) return result;
    // What was met, for whoever has to mend it.
    std::vector<std::string> types;
    for (const Value& operand : operands) types.push_back(builder_.Describe(operand));
    return absl::Status(result.status().code(), absl::StrCat(result.status().message(), " (of ",
                                                             absl::StrJoin(types, ", "), ")"));
  }

  absl::StatusOr<Value> TypeFunction(const SyntaxNode& node, const std::vector<Value>& operands) {
    if (const auto dtype = DTypeByName(node.name); dtype.has_value()) {
      if (operands.size() == 1 && node.keywords.empty())
        return builder_.Convert(operands[0], *dtype);
      return absl::InvalidArgumentError("a conversion takes one operand");
    }
    if (const Function* function = FindFunction(node.name); function != nullptr) {
      return CallFunction(*function, node, operands);
    }
    const OpInfo* op = FindOpOrAlias(node.name);
    if (op != nullptr) return ApplyOp(*op, node, operands);
    if (node.name == "matmul") return absl::UnimplementedError("'@' is not built yet");
    return absl::InvalidArgumentError(absl::StrCat("there is no function '",
                                                   Utf8Prefix(node.name, 64), "'",
                                                   DidYouMean(node.name, FunctionNames())));
  }

  static std::vector<std::string> FunctionNames() {
    std::vector<std::string> names;
    for (const OpInfo& op : AllOps()) names.emplace_back(op.name);
    for (const Function& function : AllFunctions()) names.emplace_back(function.name);
    return names;
  }

  absl::StatusOr<Value> CallFunction(const Function& function, const SyntaxNode& node,
                                     const std::vector<Value>& operands) {
    const auto count = static_cast<int64_t>(operands.size());
    if (count != function.operands) {
      return absl::InvalidArgumentError(
          absl::StrCat(function.name, " takes ", int{function.operands},
                       function.operands == 1 ? " operand" : " operands", ", not ", count));
    }
    if (function.reduce != nullptr) {
      SHOAL_ASSIGN_OR_RETURN(const ReduceOptions options, OptionsOf(node));
      return function.reduce(builder_, operands[0], options);
    }
    if (!node.keywords.empty()) return NoSuchKeyword(node, node.keywords[0]);
    return function.make(builder_, operands);
  }

  static absl::Status NoSuchKeyword(const SyntaxNode& node, const language::Keyword& keyword) {
    return absl::InvalidArgumentError(
        absl::StrCat(node.name, " has no argument '", Utf8Prefix(keyword.name, 64), "'"));
  }

  absl::StatusOr<ReduceOptions> OptionsOf(const SyntaxNode& node) const {
    ReduceOptions options;
    for (const language::Keyword& keyword : node.keywords) {
      if (keyword.name == "axis") {
        SHOAL_ASSIGN_OR_RETURN(options.axes, AxesOf(keyword.value));
      } else if (keyword.name == "keepdims") {
        SHOAL_ASSIGN_OR_RETURN(const int64_t flag, WholeNumberOf("keepdims", keyword.value));
        options.keepdims = flag != 0;
      } else if (keyword.name == "ddof" && (node.name == "var" || node.name == "std")) {
        SHOAL_ASSIGN_OR_RETURN(options.ddof, WholeNumberOf("ddof", keyword.value));
      } else {
        return NoSuchKeyword(node, keyword);
      }
    }
    return options;
  }

  /// One axis, or a tuple of some.
  absl::StatusOr<std::vector<int64_t>> AxesOf(NodeIndex node) const {
    const bool is_tuple = NodeOf(node).kind == SyntaxKind::kTuple;
    std::vector<int64_t> axes;
    for (const NodeIndex axis : is_tuple ? NodeOf(node).arguments : std::vector{node}) {
      SHOAL_ASSIGN_OR_RETURN(axes.emplace_back(), WholeNumberOf("axis", axis));
    }
    return axes;
  }

  absl::StatusOr<int64_t> WholeNumberOf(absl::string_view name, NodeIndex node) const {
    const Value& value = ValueOf(node);
    const bool is_number = NodeOf(node).kind != SyntaxKind::kTuple && value.node < 0;
    const auto* number = is_number ? std::get_if<int64_t>(&value.number) : nullptr;
    if (number == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("'", name, "' has to be a whole number"));
    }
    return *number;
  }

  absl::StatusOr<Value> ApplyOp(const OpInfo& op, const SyntaxNode& node,
                                const std::vector<Value>& operands) {
    std::vector<Scalar> params;
    for (const ParamInfo& param : op.params) {
      const auto given = std::find_if(node.keywords.begin(), node.keywords.end(),
                                      [&](const language::Keyword& keyword) {
                                        return keyword.name == std::string(param.name);
                                      });
      if (given == node.keywords.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat(node.name, " needs the argument '", std::string(param.name), "'"));
      }
      const Value& value = ValueOf(given->value);
      if (value.node >= 0 || NodeOf(given->value).kind == SyntaxKind::kTuple) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", std::string(param.name), "' has to be a number"));
      }
      params.push_back(value.number);
    }
    for (const language::Keyword& keyword : node.keywords) {
      const bool known = std::any_of(op.params.begin(), op.params.end(), [&](const auto& param) {
        return keyword.name == std::string(param.name);
      });
      if (!known) return NoSuchKeyword(node, keyword);
    }
    if (const std::optional<Value> folded = FoldNumbers(op, operands); folded.has_value()) {
      return *folded;
    }
    return builder_.Apply(op, operands, params);
  }

  absl::Status AddOutputs() {
    for (const std::string& name : signature_.outputs) {
      const auto known = names_.find(name);
      if (known == names_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("the program has no '", Utf8Prefix(name, 64), "' to give back"));
      }
      SHOAL_RETURN_IF_ERROR(builder_.Output(name, known->second));
    }
    if (!signature_.outputs.empty()) return absl::OkStatus();
    for (const language::SyntaxOutput& output : syntax_.outputs) {
      if (output.node >= 0) SHOAL_RETURN_IF_ERROR(CheckIsValue(output.node));
      SHOAL_RETURN_IF_ERROR(builder_.Output(
          output.name, output.node >= 0 ? ValueOf(output.node) : names_[output.name]));
    }
    return absl::OkStatus();
  }

  const Syntax& syntax_;
  const Signature& signature_;
  GraphBuilder builder_;
  absl::flat_hash_map<std::string, Value> names_;
  std::vector<Value> values_;  // By node of the tree.
};

}  // namespace

absl::StatusOr<Graph> TypeProgram(const Syntax& syntax, const Signature& signature,
                                  GraphLimits limits) {
  return Typer(syntax, signature, limits).Run();
}

}  // namespace shoal::kernels::program
