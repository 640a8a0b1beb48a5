#include "server/service/cluster_service.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "server/runtime/clock.h"
#include "server/service/call_record.h"
#include "shoal/v1/cluster.pb.h"
#include "tests/server/runtime/calls.h"
#include "tests/support/details.h"
#include "tests/support/gate.h"
#include "tests/support/unary.h"

namespace shoal::service {
namespace {

using support::CallUnary;
using support::Gate;
using support::TestUnary;

class ClusterServiceTest : public ::testing::Test {
 protected:
  ClusterServiceTest() {
    facts_.version = "1.2.3";
    facts_.instance_id = "here";
    facts_.lease_socket = "/lease";
    facts_.started = runtime::Now();
    facts_.begin_drain = [this] { engine_->drain.Begin(); };
  }

  support::TestEngine engine_;
  ServerFacts facts_;
  const transport::ServiceTable table_ = ClusterService(engine_.get(), &facts_);
};

TEST_F(ClusterServiceTest, ServerInfoTellsLimitsPlanesAndEveryOp) {
  const auto info =
      CallUnary<v1::GetServerInfoResponse>(table_, "GetServerInfo", v1::GetServerInfoRequest());
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->version(), "1.2.3");
  EXPECT_EQ(info->instance_id(), "here");
  EXPECT_EQ(info->planes().lease_socket(), "/lease");
  EXPECT_EQ(info->planes().unix_socket(), "");
  EXPECT_EQ(info->planes().host_id(), HostId());
  EXPECT_EQ(info->limits().chunk_bytes(), engine_->limits.chunk_bytes);
  EXPECT_EQ(info->limits().message_bytes(), engine_->limits.message_bytes());
  EXPECT_EQ(info->limits().resume_timeout().seconds(), 60);
  EXPECT_EQ(info->limits().rank(), 32);
  EXPECT_EQ(info->worker_count(), 2);
  EXPECT_FALSE(info->draining());
  ASSERT_EQ(static_cast<size_t>(info->ops_size()), kernels::AllOps().size());
  for (const v1::OpInfo& op : info->ops()) {
    EXPECT_FALSE(op.doc().empty());
    EXPECT_GT(op.dtypes_size(), 0);
    EXPECT_EQ(op.params_size(), op.name() == "axpy" ? 1 : 0);
  }
}

TEST_F(ClusterServiceTest, HostIdNamesKernelAndNetwork) {
  EXPECT_NE(HostId().find(':'), std::string::npos);
  EXPECT_EQ(HostId(), HostId());
}

TEST_F(ClusterServiceTest, ThroughputIsByOp) {
  const auto record = [&](const char* op, bool failed) {
    CallRecord call;
    plan::Call of;
    of.op = kernels::FindOp(op);
    call.key = KeyOf(ThroughputIndex(of), plan::Route::kWorker, telemetry::Plane::kStream);
    call.begun = runtime::Now();
    call.bytes_in = 600;
    call.bytes_out = 500;
    call.phases.compute = Duration(7);
    if (failed) call.code = absl::StatusCode::kNotFound;
    Record(*engine_, call);
  };
  record("sum", false);
  record("sum", true);
  record("add", false);
  v1::GetThroughputRequest request;
  EXPECT_EQ(CallUnary<v1::GetThroughputResponse>(table_, "GetThroughput", request)->rows_size(), 2);
  request.set_op("sum");
  const auto response = CallUnary<v1::GetThroughputResponse>(table_, "GetThroughput", request);
  ASSERT_EQ(response->rows_size(), 1);
  const v1::ThroughputRow& row = response->rows(0);
  EXPECT_EQ(row.op(), "sum");
  EXPECT_EQ(row.route(), v1::ROUTE_WORKER);
  EXPECT_EQ(row.plane(), "stream");
  EXPECT_EQ(row.bytes_min(), 1024);
  EXPECT_EQ(row.call_count(), 2);
  EXPECT_EQ(row.failed_count(), 1);
  EXPECT_EQ(row.bytes_in(), 1200);
  EXPECT_EQ(row.time().compute_ns(), 14);
  EXPECT_LE(row.p50_ns(), row.max_ns());
}

TEST_F(ClusterServiceTest, WorkersTellTheirMemoryAndWork) {
  runtime::Calls calls(engine_.get());
  calls.Store(support::Type(kernels::DType::kUint8, {101}), std::string(101, 'x'),
              runtime::Place::kBlock);
  const Gate gate(engine_.get(), WorkerId{1});
  const auto list = [&] {
    return *CallUnary<v1::ListWorkersResponse>(table_, "ListWorkers", v1::ListWorkersRequest());
  };
  const v1::ListWorkersResponse response = list();
  ASSERT_EQ(response.workers_size(), 2);
  EXPECT_EQ(response.workers(0).memory_used_bytes(), 51);
  EXPECT_EQ(response.workers(1).memory_used_bytes(), 50);
  EXPECT_EQ(response.workers(1).array_count(), 1);
  EXPECT_EQ(response.workers(0).running_count(), 0);
  EXPECT_EQ(response.workers(1).running_count(), 1);
  EXPECT_EQ(response.workers(1).backend(), "cpu");
  EXPECT_EQ(response.workers(1).state(), v1::WorkerInfo::STATE_READY);
  engine_->drain.Begin();
  EXPECT_EQ(list().workers(0).state(), v1::WorkerInfo::STATE_DRAINING);
}

TEST_F(ClusterServiceTest, WorkersTellHowManyAttemptsFailed) {
  const auto failed = [&] {
    const auto list =
        CallUnary<v1::ListWorkersResponse>(table_, "ListWorkers", v1::ListWorkersRequest());
    return std::pair(list->workers(0).failed_count(), list->workers(1).failed_count());
  };
  Gate(engine_.get(), WorkerId{1}).Open(core::AttemptOutcome::kOk);
  EXPECT_EQ(failed(), std::pair(int64_t{0}, int64_t{0}));
  Gate(engine_.get(), WorkerId{1}).Open(core::AttemptOutcome::kFailed);
  Gate(engine_.get(), WorkerId{1}).Open(core::AttemptOutcome::kOutOfMemory);
  EXPECT_EQ(failed(), std::pair(int64_t{0}, int64_t{2}));
}

TEST_F(ClusterServiceTest, DrainAnswersOnceNothingIsInFlight) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  const auto call = std::make_shared<TestUnary>("");
  support::FindMethod(table_, "Drain").unary(call);
  EXPECT_TRUE(engine_->drain.draining());
  EXPECT_FALSE(call->IsAnswered());
  gate.reset();
  EXPECT_TRUE(call->Answer().ok());
  const auto again = CallUnary<v1::DrainResponse>(table_, "Drain", v1::DrainRequest());
  EXPECT_TRUE(again.ok());
}

TEST_F(ClusterServiceTest, DrainThatIsNotWaitedForGoesOn) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  const auto call = std::make_shared<TestUnary>("");
  support::FindMethod(table_, "Drain").unary(call);
  call->Cancel();
  EXPECT_EQ(call->Answer().status().code(), absl::StatusCode::kDeadlineExceeded);
  gate.reset();  // Its end must not be answered a second time.
  EXPECT_EQ(engine_->dispatcher->Counts().tasks, 0);
}

TEST_F(ClusterServiceTest, DumpSaysWhatToUseInstead) {
  const absl::Status status =
      CallUnary<v1::DumpResponse>(table_, "Dump", v1::DumpRequest()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(support::ReasonOf(status), "NOT_BUILT");
}

}  // namespace
}  // namespace shoal::service
