#include "server/service/session.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/service/session_fixture.h"
#include "tests/support/call_log.h"
#include "tests/support/gate.h"

namespace shoal::service {
namespace {

using absl::StatusCode;
using support::Gate;

TEST_F(SessionTest, CreditsComeFirstAndEmptyTasksTogether) {
  v1::SessionRequest request;
  for (uint64_t id = 1; id <= 50; ++id) AddEmpty(id, &request);
  Send(request);
  EXPECT_EQ(Parsed<v1::SessionResponse>(stream_->Receive()).credits(), kTasksMax);
  const auto response = Parsed<v1::SessionResponse>(stream_->Receive());
  EXPECT_EQ(response.done_size(), 50);
  EXPECT_TRUE(Close().ok());
}

TEST_F(SessionTest, TheRecordOfABatchHasTheIdOfEachTask) {
  support::CallLog log;
  engine_->observers.push_back(&log);
  v1::SessionRequest request;
  for (uint64_t id = 1; id <= 5; ++id) AddEmpty(id, &request);
  Send(request);
  Await(5);
  ASSERT_EQ(log.entries().size(), 1U);
  const support::CallLog::Entry entry = log.entries()[0];
  EXPECT_EQ(entry.count, 5);
  EXPECT_EQ(std::set<TaskId>(entry.tasks.begin(), entry.tasks.end()).size(), 5U);
  EXPECT_EQ(entry.record.key.plane, telemetry::Plane::kSession);
  EXPECT_EQ(entry.record.code, StatusCode::kOk);
}

TEST_F(SessionTest, ATaskOfABatchThatFailsIsRecordedWithItsOwnCode) {
  support::CallLog log;
  engine_->observers.push_back(&log);
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  v1::SessionRequest request;
  for (uint64_t id = 1; id <= 5; ++id) AddEmpty(id, &request);
  Send(request);
  v1::SessionRequest cancel;
  cancel.add_cancel(2);
  cancel.add_cancel(4);
  Send(cancel);
  Await(2);
  gate.reset();
  Await(3);
  std::map<StatusCode, int64_t> counts;
  std::set<TaskId> tasks;
  for (const support::CallLog::Entry& entry : log.entries()) {
    counts[entry.record.code] += entry.count;
    EXPECT_EQ(static_cast<int64_t>(entry.tasks.size()), entry.count);
    tasks.insert(entry.tasks.begin(), entry.tasks.end());
  }
  EXPECT_EQ(counts,
            (std::map<StatusCode, int64_t>{{StatusCode::kOk, 3}, {StatusCode::kCancelled, 2}}));
  EXPECT_EQ(tasks.size(), 5U);
}

TEST_F(SessionTest, ARealTaskIsRecordedWithTheTasksOfItsStages) {
  if (support::RunsOnSealedDevices()) GTEST_SKIP() << "what is refused may end before what runs";
  support::CallLog log;
  engine_->observers.push_back(&log);
  v1::SessionRequest request;
  AddSum(1, 3, &request);
  AddSum(2, 1, &request)->mutable_call()->mutable_arguments(0)->mutable_ref()->set_id(99);
  Send(request);
  Await(2);
  ASSERT_EQ(log.entries().size(), 2U);
  EXPECT_GE(log.entries()[0].tasks.size(), 1U);
  EXPECT_EQ(log.entries()[1].record.code, StatusCode::kNotFound);
  EXPECT_EQ(log.entries()[1].tasks.size(), 0U) << "refused before anything was scheduled";
}

TEST_F(SessionTest, EmptyAndRealTasksMix) {
  v1::SessionRequest request;
  for (uint64_t id = 0; id < 30; ++id) {
    if (id % 3 == 0) {
      AddSum(id, id, &request);
    } else {
      AddEmpty(id, &request);
    }
  }
  Send(request);
  Await(30);
  for (uint64_t id = 0; id < 30; ++id) {
    EXPECT_EQ(CodeOf(id), StatusCode::kOk);
    if (id % 3 != 0) continue;
    EXPECT_EQ(support::FromBytes<float>(outputs_[id].outputs(0).data())[0], static_cast<float>(id));
  }
}

TEST_F(SessionTest, OrderedResultsComeInTheOrderOfTheTasks) {
  v1::SessionRequest request;
  request.mutable_open()->set_ordered(true);
  std::vector<uint64_t> wanted;
  for (uint64_t id = 60; id > 0; --id) {
    wanted.push_back(id);
    if (id % 4 == 0) {
      AddSum(id, 4000, &request);  // Ends on the worker's thread, or at once.
    } else if (id % 5 == 0) {
      AddSum(id, 1, &request)->mutable_call()->set_op("nothing");
    } else {
      AddEmpty(id, &request);
    }
  }
  Send(request);
  Await(60);
  EXPECT_EQ(order_, wanted);
  EXPECT_EQ(CodeOf(5), StatusCode::kUnimplemented);
}

TEST_F(SessionTest, OrderedRefusalsComeInTheOrderOfTheTasks) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  v1::SessionRequest request;
  request.mutable_open()->set_ordered(true);
  for (const uint64_t id : {1U, 2U, 2U, 3U}) AddEmpty(id, &request);
  AddSum(3, 1, &request);
  std::vector<uint64_t> wanted{1, 2, 2, 3, 3};
  for (uint64_t id = 10; id < 10 + kTasksMax; ++id) {
    AddEmpty(id, &request);
    wanted.push_back(id);
  }
  Send(request);
  gate.reset();
  Await(wanted.size());
  EXPECT_EQ(order_, wanted);
  using Codes = std::vector<StatusCode>;
  EXPECT_EQ(codes_[2], (Codes{StatusCode::kOk, StatusCode::kInvalidArgument}));
  EXPECT_EQ(codes_[3], (Codes{StatusCode::kOk, StatusCode::kInvalidArgument}));
  EXPECT_EQ(codes_[wanted.back()], (Codes{StatusCode::kResourceExhausted}));
}

TEST_F(SessionTest, AFaultOfOneTaskTouchesNoOther) {
  v1::SessionRequest request;
  AddSum(1, 3, &request)->mutable_call()->mutable_arguments(0)->mutable_inline_()->set_data("x");
  AddEmpty(2, &request)->mutable_call()->set_op("no such op");
  request.add_tasks()->set_id(3);  // No call at all.
  AddEmpty(4, &request);
  AddSum(5, 1, &request)->mutable_call()->mutable_arguments(0)->mutable_ref()->set_id(99);
  Send(request);
  Await(5);
  EXPECT_EQ(CodeOf(1), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(2), StatusCode::kUnimplemented);
  EXPECT_EQ(CodeOf(3), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(4), StatusCode::kOk);
  EXPECT_EQ(CodeOf(5), StatusCode::kNotFound);
  EXPECT_EQ(outputs_[1].status().details(0).type_url(),
            "type.googleapis.com/google.rpc.BadRequest");
}

TEST_F(SessionTest, BytesThatAreNoRequestEndTheSession) {
  Open();
  stream_->Send("\x12\xff\xff");
  EXPECT_EQ(stream_->AwaitFinish().code(), StatusCode::kInvalidArgument);
}

TEST_F(SessionTest, OpenIsForTheFirstMessageOnly) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  v1::SessionRequest request;
  AddEmpty(1, &request);
  Send(request);
  v1::SessionRequest late;
  late.mutable_open()->set_ordered(true);
  Send(late);
  gate.reset();  // The first task ends only now.
  EXPECT_EQ(stream_->AwaitFinish().code(), StatusCode::kInvalidArgument);
}

