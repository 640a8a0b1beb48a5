#include "kernels/program/typing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/language/parser.h"

namespace shoal::kernels::program {
namespace {

ArrayType Of(DType dtype, const std::vector<int64_t>& extents) {
  return {dtype, *Shape::Create(extents)};
}

const ArrayType kX = Of(DType::kFloat32, {3, 4});
const ArrayType kY = Of(DType::kInt16, {4});

absl::StatusOr<Graph> GraphOf(const std::string& source, const Signature& signature) {
  const auto syntax = language::Parse(source);
  if (!syntax.ok()) return syntax.status();
  return TypeProgram(*syntax, signature);
}

/// Types of the outputs, "r: float32 (3, 4)", or the error.
std::string Typed(const std::string& source, const std::vector<ArgumentType>& arguments,
                  const std::vector<Parameter>& parameters = {},
                  const std::vector<std::string>& outputs = {}) {
  const auto graph =
      GraphOf(source, {.arguments = arguments, .parameters = parameters, .outputs = outputs});
  if (!graph.ok()) return std::string(graph.status().message());
  std::string text;
  for (const GraphOutput& output : graph->outputs) {
    const ArrayType& type = graph->nodes[static_cast<size_t>(output.node)].type;
    if (!text.empty()) text += "; ";
    text += (output.name.empty() ? "" : output.name + ": ") + std::string(Name(type.dtype)) + " " +
            type.shape.ToString();
  }
  return text;
}

TEST(TypeProgramTest, ArgumentsAreKnownByNameOrInTheTextsOrder) {
  EXPECT_EQ(Typed("x * 2 + y", {{"y", kY}, {"x", kX}}), "float32 (3, 4)");
  EXPECT_EQ(Typed("a / b", {{"", kX}, {"", kY}}), "float32 (3, 4)");
  EXPECT_EQ(Typed("a - b", {{"b", kX}, {"", kY}}), "float32 (3, 4)");
  EXPECT_EQ(Typed("t = a + 1; t * b", {{"", kX}, {"", kY}}), "float32 (3, 4)");
}

TEST(TypeProgramTest, OutputsAreThoseOfTheProgramOrThoseAskedFor) {
  EXPECT_EQ(Typed("r = x < 1; s = sum(y)", {{"x", kX}, {"y", kY}}), "r: bool (3, 4); s: int64 ()");
  EXPECT_EQ(Typed("r = x < 1; s = sum(y)", {{"x", kX}, {"y", kY}}, {}, {"s"}), "s: int64 ()");
  EXPECT_EQ(Typed("r = x", {{"x", kX}}, {}, {"q"}), "the program has no 'q' to give back");
}

TEST(TypeProgramTest, ParametersAreNumbersWithoutADType) {
  const Parameter a = {"a", 2.5, WeakKind::kFloat};
  EXPECT_EQ(Typed("a * x", {{"x", kX}}, {a}), "float32 (3, 4)");
  EXPECT_EQ(Typed("a * y", {{"y", kY}}, {a}), "float64 (4,)");
  EXPECT_EQ(Typed("k * y", {{"y", kY}}, {{"k", int64_t{3}, WeakKind::kInt}}), "int16 (4,)");
}

TEST(TypeProgramTest, LiteralsAndConstants) {
  EXPECT_EQ(Typed("x * pi", {{"x", kX}}), "float32 (3, 4)");
  EXPECT_EQ(Typed("x + 1j", {{"x", kX}}), "complex64 (3, 4)");
  EXPECT_EQ(Typed("e + x", {{"x", kX}, {"e", kY}}), "float32 (3, 4)") << "a name, not a constant";
  EXPECT_EQ(Typed("2", {}), "int64 ()");
  EXPECT_EQ(Typed("y + (100 - 300)", {{"y", Of(DType::kInt8, {2})}}),
            "program, line 1, column 1: the number -200 is not a value of int8 (of int8 (2,), the "
            "number -200)\n  y + (100 - 300)\n  ^~~~~~~~~~~~~~~");
}

TEST(TypeProgramTest, ConversionsFunctionsAndOtherNames) {
  EXPECT_EQ(Typed("float64(x)", {{"x", kX}}), "float64 (3, 4)");
  EXPECT_EQ(Typed("clip(y, 0, 10)", {{"y", kY}}), "int16 (4,)");
  EXPECT_EQ(Typed("mean(y), std(x), var(x), norm(y)", {{"x", kX}, {"y", kY}}),
            "float64 (); float32 (); float32 (); float64 ()");
  EXPECT_EQ(Typed("any(x), all(x), count_nonzero(x)", {{"x", kX}}), "bool (); bool (); int64 ()");
  EXPECT_EQ(Typed("abs(y) + conj(y)", {{"y", kY}}), "int16 (4,)");
  EXPECT_EQ(Typed("y**2, x**0.5, y**0.5", {{"x", kX}, {"y", kY}}),
            "int16 (4,); float32 (3, 4); float64 (4,)");
  EXPECT_EQ(Typed("axpy(x, x, a=2)", {{"x", kX}}), "float32 (3, 4)");
}

TEST(TypeProgramTest, ErrorsPointAndTellTheTypes) {
  EXPECT_EQ(Typed("x + other", {{"x", kX}}),
            "program, line 1, column 5: nothing has the name 'other'\n  x + other\n      ^~~~~");
  EXPECT_EQ(Typed("x + y", {{"x", kX}, {"y", Of(DType::kInt8, {5})}}),
            "program, line 1, column 1: shapes (3, 4) and (5,) do not fit each other (of float32 "
            "(3, 4), int8 (5,))\n  x + y\n  ^~~~~");
  EXPECT_EQ(Typed("squrt(x)", {{"x", kX}}),
            "program, line 1, column 1: there is no function 'squrt'; did you mean 'sqrt'? (of "
            "float32 (3, 4))\n  squrt(x)\n  ^~~~~~~~");
  EXPECT_EQ(Typed("(x, x) + 1", {{"x", kX}}),
            "program, line 1, column 1: a tuple where a value is needed\n  (x, x) + 1\n  ^~~~~~");
  EXPECT_EQ(Typed("x", {{"x", kX}, {"y", kY}}),
            "the program reads x, but no argument 'y', or that is given twice");
  EXPECT_EQ(Typed("x + 1", {{"", kX}, {"", kY}}),
            "2 arguments without a name, and the program reads x");
  EXPECT_EQ(Typed("sum(x, axis=2)", {{"x", kX}}),
            "program, line 1, column 1: axis 2 of an array of shape (3, 4) (of float32 (3, 4))\n  "
            "sum(x, axis=2)\n  ^~~~~~~~~~~~~~");
  EXPECT_EQ(Typed("sqrt(x, x)", {{"x", kX}}),
            "program, line 1, column 1: sqrt takes 1 operand, not 2 (of float32 (3, 4), float32 "
            "(3, 4))\n  sqrt(x, x)\n  ^~~~~~~~~~");
}

TEST(TypeProgramTest, AProgramHasALimitOfOperations) {
  std::string source = "x";
  for (int i = 0; i < 3000; ++i) source += " + x*" + std::to_string(i);
  const std::vector<ArgumentType> arguments = {{"x", kX}};
  EXPECT_EQ(
      GraphOf(source, {.arguments = arguments, .parameters = {}, .outputs = {}}).status().code(),
      absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace shoal::kernels::program
