#include "server/service/call_record.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "server/runtime/clock.h"
#include "tests/support/arrays.h"
#include "tests/support/call_log.h"
#include "tests/support/engine.h"

namespace shoal::service {
namespace {

plan::Call CallOf(const kernels::OpInfo& op) {
  plan::Call call;
  call.op = &op;
  return call;
}

TEST(ThroughputNamesTest, EveryIndexNamesItsOwn) {
  const std::vector<std::string> names = ThroughputNames();
  for (const kernels::OpInfo& op : kernels::AllOps()) {
    EXPECT_EQ(names[static_cast<size_t>(ThroughputIndex(CallOf(op)))], std::string(op.name));
  }
  EXPECT_EQ(names[static_cast<size_t>(PutIndex())], "put");
  EXPECT_EQ(names[static_cast<size_t>(GetIndex())], "get");
  EXPECT_EQ(names[static_cast<size_t>(ThroughputIndex(plan::Call()))], "program");
  EXPECT_EQ(names.size(), static_cast<size_t>(GetIndex()) + 2);
}

TEST(RecordTest, TheTableLearnsWhatTheCallWas) {
  support::TestEngine engine;
  CallRecord call;
  call.key = KeyOf(PutIndex(), plan::Route::kDevice, telemetry::Plane::kStream);
  call.begun = runtime::Now() - std::chrono::seconds(1);
  call.bytes_in = 7;
  call.bytes_out = 3;
  call.code = absl::StatusCode::kDataLoss;
  Record(*engine, call);
  const auto rows = engine->throughput->Snapshot();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key.op, PutIndex());
  EXPECT_EQ(rows[0].key.route, telemetry::Route::kDevice);
  EXPECT_EQ(rows[0].bytes_in, 7);
  EXPECT_EQ(rows[0].bytes_out, 3);
  EXPECT_EQ(rows[0].failed_count, 1);
  EXPECT_GE(rows[0].latency_max, std::chrono::seconds(1));
}

TEST(RecordTest, EveryObserverIsToldOfAllOfThem) {
  support::TestEngine engine;
  support::CallLog first;
  support::CallLog second;
  engine->observers.push_back(&first);
  engine->observers.push_back(&second);
  const TaskId tasks[] = {{5}, {6}, {7}};
  CallRecord call;
  call.key = GetKey();
  call.begun = runtime::Now();
  call.tasks = tasks;
  Record(*engine, call, 3);
  EXPECT_EQ(engine->throughput->Snapshot()[0].call_count, 3);
  for (const support::CallLog* log : {&first, &second}) {
    ASSERT_EQ(log->entries().size(), 1U);
    const support::CallLog::Entry entry = log->entries()[0];
    EXPECT_EQ(entry.count, 3);
    EXPECT_EQ(entry.tasks, std::vector<TaskId>(std::begin(tasks), std::end(tasks)));
    EXPECT_EQ(entry.record.code, absl::StatusCode::kOk);
    EXPECT_GE(entry.record.ended, call.begun);
  }
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