TEST_F(SessionTest, TheSecondTaskOfAnIdInFlightIsRefused) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  v1::SessionRequest request;
  for (const uint64_t id : {7U, 3U, 7U, 9U, 3U}) AddEmpty(id, &request);
  AddSum(9, 1, &request);
  Send(request);
  Await(3);
  EXPECT_EQ(order_, (std::vector<uint64_t>{7, 3, 9}));
  for (const uint64_t id : {7U, 3U, 9U}) EXPECT_EQ(CodeOf(id), StatusCode::kInvalidArgument);
  gate.reset();
  Await(3);
  for (const uint64_t id : {7U, 3U, 9U}) EXPECT_EQ(codes_[id].back(), StatusCode::kOk);
  v1::SessionRequest again;  // Not in flight any more.
  AddEmpty(7, &again);
  Send(again);
  Await(1);
  EXPECT_EQ(codes_[7].back(), StatusCode::kOk);
}

TEST_F(SessionTest, CancelEndsTasksThatWaitAndLeavesOthers) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  v1::SessionRequest request;
  AddEmpty(1, &request);
  AddEmpty(2, &request);
  AddSum(3, 1, &request);
  AddSum(4, 1, &request);
  Send(request);
  v1::SessionRequest cancel;
  for (const uint64_t id : {1U, 3U, 1U, 99U}) cancel.add_cancel(id);
  Send(cancel);
  Await(2);
  EXPECT_EQ(CodeOf(1), StatusCode::kCancelled);
  EXPECT_EQ(CodeOf(3), StatusCode::kCancelled);
  gate.reset();
  Await(2);
  EXPECT_EQ(CodeOf(2), StatusCode::kOk);
  EXPECT_EQ(CodeOf(4), StatusCode::kOk);
  Send(cancel);  // All ended: nothing.
  EXPECT_TRUE(Close().ok());
  EXPECT_EQ(order_.size(), 4U);
}

