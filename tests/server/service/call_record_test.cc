#include "server/service/call_record.h"

#include <gtest/gtest.h>

#include "server/runtime/clock.h"
#include "tests/support/arrays.h"
#include "tests/support/engine.h"

namespace shoal::service {
namespace {

TEST(ThroughputNamesTest, EveryIndexNamesItsOwn) {
  const std::vector<std::string> names = ThroughputNames();
  for (const kernels::OpInfo& op : kernels::AllOps()) {
    EXPECT_EQ(names[static_cast<size_t>(ThroughputIndex(&op))], std::string(op.name));
  }
  EXPECT_EQ(names[static_cast<size_t>(PutIndex())], "put");
  EXPECT_EQ(names[static_cast<size_t>(GetIndex())], "get");
  EXPECT_EQ(names.size(), static_cast<size_t>(GetIndex()) + 1);
}

TEST(RecordTest, TheTableLearnsWhatTheCallWas) {
  support::TestEngine engine;
  Record(*engine, {.op = PutIndex(),
                   .route = plan::Route::kDevice,
                   .plane = telemetry::Plane::kStream,
                   .begun = runtime::Now() - std::chrono::seconds(1),
                   .bytes_in = 7,
                   .bytes_out = 3,
                   .phases = {},
                   .failed = true});
  const auto rows = engine->throughput->Snapshot();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key.op, PutIndex());
  EXPECT_EQ(rows[0].key.route, telemetry::Route::kDevice);
  EXPECT_EQ(rows[0].bytes_in, 7);
  EXPECT_EQ(rows[0].bytes_out, 3);
  EXPECT_EQ(rows[0].failed_count, 1);
  EXPECT_GE(rows[0].latency_max, std::chrono::seconds(1));
}

TEST(PlaneOfTest, OneLeaseMakesItThatPlane) {
  const plan::ArrayType type = support::Type(kernels::DType::kInt8, {1});
  plan::Call call;
  EXPECT_EQ(PlaneOf(call), telemetry::Plane::kInline);
  call.arguments.push_back({"", plan::InlineBytes{type, {}}});
  EXPECT_EQ(PlaneOf(call), telemetry::Plane::kInline);
  call.arguments.push_back({"", plan::LeasedBytes{type, {}}});
  EXPECT_EQ(PlaneOf(call), telemetry::Plane::kLease);
}

}  // namespace
}  // namespace shoal::service
