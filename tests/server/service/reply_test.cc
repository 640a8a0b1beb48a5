#include "server/service/reply.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "server/memory/budget.h"
#include "shoal/v1/compute.pb.h"
#include "tests/support/details.h"
#include "tests/support/engine.h"
#include "tests/support/unary.h"

namespace shoal::service {
namespace {

using support::TestUnary;

TEST(ParseTest, TakesAMessageInAnyPiecesAndNamesWhatItIsNot) {
  v1::EchoRequest request;
  request.set_payload(std::string(100, 'q'));
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{50}, SIZE_MAX}) {
    v1::EchoRequest parsed;
    ASSERT_TRUE(Parse(support::MakeMessage(request.SerializeAsString(), piece), &parsed).ok());
    EXPECT_EQ(parsed.payload(), request.payload());
    const absl::Status status = Parse(support::MakeMessage("\x7a\x7f", piece), &parsed);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("EchoRequest"), absl::string_view::npos);
  }
  v1::EchoRequest empty;
  EXPECT_TRUE(Parse(transport::Message(), &empty).ok());
}

TEST(DeadlineOfTest, IsNeverWithoutOneAndNeverOverflows) {
  EXPECT_EQ(DeadlineOf(TestUnary("")), kNever);
  EXPECT_EQ(DeadlineOf(TestUnary("", Duration::max())), kNever);
  EXPECT_LE(DeadlineOf(TestUnary("", Duration(0))), runtime::Now());
  EXPECT_LT(DeadlineOf(TestUnary("", std::chrono::hours(-1))), runtime::Now());
  EXPECT_GT(DeadlineOf(TestUnary("", std::chrono::hours(1))), runtime::Now());
}

class ReplyTest : public ::testing::Test {
 protected:
  Reply Make() { return Reply(engine_.get(), "Method", call_); }

  support::TestEngine engine_;
  const std::shared_ptr<TestUnary> call_ = std::make_shared<TestUnary>("");
};

TEST_F(ReplyTest, EachCallIsALineAtDebugWithItsMethod) {
  v1::EchoResponse response;
  response.set_payload("abc");
  Make().Send(response);
  EXPECT_EQ(*call_->Answer(), response.SerializeAsString());
  const std::string log = engine_.Log();
  EXPECT_NE(log.find("Method"), std::string::npos) << log;
  EXPECT_EQ(log.find("failed"), std::string::npos) << log;
}

TEST_F(ReplyTest, AFailureIsALineWithItsReason) {
  Make().Fail(absl::NotFoundError("no such thing"));
  EXPECT_EQ(call_->Answer().status(), absl::NotFoundError("no such thing"));
  const std::string log = engine_.Log();
  EXPECT_NE(log.find("call failed"), std::string::npos) << log;
  EXPECT_NE(log.find("no such thing"), std::string::npos) << log;
}

TEST_F(ReplyTest, AShortageReachesTheCallerWithItsNumbers) {
  memory::Budget budget("worker 0", 1);
  Make().Fail(budget.Reserve(2).status());
  EXPECT_EQ(support::ReasonOf(call_->Answer().status()), "OUT_OF_MEMORY");
}

TEST_F(ReplyTest, ARequestThatDoesNotParseNeverReachesItsHandler) {
  bool reached = false;
  const transport::Method method = UnaryMethod<v1::EchoRequest>(
      engine_.get(), "Echo", [&](runtime::Engine&, const auto&, const Reply& reply) {
        reached = true;
        reply.Send(v1::EchoResponse());
      });
  const auto bad = std::make_shared<TestUnary>("\xff");
  method.unary(bad);
  EXPECT_EQ(bad->Answer().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(reached);
  const auto good = std::make_shared<TestUnary>("");
  method.unary(good);
  EXPECT_TRUE(good->Answer().ok());
  EXPECT_TRUE(reached);
}

}  // namespace
}  // namespace shoal::service