TEST_F(SessionTest, TasksBeyondTheCreditsAreRefusedAndEachResultGivesOneBack) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  v1::SessionRequest request;
  for (uint64_t id = 1; id <= kTasksMax + 2; ++id) AddEmpty(id, &request);
  Send(request);
  Await(2);
  EXPECT_EQ(CodeOf(kTasksMax + 1), StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeOf(kTasksMax + 2), StatusCode::kResourceExhausted);
  v1::SessionRequest cancel;
  cancel.add_cancel(50);
  Send(cancel);
  Await(1);
  v1::SessionRequest more;  // One result has come: there is room for one.
  AddEmpty(1000, &more);
  AddEmpty(1001, &more);
  Send(more);
  Await(1);
  EXPECT_EQ(order_.back(), 1001U);
  gate.reset();
  Await(kTasksMax);
  EXPECT_EQ(CodeOf(1000), StatusCode::kOk);
}

TEST_F(SessionTest, TimeoutsOfAnySizeHold) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  v1::SessionRequest request;
  AddEmpty(1, &request)->set_timeout_us(1);
  AddEmpty(2, &request)->set_timeout_us(-1);
  AddEmpty(3, &request)->set_timeout_us(INT64_MIN);
  AddEmpty(4, &request)->set_timeout_us(INT64_MAX);
  AddSum(5, 1, &request)->set_timeout_us(INT64_MAX / 1000 + 1);
  AddSum(6, 1, &request)->set_timeout_us(INT64_MIN);
  Send(request);
  Await(4);
  for (const uint64_t id : {1U, 2U, 3U, 6U}) EXPECT_EQ(CodeOf(id), StatusCode::kDeadlineExceeded);
  gate.reset();
  Await(2);
  EXPECT_EQ(CodeOf(4), StatusCode::kOk);
  EXPECT_EQ(CodeOf(5), StatusCode::kOk);
}

TEST_F(SessionTest, ACancelledStreamCancelsItsTasksAndEndsOnce) {
  const Gate gate(engine_.get(), WorkerId{0});
  v1::SessionRequest request;
  for (uint64_t id = 1; id <= 10; ++id) AddEmpty(id, &request);
  for (uint64_t id = 11; id <= 20; ++id) AddSum(id, 5, &request);
  Send(request);
  stream_->Cancel();
  EXPECT_EQ(stream_->AwaitFinish().code(), StatusCode::kCancelled);
  EXPECT_EQ(engine_->dispatcher->Counts().tasks, 1);  // The gate's.
}

