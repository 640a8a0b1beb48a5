#include "kernels/program/plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/program/builder.h"

namespace shoal::kernels::program {
namespace {

using Kind = Place::Kind;

ArrayType Of(DType dtype, const std::vector<int64_t>& extents) {
  return {dtype, *Shape::Create(extents)};
}

class PlanTest : public ::testing::Test {
 protected:
  Value Input(const ArrayType& type) { return builder_.Input(type); }
  Value Apply(const char* op, const std::vector<Value>& operands) {
    return *builder_.Apply(*FindOp(op), operands);
  }
  Plan PlanOf(const std::vector<Value>& outputs) {
    for (const Value& output : outputs) EXPECT_TRUE(builder_.Output("", output).ok());
    const Graph graph = std::move(builder_).Finish();
    return *MakePlan(graph);
  }

  GraphBuilder builder_;
};

TEST_F(PlanTest, ElementwiseIsOneStepWhateverItsLength) {
  const Value x = Input(Of(DType::kFloat32, {5}));
  const Value y = Input(Of(DType::kInt32, {5}));
  const Value hypotenuse =
      Apply("sqrt", {Apply("add", {Apply("multiply", {x, x}), Apply("multiply", {y, y})})});
  const Plan plan = PlanOf({hypotenuse, Apply("less", {x, y})});
  ASSERT_EQ(plan.steps.size(), 1U);
  const Step& step = plan.steps[0];
  EXPECT_EQ(step.form, OpForm::kMap);
  EXPECT_EQ(step.inputs, (std::vector<Place>{{Kind::kInput, 0}, {Kind::kInput, 1}}));
  EXPECT_EQ(step.outputs, (std::vector<Place>{{Kind::kOutput, 0}, {Kind::kOutput, 1}}));
  EXPECT_EQ(step.kernel.OutputDType(0), DType::kFloat64);
  EXPECT_EQ(step.kernel.OutputDType(1), DType::kBool);
  EXPECT_FALSE(plan.WritesInPlace());
}

TEST_F(PlanTest, WhatAReductionGivesIsReadByTheNextStep) {
  const Value x = Input(Of(DType::kFloat32, {5}));
  const Value centred = Apply("subtract", {x, Apply("sum", {Apply("absolute", {x})})});
  const Plan plan = PlanOf({centred});
  ASSERT_EQ(plan.steps.size(), 2U);
  EXPECT_EQ(plan.steps[0].form, OpForm::kReduce);
  EXPECT_EQ(plan.steps[0].kernel.steps.size(), 1U);
  EXPECT_EQ(plan.steps[0].domain, *Shape::Create({5}));
  EXPECT_EQ(plan.steps[0].outputs, (std::vector<Place>{{Kind::kTemporary, 0}}));
  EXPECT_EQ(plan.steps[1].inputs, (std::vector<Place>{{Kind::kInput, 0}, {Kind::kTemporary, 0}}));
  EXPECT_EQ(plan.temporaries.size(), 1U);
}

TEST_F(PlanTest, AReductionMayBeAnOutputAndReadAgain) {
  const Value x = Input(Of(DType::kFloat32, {5}));
  const Value total = Apply("sum", {x});
  const Plan plan = PlanOf({total, Apply("divide", {x, total}), total});
  ASSERT_EQ(plan.steps.size(), 3U);
  EXPECT_EQ(plan.steps[0].outputs, (std::vector<Place>{{Kind::kOutput, 0}}));
  EXPECT_EQ(plan.steps[1].inputs, (std::vector<Place>{{Kind::kInput, 0}, {Kind::kOutput, 0}}));
  // The third output is a copy of the first.
  EXPECT_EQ(plan.steps[2].inputs, (std::vector<Place>{{Kind::kOutput, 0}}));
  EXPECT_TRUE(plan.steps[2].kernel.steps.empty());
  EXPECT_TRUE(plan.temporaries.empty());
}

TEST_F(PlanTest, OutputsOfOtherShapesAreOtherSteps) {
  const Value x = Input(Of(DType::kFloat32, {5}));
  const Value y = Input(Of(DType::kFloat32, {3, 1}));
  const Plan plan = PlanOf({Apply("negative", {x}), Apply("add", {x, y}), Apply("sqrt", {x})});
  ASSERT_EQ(plan.steps.size(), 2U);
  EXPECT_EQ(plan.steps[0].outputs.size(), 2U);
  EXPECT_EQ(plan.steps[1].domain, *Shape::Create({3, 5}));
}

TEST_F(PlanTest, NumbersAreNoPartOfTheKernel) {
  const Value x = Input(Of(DType::kFloat32, {5}));
  const Plan plan = PlanOf({Apply("multiply", {x, GraphBuilder::Number(2.5, WeakKind::kFloat)})});
  EXPECT_EQ(plan.steps[0].kernel.scalars, std::vector<DType>{DType::kFloat32});
  EXPECT_EQ(plan.steps[0].scalars, std::vector<Scalar>{2.5});
}

TEST_F(PlanTest, ASortIsAStepOfItsOwn) {
  const Value x = Input(Of(DType::kFloat32, {5}));
  const Value sorted = Apply("sort", {x});
  const Plan plan = PlanOf({sorted});
  ASSERT_EQ(plan.steps.size(), 1U);
  EXPECT_EQ(plan.steps[0].form, OpForm::kSort);
  EXPECT_EQ(plan.steps[0].op, FindOp("sort"));
}

TEST_F(PlanTest, WhatNobodyAsksForIsNotComputed) {
  const Value x = Input(Of(DType::kFloat32, {5}));
  Apply("sum", {x});
  const Plan plan = PlanOf({Apply("negative", {x})});
  EXPECT_EQ(plan.steps.size(), 1U);
  EXPECT_TRUE(plan.WritesInPlace());
}

TEST_F(PlanTest, AStepHasRoomForSoManyArrays) {
  Value sum = Input(Of(DType::kFloat32, {5}));
  for (int i = 0; i < 40; ++i) sum = Apply("add", {sum, Input(Of(DType::kFloat32, {5}))});
  EXPECT_TRUE(builder_.Output("", sum).ok());
  const Graph graph = std::move(builder_).Finish();
  EXPECT_EQ(MakePlan(graph).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace shoal::kernels::program
