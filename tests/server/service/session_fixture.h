#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/service/session.h"
#include "shoal/v1/compute.pb.h"
#include "tests/server/service/chunks.h"
#include "tests/support/engine.h"
#include "tests/support/stream.h"

namespace shoal::service {
inline constexpr int64_t kTasksMax = 100;

inline support::EngineOptions SessionOptions() {
  support::EngineOptions options;
  options.workers = 1;  // One gate holds up everything.
  options.limits.session_tasks = kTasksMax;
  return options;
}

inline v1::SessionTask* AddEmpty(uint64_t id, v1::SessionRequest* request) {
  v1::SessionTask* task = request->add_tasks();
  task->set_id(id);
  task->mutable_call()->set_op("echo");
  return task;
}

inline v1::SessionTask* AddSum(uint64_t id, size_t count, v1::SessionRequest* request) {
  v1::SessionTask* task = request->add_tasks();
  task->set_id(id);
  task->mutable_call()->set_op("sum");
  support::SetInline(std::vector<float>(count, 1.0F), task->mutable_call()->add_arguments());
  return task;
}

/// One session on an engine with one worker, and all results that came of it.
class SessionTest : public ::testing::Test {
 protected:
  void Open() {
    stream_ = std::make_unique<support::TestStream>(
        [this](transport::StreamCall* call) { return NewSession(engine_.get(), call); });
  }

  bool Send(const v1::SessionRequest& request) {
    if (stream_ == nullptr) Open();
    return stream_->Send(request.SerializeAsString());
  }

  /// Answers writes until `count` more results have come.
  void Await(size_t count) {
    const size_t wanted = order_.size() + count;
    while (order_.size() < wanted) {
      const auto bytes = stream_->Receive();
      ASSERT_TRUE(bytes.has_value()) << "finished with " << order_.size() << " results";
      Take(Parsed<v1::SessionResponse>(bytes));
    }
    ASSERT_EQ(order_.size(), wanted);
  }

  void Take(const v1::SessionResponse& response) {
    for (const uint64_t id : response.done()) Note(id, 0);
    for (const v1::SessionResult& result : response.results()) {
      outputs_[result.id()] = result;
      Note(result.id(), result.status().code());
    }
  }

  void Note(uint64_t id, int code) {
    order_.push_back(id);
    codes_[id].push_back(static_cast<absl::StatusCode>(code));
  }

  /// Closes, takes what is left, and returns how it ended.
  absl::Status Close() {
    stream_->HalfClose();
    std::vector<std::string> messages;
    absl::Status status = stream_->ReceiveAll(&messages);
    for (const std::string& message : messages) Take(Parsed<v1::SessionResponse>(message));
    return status;
  }

  absl::StatusCode CodeOf(uint64_t id) {
    EXPECT_EQ(codes_[id].size(), 1U) << "results of task " << id;
    return codes_[id].empty() ? absl::StatusCode::kUnknown : codes_[id][0];
  }

  support::TestEngine engine_{SessionOptions()};
  std::unique_ptr<support::TestStream> stream_;
  std::vector<uint64_t> order_;
  std::map<uint64_t, std::vector<absl::StatusCode>> codes_;
  std::map<uint64_t, v1::SessionResult> outputs_;
};

}  // namespace shoal::service
