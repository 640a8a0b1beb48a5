#include "server/transport/grpc/stream_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "tests/server/transport/grpc/client.h"
#include "tests/support/stream.h"

namespace shoal::transport {
namespace {

using support::Inbox;

/// What a handler saw, in words.
using Events = Inbox<std::string>;

/// Sends each message back, and finishes when there are no more.
class Echoing final : public StreamHandler {
 public:
  Echoing(StreamCall* call, Events* events) : call_(call), events_(*events) {}
  ~Echoing() override { events_.Put("gone"); }

  void OnStart() override { call_->Read(); }
  void OnMessage(Message message) override {
    // From where it was received.
    auto owner = std::make_shared<Message>(std::move(message));
    Frame frame;
    for (const wire::ConstBytes piece : owner->pieces()) frame.Append({piece, owner});
    call_->Write(std::move(frame));
  }
  void OnHalfClose() override {
    events_.Put("half close");
    call_->Finish(absl::OkStatus());
  }
  void OnWritten(bool ok) override {
    if (ok) call_->Read();
  }
  void OnCancelled() override { events_.Put("cancelled"); }
  void OnDone() override { events_.Put("done"); }

 private:
  StreamCall* const call_;
  Events& events_;
};

/// Reads, and finishes only when it is cancelled.
class Waiting final : public StreamHandler {
 public:
  Waiting(StreamCall* call, Events* events) : call_(call), events_(*events) {}
  ~Waiting() override { events_.Put("gone"); }

  void OnStart() override {
    events_.Put("start");
    call_->Read();
  }
  void OnMessage(Message) override {}
  void OnHalfClose() override { events_.Put("half close"); }
  void OnWritten(bool) override {}
  void OnCancelled() override {
    events_.Put("cancelled");
    call_->Finish(absl::CancelledError("gone"));
  }
  void OnDone() override { events_.Put("done"); }

 private:
  StreamCall* const call_;
  Events& events_;
};

/// Finishes at once.
class Refusing final : public StreamHandler {
 public:
  explicit Refusing(StreamCall* call) : call_(call) {}
  void OnStart() override { call_->Finish(absl::FailedPreconditionError("no")); }
  void OnMessage(Message) override {}
  void OnHalfClose() override {}
  void OnWritten(bool) override {}
  void OnCancelled() override {}
  void OnDone() override {}

 private:
  StreamCall* const call_;
};

/// Sends the first message back as the last, with the finish.
class AnsweringOnce final : public StreamHandler {
 public:
  AnsweringOnce(StreamCall* call, Events* events) : call_(call), events_(*events) {}

  void OnStart() override { call_->Read(); }
  void OnMessage(Message message) override {
    auto owner = std::make_shared<Message>(std::move(message));
    Frame frame;
    for (const wire::ConstBytes piece : owner->pieces()) frame.Append({piece, owner});
    call_->WriteAndFinish(std::move(frame));
  }
  void OnHalfClose() override {}
  void OnWritten(bool) override { events_.Put("written"); }
  void OnCancelled() override { events_.Put("cancelled"); }
  void OnDone() override { events_.Put("done"); }

 private:
  StreamCall* const call_;
  Events& events_;
};

class StreamCallTest : public ServerTest {
 protected:
  StreamCallTest() {
    Serve({{"Echo", nullptr,
            [this](StreamCall* call) { return std::make_unique<Echoing>(call, &events_); }},
           {"Wait", nullptr,
            [this](StreamCall* call) { return std::make_unique<Waiting>(call, &events_); }},
           {"Once", nullptr,
            [this](StreamCall* call) { return std::make_unique<AnsweringOnce>(call, &events_); }},
           {"Refuse", nullptr, [](StreamCall* call) { return std::make_unique<Refusing>(call); }}});
  }

  Events events_;
};

TEST_F(StreamCallTest, MessagesGoBothWaysUntilTheHalfClose) {
  ClientStream stream(client(), "/test.Service/Echo");
  for (const size_t size : {0U, 1U, 5000U, 900'000U}) {
    const std::string sent(size, 'q');
    stream.Write(sent);
    const auto received = stream.Read();
    ASSERT_TRUE(received.has_value());
    EXPECT_TRUE(*received == sent) << size;
  }
  stream.HalfClose();
  EXPECT_FALSE(stream.Read().has_value());
  EXPECT_TRUE(stream.End().ok());
  for (const char* event : {"half close", "done", "gone"}) EXPECT_EQ(events_.Take(), event);
}

TEST_F(StreamCallTest, TheLastMessageMayTakeTheFinishAlong) {
  for (const size_t size : {0U, 1U, 900'000U}) {
    ClientStream stream(client(), "/test.Service/Once");
    const std::string sent(size, 'q');
    stream.Write(sent);
    const auto received = stream.Read();
    ASSERT_TRUE(received.has_value());
    EXPECT_TRUE(*received == sent) << size;
    EXPECT_FALSE(stream.Read().has_value());
    EXPECT_TRUE(stream.End().ok());
    EXPECT_EQ(events_.Take(), "done");  // And nothing before it.
  }
}

TEST_F(StreamCallTest, ACancellationReachesTheHandlerWhichStillFinishes) {
  ClientStream stream(client(), "/test.Service/Wait");
  EXPECT_EQ(events_.Take(), "start");
  stream.Cancel();
  EXPECT_EQ(stream.End().error_code(), grpc::StatusCode::CANCELLED);
  // The read that was outstanding ends, too; in either order.
  const std::set<std::string> both = {events_.Take(), events_.Take()};
  EXPECT_EQ(both, (std::set<std::string>{"cancelled", "half close"}));
  EXPECT_EQ(events_.Take(), "done");
  EXPECT_EQ(events_.Take(), "gone");
}

TEST_F(StreamCallTest, AHandlerMayFinishBeforeAnythingCame) {
  ClientStream stream(client(), "/test.Service/Refuse");
  const grpc::Status status = stream.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "no");
}

}  // namespace
}  // namespace shoal::transport
