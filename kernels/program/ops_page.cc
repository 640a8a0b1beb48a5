#include "kernels/program/ops_page.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "kernels/ops/rows.h"
#include "kernels/program/functions.h"
#include "kernels/registry.h"

namespace shoal::kernels::program {
namespace {

constexpr absl::string_view kHead =
    R"(# Ops and functions

Made from the op table (`kernels/ops`) and the functions of programs
(`kernels/program/functions.cc`); a test compares. [language.md](language.md) says how programs are
written.

An op is applied by its name, or within a program. Its operands meet in a common dtype as in NumPy
2, which "computed in" may then change: "number" takes bool as int8; "float" takes bool and integers
of 8 or 16 bits as float32, larger ones as float64; "true divide" takes all of these as float64.
float16 and bfloat16 are computed as float32 and rounded. The result has the dtype that is computed
in, unless it says otherwise.

"Error" is how far float32 and float64 results are from the true values at most, in units of the
last place; 0.5 would be correctly rounded. Where there is none, every operation that the text names
is rounded once, or is exact. Every result has the same bits on every machine and any number of
workers.
)";

/// As it stands in a cell, which a bar would end.
std::string Text(std::string_view text) {
  return absl::StrReplaceAll(absl::string_view(text.data(), text.size()), {{"|", "\\|"}});
}

std::string DTypesOf(const OpInfo& op) {
  std::vector<std::string> classes;
  uint32_t left = op.dtypes;
  const auto take = [&](uint32_t mask, const char* name) {
    if ((left & mask) != mask) return;
    left &= ~mask;
    classes.emplace_back(name);
  };
  take(kEveryDType, "all");
  take(kNumberDTypes, "numbers");
  take(kRealDTypes, "real");
  take(kBoolDType, "bool");
  take(kIntegerDTypes, "integers");
  take(kFloatDTypes, "floats");
  take(kComplexDTypes, "complex");
  for (const DType dtype : kAllDTypes) take(1U << static_cast<int>(dtype), Name(dtype).data());
  return absl::StrJoin(classes, ", ");
}

std::string PromotionOf(const OpInfo& op) {
  switch (op.promotion) {
    case Promotion::kNone:
      return "";
    case Promotion::kNumber:
      return "number";
    case Promotion::kFloat:
      return "float";
    case Promotion::kTrueDivide:
      return "true divide";
  }
  return "";
}

std::string ResultOf(const OpInfo& op) {
  switch (op.dtype_rule) {
    case DTypeRule::kSame:
      return "";
    case DTypeRule::kSumWidened:
      return "int64 or uint64 of integers";
    case DTypeRule::kBool:
      return "bool";
    case DTypeRule::kRealPart:
      return "real";
  }
  return "";
}

std::string ErrorOf(const OpInfo& op) {
  if (op.error.float32 == 0.0) return "";
  return absl::StrCat(op.error.float32, " / ", op.error.float64);
}

std::string NameOf(const OpInfo& op) {
  const std::string name = absl::StrCat("`", Text(op.name), "`");
  return op.symbol.empty() ? name : absl::StrCat(name, " `", Text(op.symbol), "`");
}

std::string OperandsOf(const OpInfo& op) {
  std::vector<std::string> params;
  for (const ParamInfo& param : op.params)
    params.push_back(absl::StrCat(", ", Text(param.name), "="));
  const std::string count = op.inputs_min == op.inputs_max
                                ? absl::StrCat(int{op.inputs_max})
                                : absl::StrCat(int{op.inputs_min}, " to ", int{op.inputs_max});
  return absl::StrCat(count, absl::StrJoin(params, ""));
}

void AppendOps(OpForm form, absl::string_view title, std::string* page) {
  absl::StrAppend(page, "\n## ", title,
                  "\n\n| op | operands | | dtypes | computed in | result | error |\n"
                  "|---|---|---|---|---|---|---|\n");
  for (const OpInfo& op : AllOps()) {
    if (op.form != form) continue;
    absl::StrAppend(
        page, "| ", NameOf(op), " | ", OperandsOf(op), " | ", Text(op.doc), " | ",
        absl::StrJoin({DTypesOf(op), PromotionOf(op), ResultOf(op), ErrorOf(op)}, " | "), " |\n");
  }
}

}  // namespace

std::string OpsPage() {
  std::string page(kHead);
  AppendOps(OpForm::kMap, "Elementwise", &page);
  AppendOps(OpForm::kReduce, "Reductions", &page);
  AppendOps(OpForm::kSort, "Sorts", &page);
  AppendOps(OpForm::kMove, "Moves", &page);
  absl::StrAppend(&page,
                  "\n## Functions of programs\n\nMade of ops. Reductions take `axis` and "
                  "`keepdims`.\n\n| function | operands | |\n|---|---|---|\n");
  for (const Function& function : AllFunctions()) {
    absl::StrAppend(
        &page, "| `", function.name, "` | ",
        function.reduce != nullptr ? "1, axis=, keepdims=" : absl::StrCat(int{function.operands}),
        " | ", Text({function.doc.data(), function.doc.size()}), " |\n");
  }
  return page;
}

}  // namespace shoal::kernels::program
