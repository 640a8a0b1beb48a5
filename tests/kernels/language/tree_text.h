#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/language/syntax.h"

namespace shoal::kernels::language {

/// The tree with every call written out, as "add(x, multiply(2, y))": what tests compare.
///
/// Recursive: for trees of tests, not of strangers.
inline std::string TreeText(const Syntax& syntax, NodeIndex index) {
  const SyntaxNode& node = syntax.nodes[static_cast<size_t>(index)];
  const auto list = [&](std::string text) {
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ", ", TreeText(syntax, node.arguments[i]));
    }
    for (const Keyword& keyword : node.keywords) {
      absl::StrAppend(&text, text.back() == '(' ? "" : ", ", keyword.name, "=",
                      TreeText(syntax, keyword.value));
    }
    return absl::StrCat(text, ")");
  };
  switch (node.kind) {
    case SyntaxKind::kName:
      return node.name;
    case SyntaxKind::kTuple:
      return list("(");
    case SyntaxKind::kCall:
      return list(absl::StrCat(node.name, "("));
    case SyntaxKind::kLiteral:
      break;
  }
  if (const auto* value = std::get_if<bool>(&node.literal)) return *value ? "True" : "False";
  if (const auto* value = std::get_if<uint64_t>(&node.literal)) return absl::StrCat(*value);
  if (const auto* value = std::get_if<double>(&node.literal)) return absl::StrCat(*value, "f");
  return absl::StrCat(std::get<Imaginary>(node.literal).value, "j");
}

}  // namespace shoal::kernels::language
