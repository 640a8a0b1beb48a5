#include "shoal/session.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <numeric>
#include <thread>

#include "tests/client/support/fixture.h"

namespace shoal {
namespace {

using testing::Connected;
using testing::EagerOptions;
using testing::FakeServer;
using testing::Faults;
using testing::Ramp;
using testing::Seen;

class SessionTest : public ::testing::Test {
 protected:
  void Open(const SessionOptions& options = {}) {
    client_ = Connected(EagerOptions(server_));
    session_ = *client_->OpenSession(options);
  }
  static PreparedCall Empty() { return *PreparedCall::Make({.op = "echo"}); }
  std::vector<int64_t> Batches() {
    return server_.With([](Faults&, Seen& seen) { return seen.session_batches; });
  }

  FakeServer server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, EveryTaskEndsOnceWithItsOwnId) {
  Open();
  constexpr int kTasks = 5000;
  std::vector<int> ended(kTasks + 1);
  const PreparedCall call = Empty();
  for (uint64_t i = 1; i <= kTasks; ++i) {
    const auto id = session_->Submit(call, [&ended](TaskResult result) {
      EXPECT_TRUE(result.status.ok());
      ++ended[result.id];
    });
    ASSERT_TRUE(id.ok()) << id.status();
    ASSERT_EQ(*id, i);
  }
  EXPECT_TRUE(session_->Wait().ok());
  EXPECT_EQ(session_->pending_count(), 0);
  EXPECT_EQ(std::count(ended.begin() + 1, ended.end(), 1), kTasks);
  EXPECT_TRUE(session_->Close().ok());
  EXPECT_EQ(session_->Submit(call, {}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(session_->Close().ok()) << "twice is as once";
}

TEST_F(SessionTest, TasksUnderLoadTravelTogether) {
  Open();
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(session_->Submit(Empty(), {}).ok());
  ASSERT_TRUE(session_->Wait().ok());
  const std::vector<int64_t> batches = Batches();
  EXPECT_EQ(std::accumulate(batches.begin(), batches.end(), int64_t{0}), 5000);
  EXPECT_LT(batches.size(), 2500U);
  EXPECT_EQ(session_->counters().tasks_sent, 5000);
  EXPECT_LE(*std::max_element(batches.begin(), batches.end()), 100) << "credits";
}

TEST_F(SessionTest, ALoneTaskDoesNotWaitForOthers) {
  // With a delay of an hour only tasks that are sent at once come back.
  Open({.flush_delay = std::chrono::hours(1)});
  for (int i = 0; i < 20; ++i) {
    std::promise<void> ended;
    ASSERT_TRUE(session_->Submit(Empty(), [&](TaskResult) { ended.set_value(); }).ok());
    ended.get_future().get();
    ASSERT_TRUE(session_->Wait().ok());
  }
  EXPECT_EQ(Batches(), std::vector<int64_t>(20, 1));
}

TEST_F(SessionTest, AnIncompleteBatchLeavesAfterItsDelay) {
  // Held tasks keep the session busy, a batch of two makes it wait for company.
  Open({.flush_tasks = 1000, .flush_delay = std::chrono::milliseconds(5)});
  const PreparedCall hold = *PreparedCall::Make({.op = "hold"});
  const auto held = session_->SubmitBatch(std::vector<PreparedCall>(2, hold), {});
  ASSERT_TRUE(held.ok());
  std::promise<void> ended;
  ASSERT_TRUE(session_->Submit(Empty(), [&](TaskResult) { ended.set_value(); }).ok());
  ended.get_future().get();
  session_->Cancel(held->first);
  session_->Cancel(held->first + 1);
  EXPECT_TRUE(session_->Wait().ok());
}

TEST_F(SessionTest, OutputsAndErrorsBelongToTheirTask) {
  Open();
  const Array x = Ramp(100);
  std::promise<TaskResult> sum;
  std::promise<TaskResult> failed;
  ASSERT_TRUE(session_
                  ->Submit(Call{.op = "add", .arguments = {x, x}},
                           [&](TaskResult result) { sum.set_value(std::move(result)); })
                  .ok());
  ASSERT_TRUE(
      session_->Submit(Call{.op = "fail"}, [&](TaskResult r) { failed.set_value(std::move(r)); })
          .ok());
  const TaskResult result = sum.get_future().get();
  ASSERT_TRUE(result.status.ok());
  EXPECT_EQ((*result.outputs.at(0).array.As<float>())[99], 2 * (*x.As<float>())[99]);
  EXPECT_EQ(failed.get_future().get().status.code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(SessionTest, BatchesReportInBulk) {
  Open();
  std::vector<PreparedCall> calls(300, Empty());
  calls[7] = *PreparedCall::Make({.op = "fail"});
  std::vector<uint64_t> done;
  std::vector<uint64_t> failed;
  const auto range = session_->SubmitBatch(calls, [&](const BulkReport& report) {
    done.insert(done.end(), report.done.begin(), report.done.end());
    for (const TaskResult& result : report.results) failed.push_back(result.id);
  });
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->count, 300);
  ASSERT_TRUE(session_->Wait().ok());
  EXPECT_EQ(failed, std::vector<uint64_t>{range->first + 7});
  std::vector<uint64_t> expected(300);
  std::iota(expected.begin(), expected.end(), range->first);
  expected.erase(expected.begin() + 7);
  EXPECT_EQ(done, expected);
}

TEST_F(SessionTest, AFloodComesBackWhole) {
  Open();
  int64_t reported = 0;
  const auto report = session_->Flood(Empty(), 100'000, [&](const BulkReport& bulk) {
    reported += static_cast<int64_t>(bulk.done.size());
  });
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->ok_count, 100'000);
  EXPECT_EQ(report->failed_count, 0);
  EXPECT_EQ(reported, 100'000);
  EXPECT_LE(report->sent, report->total);
  const std::vector<int64_t> batches = Batches();
  EXPECT_LE(*std::max_element(batches.begin(), batches.end()), 100) << "credits";
}

TEST_F(SessionTest, AFloodOfFailuresIsCounted) {
  Open();
  const auto report = session_->Flood(*PreparedCall::Make({.op = "fail"}), 500);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->failed_count, 500);
  EXPECT_EQ(report->first_error.message(), "told to");
}

TEST_F(SessionTest, ManyThreadsShareOne) {
  Open();
  std::atomic<int> ended = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        EXPECT_TRUE(session_->Submit(Empty(), [&](TaskResult) { ++ended; }).ok());
      }
      if (t != 0) return;
      EXPECT_EQ(session_->Flood(Empty(), 2000)->ok_count, 2000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(session_->Wait().ok());
  EXPECT_EQ(ended, 2000);
}

TEST_F(SessionTest, ACancelledTaskStillEndsOnce) {
  Open();
  const PreparedCall hold = *PreparedCall::Make({.op = "hold"});
  int ends = 0;
  absl::Status last;
  const auto id = session_->Submit(hold, [&](TaskResult result) {
    ++ends;
    last = result.status;
  });
  session_->Cancel(*id);
  session_->Cancel(12345);
  ASSERT_TRUE(session_->Wait().ok());
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(last.code(), absl::StatusCode::kCancelled);
  session_->Cancel(*id);
  EXPECT_TRUE(session_->Close().ok());
}

TEST_F(SessionTest, ATaskThatWaitsForACreditCanBeCancelled) {
  Open();
  const PreparedCall hold = *PreparedCall::Make({.op = "hold"});
  std::atomic<int> cancelled = 0;
  std::vector<uint64_t> ids;
  for (int i = 0; i < 300; ++i) {  // Three times the credits.
    ids.push_back(*session_->Submit(hold, [&](TaskResult result) {
      if (result.status.code() == absl::StatusCode::kCancelled) ++cancelled;
    }));
  }
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) session_->Cancel(*id);
  ASSERT_TRUE(session_->Wait().ok());
  EXPECT_EQ(cancelled, 300);
}

TEST_F(SessionTest, ABrokenStreamEndsEveryTaskWithItsError) {
  server_.With([](Faults& faults, Seen&) { faults.session_cut = 150; });
  Open();
  int64_t ok = 0;
  int64_t unavailable = 0;
  int64_t submitted = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!session_
             ->Submit(Empty(),
                      [&](TaskResult result) { ++(result.status.ok() ? ok : unavailable); })
             .ok()) {
      break;
    }
    ++submitted;
  }
  EXPECT_EQ(session_->Wait().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ok + unavailable, submitted);
  EXPECT_LE(ok, 150);
  EXPECT_GT(unavailable, 0);
  EXPECT_EQ(session_->Submit(Empty(), {}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(session_->Close().code(), absl::StatusCode::kUnavailable);
}

TEST_F(SessionTest, ABrokenStreamEndsAFloodWithItsError) {
  server_.With([](Faults& faults, Seen&) { faults.session_cut = 5000; });
  Open();
  EXPECT_EQ(session_->Flood(Empty(), 1'000'000).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(SessionTest, DestroyingItCancelsWhatHasNotEnded) {
  Open();
  std::vector<absl::StatusCode> ends;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(session_
                    ->Submit(Call{.op = "hold"},
                             [&](TaskResult result) { ends.push_back(result.status.code()); })
                    .ok());
  }
  client_.reset();  // A session outlives its client.
  session_.reset();
  EXPECT_EQ(ends, std::vector<absl::StatusCode>(10, absl::StatusCode::kCancelled));
}

TEST_F(SessionTest, CallbacksMaySubmitButNotWait) {
  Open();
  std::promise<void> all;
  int left = 200;
  std::function<void(TaskResult)> again = [&](TaskResult) {
    EXPECT_EQ(session_->Wait().code(), absl::StatusCode::kFailedPrecondition);
    if (--left == 0) return all.set_value();
    EXPECT_TRUE(session_->Submit(Empty(), again).ok());
  };
  ASSERT_TRUE(session_->Submit(Empty(), again).ok());
  all.get_future().get();
}

TEST_F(SessionTest, AFullQueueMakesTheSubmitterWait) {
  Open({.queue_tasks_max = 10});
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(session_->Submit(Empty(), {}).ok());
  EXPECT_TRUE(session_->Wait().ok());
}

TEST_F(SessionTest, WhatASessionCannotServeIsRefusedAtOnce) {
  Open();
  EXPECT_EQ(PreparedCall::Make({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(PreparedCall::Make({.op = "echo", .destinations = {WriteTo{Ramp(1)}}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      session_->Submit(Call{.op = "echo", .arguments = {Ramp(3'000'000)}}, {}).status().code(),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(client_->OpenSession({.flush_tasks = 0}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(SessionWithoutServerTest, TheFirstUseTellsOfIt) {
  auto server = std::make_unique<FakeServer>();
  const auto client = Connected(EagerOptions(*server));
  server.reset();
  const auto session = *client->OpenSession();
  std::promise<absl::Status> end;
  const auto id = session->Submit(*PreparedCall::Make({.op = "echo"}),
                                  [&](TaskResult result) { end.set_value(result.status); });
  if (id.ok()) {
    EXPECT_EQ(end.get_future().get().code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_EQ(session->Wait().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace shoal
