#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kernels/language/source_error.h"

namespace shoal::kernels::language {

/// A number times the imaginary unit: `2j`.
struct Imaginary {
  double value = 0;
  friend bool operator==(const Imaginary&, const Imaginary&) = default;
};

/// A literal. Integers have no sign: that is an op.
using Literal = std::variant<bool, uint64_t, double, Imaginary>;

using NodeIndex = int32_t;

enum class SyntaxKind : uint8_t {
  kLiteral,
  kName,
  kCall,   ///< Operators too: `x + y` is a call of "add".
  kTuple,  ///< `(a, b)`, `[a, b]`.
};

struct Keyword {
  std::string name;
  SourceSpan where;  ///< Of the name.
  NodeIndex value = 0;
};

/// A node of the tree. Children come before their parents.
struct SyntaxNode {
  SyntaxKind kind = SyntaxKind::kLiteral;
  SourceSpan where;
  Literal literal;                   ///< Of kLiteral.
  std::string name;                  ///< Of kName, and of kCall the function's.
  std::vector<NodeIndex> arguments;  ///< Of kCall and kTuple.
  std::vector<Keyword> keywords;     ///< Of kCall.
};

struct Statement {
  std::string target;  ///< The name that is given, or empty.
  SourceSpan target_span;
  NodeIndex value = 0;
};

/// What a program gives: a name's newest value, or a node of the last statement.
struct SyntaxOutput {
  std::string name;     ///< Empty: the expression has none.
  NodeIndex node = -1;  ///< -1: by the name.
};

/// A program's text as a tree.
struct Syntax {
  std::string source;
  std::vector<SyntaxNode> nodes;
  std::vector<Statement> statements;
  std::vector<SyntaxOutput> outputs;
};

}  // namespace shoal::kernels::language
