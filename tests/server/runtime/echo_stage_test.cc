#include "server/runtime/echo_stage.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/server/runtime/calls.h"

namespace shoal::runtime {
namespace {

using kernels::DType;

class EchoStageTest : public ::testing::Test {
 protected:
  support::TestEngine engine_{{.workers = 3}};
  Calls calls_{engine_.get()};
};

TEST_F(EchoStageTest, TheFrontReturnsTheBytesWhereTheyLie) {
  std::byte memory[10];
  const Operand input = HostOperand(support::Type(DType::kUint8, {10}), memory, nullptr);
  const auto target = EchoTarget(*engine_, plan::Route::kFront, input);
  EXPECT_EQ(target->extents[0].data, memory);
  plan::Call call = Calls::Make("echo", {});
  call.route = plan::Route::kFront;
  EXPECT_EQ(MakeEchoStage(call, {input}, {*target}, *engine_->workers), nullptr);
}

TEST_F(EchoStageTest, SmallArraysGoToOneWorkerAndLargeOnesToAll) {
  for (const auto& [count, workers] :
       std::vector<std::pair<int64_t, size_t>>{{0, 1}, {65535, 1}, {65536, 3}}) {
    const Operand input = HostOperand(support::Type(DType::kUint8, {count}), nullptr, nullptr);
    const auto target = EchoTarget(*engine_, plan::Route::kWorker, input);
    ASSERT_TRUE(target.ok());
    EXPECT_EQ(target->extents.size(), workers) << count;
  }
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST_F(EchoStageTest, SeveralArraysComeBackEachAsItWas) {
  const plan::ArrayType small = support::Type(DType::kInt16, {3, 2});
  const plan::ArrayType large = support::Type(DType::kUint8, {100'000});
  const plan::ArrayType empty = support::Type(DType::kFloat64, {0, 4});
  const plan::ArrayType scalar = support::Type(DType::kComplex64, {});
  std::vector<plan::Argument> arguments;
  std::vector<std::string> sent;
  for (const plan::ArrayType& type : {small, large, empty, scalar}) {
    sent.push_back(support::RandomBytes(static_cast<size_t>(support::ByteCount(type)), 9));
    arguments.push_back(calls_.Argument(type, sent.back(), Place::kRequest));
  }
  for (const auto route : {plan::Route::kFront, plan::Route::kWorker, plan::Route::kDevice}) {
    plan::Call call = Calls::Make("echo", arguments);
    call.route = route;
    const auto result = calls_.Run(std::move(call));
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->outputs.size(), 4U);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(Calls::BytesOf(result->outputs[i].data) == sent[i]) << i;
      EXPECT_EQ(result->outputs[i].data.type.shape,
                std::get<plan::InlineBytes>(arguments[i].value).type.shape);
    }
  }
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST_F(EchoStageTest, OfNothingComesNothing) {
  const auto result = calls_.Run(Calls::Make("echo", {}));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->outputs.empty());
}

TEST(CheckOverlapTest, WhollyOrNotAtAll) {
  std::byte memory[100];
  const auto at = [&](int64_t offset, int64_t count) {
    return HostOperand(support::Type(DType::kUint8, {count}), memory + offset, nullptr);
  };
  const Operand input = at(20, 10);
  for (const auto& [offset, count, legal] :
       std::vector<std::tuple<int64_t, int64_t, bool>>{{20, 10, true},
                                                       {30, 10, true},
                                                       {10, 10, true},
                                                       {0, 100, false},
                                                       {19, 10, false},
                                                       {21, 10, false},
                                                       {29, 1, false},
                                                       {20, 9, false},
                                                       {25, 0, true},
                                                       {20, 0, true}}) {
    const absl::Status status = CheckOverlap(at(offset, count), {&input, 1});
    EXPECT_EQ(status.ok(), legal) << offset << " " << count;
  }
  const Operand nothing = at(25, 0);
  EXPECT_TRUE(CheckOverlap(at(20, 10), {&nothing, 1}).ok());
}

TEST(CheckApartTest, NotEvenTheVeryPlaceOfAnother) {
  std::byte memory[100];
  const auto at = [&](int64_t offset, int64_t count) {
    return HostOperand(support::Type(DType::kUint8, {count}), memory + offset, nullptr);
  };
  const Operand other = at(20, 10);
  EXPECT_FALSE(CheckApart(at(20, 10), {&other, 1}).ok());
  EXPECT_FALSE(CheckApart(at(29, 10), {&other, 1}).ok());
  EXPECT_TRUE(CheckApart(at(30, 10), {&other, 1}).ok());
}

}  // namespace
}  // namespace shoal::runtime