TEST_F(SessionTest, ACancellationFindsTasksThatAreJustBeingSubmitted) {
  for (int round = 0; round < 100; ++round) {
    const Gate gate(engine_.get(), WorkerId{0});
    Open();
    v1::SessionRequest request;
    for (uint64_t id = 1; id <= 20; ++id) {
      if (id % 7 == 0) {
        AddSum(id, 5, &request);
      } else {
        AddEmpty(id, &request);
      }
    }
    std::thread canceller([&] { stream_->Cancel(); });
    stream_->Send(request.SerializeAsString());
    canceller.join();
    // The gate stays shut: nothing but the cancellation ends them.
    EXPECT_EQ(stream_->AwaitFinish().code(), StatusCode::kCancelled);
    stream_.reset();
  }
}

TEST_F(SessionTest, AHalfCloseWaitsForWhatRuns) {
  std::optional<Gate> gate(std::in_place, engine_.get(), WorkerId{0});
  v1::SessionRequest request;
  AddEmpty(1, &request);
  AddSum(2, 10, &request);
  Send(request);
  stream_->HalfClose();
  stream_->Receive();  // The credits.
  EXPECT_FALSE(stream_->IsFinished());
  gate.reset();
  Await(2);
  EXPECT_TRUE(stream_->AwaitFinish().ok());
}

TEST_F(SessionTest, ACallerThatDoesNotReadItsResultsIsNotReadFrom) {
  uint64_t id = 0;
  Open();
  while (stream_->IsReading()) {
    v1::SessionRequest request;
    v1::SessionTask* task = request.add_tasks();
    task->set_id(++id);
    task->mutable_call()->set_op("echo");
    task->mutable_call()->set_route(v1::ROUTE_FRONT);  // Done at once.
    support::SetInline(std::vector<float>(50'000), task->mutable_call()->add_arguments());
    Send(request);
    ASSERT_LT(id, 100U);
  }
  EXPECT_GT(id, 10U);
  Await(id);
  EXPECT_TRUE(stream_->IsReading());
  EXPECT_TRUE(Close().ok());
}

TEST_F(SessionTest, ManyMessagesGiveExactlyOneResultATask) {
  constexpr uint64_t kMessages = 60;
  Open();
  std::thread sender([&] {
    for (uint64_t message = 0; message < kMessages; ++message) {
      v1::SessionRequest request;
      for (uint64_t i = 0; i < 10; ++i) {
        const uint64_t id = message * 10 + i;
        if (i == 4) {
          AddSum(id, 3000, &request);
        } else {
          AddEmpty(id, &request);
        }
        if (i % 4 == 0) request.add_cancel(id);
      }
      stream_->Send(request.SerializeAsString());
    }
    stream_->HalfClose();
  });
  std::vector<std::string> messages;
  EXPECT_TRUE(stream_->ReceiveAll(&messages).ok());
  sender.join();
  for (const std::string& message : messages) Take(Parsed<v1::SessionResponse>(message));
  EXPECT_EQ(codes_.size(), kMessages * 10);
  for (const auto& [id, codes] : codes_) {
    ASSERT_EQ(codes.size(), 1U) << id;
    EXPECT_TRUE(codes[0] == StatusCode::kOk || codes[0] == StatusCode::kCancelled ||
                codes[0] == StatusCode::kResourceExhausted)
        << id;
  }
}

TEST_F(SessionTest, AFailedSessionIsOneLineOfTheLog) {
  Open();
  stream_->Send("\xff");
  stream_->AwaitFinish().IgnoreError();
  stream_.reset();
  EXPECT_NE(engine_.Log().find("call failed"), std::string::npos) << engine_.Log();
}

}  // namespace
}  // namespace shoal::service
