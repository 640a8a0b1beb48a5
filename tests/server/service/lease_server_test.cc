#include "server/service/lease_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/units.h"
#include "server/memory/region.h"
#include "tests/support/arrays.h"
#include "tests/support/engine.h"
#include "tests/support/eventually.h"

namespace shoal::service {
namespace {

using wire::LeaseReply;
using wire::LeaseRequest;

constexpr auto kOk = static_cast<uint32_t>(absl::StatusCode::kOk);

/// A client of the lease socket.
class Client {
 public:
  explicit Client(const std::string& path) : socket_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(socket_); }

  void Write(const std::string& bytes) {
    EXPECT_EQ(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  static std::string FrameOf(LeaseRequest::Kind kind, uint64_t value) {
    const auto frame = wire::EncodeLeaseRequest({kind, value});
    return std::string(reinterpret_cast<const char*>(frame.data()), frame.size());
  }

  struct Granted {
    LeaseReply reply;
    int descriptor;
  };
  /// The next answer; nothing where the server closed the connection.
  std::optional<Granted> Receive() {
    std::array<std::byte, wire::kLeaseReplyBytes> frame;
    const auto descriptor = wire::ReceiveFrame(socket_, absl::MakeSpan(frame));
    if (!descriptor.ok()) return std::nullopt;
    return Granted{*wire::DecodeLeaseReply(frame), *descriptor};
  }

  Granted Ask(LeaseRequest::Kind kind, uint64_t value) {
    Write(FrameOf(kind, value));
    const auto answer = Receive();
    EXPECT_TRUE(answer.has_value()) << "the server closed the connection";
    return answer.value_or(Granted{{}, -1});
  }
  /// A lease, its descriptor closed again.
  LeaseReply Acquire(uint64_t bytes) {
    const Granted granted = Ask(LeaseRequest::Kind::kAcquire, bytes);
    if (granted.descriptor >= 0) close(granted.descriptor);
    return granted.reply;
  }

 private:
  const int socket_;
};

class LeaseServerTest : public ::testing::Test {
 protected:
  LeaseServerTest() {
    char made[] = "lease-test-XXXXXX";
    EXPECT_NE(mkdtemp(made), nullptr);
    directory_ = made;
    path_ = directory_ + "/lease.sock";
    server_ = *LeaseServer::Start({.path = path_, .connections_max = 40, .leases_max = 300},
                                  engine_->leases.get(), engine_->logger);
  }
  ~LeaseServerTest() override {
    server_.reset();
    EXPECT_EQ(rmdir(directory_.c_str()), 0);  // The socket is gone, too.
  }

  /// Waits until the server's thread has seen what came before.
  void AwaitLeases(int64_t count) {
    ASSERT_TRUE(support::Eventually([&] { return engine_->leases->count() == count; }));
  }

  absl::Status Resolve(const LeaseReply& lease) {
    return engine_->leases->Resolve({LeaseId{lease.lease_id}, lease.token, 0}, 1, 1).status();
  }

  support::TestEngine engine_;
  std::string directory_;
  std::string path_;
  std::unique_ptr<LeaseServer> server_;
};

TEST_F(LeaseServerTest, AGrantedLeaseIsTheSameMemoryOnBothSides) {
  Client client(path_);
  const Client::Granted granted = client.Ask(LeaseRequest::Kind::kAcquire, 5000);
  ASSERT_EQ(granted.reply.code, kOk);
  EXPECT_GE(granted.reply.bytes, 5000U);
  ASSERT_GE(granted.descriptor, 0);
  const auto region = memory::Region::Map(granted.descriptor, 5000);
  ASSERT_TRUE(region.ok()) << region.status();
  region->data()[4999] = std::byte{42};
  const auto span =
      engine_->leases->Resolve({LeaseId{granted.reply.lease_id}, granted.reply.token, 4999}, 1, 1);
  ASSERT_TRUE(span.ok()) << span.status();
  EXPECT_EQ(*span->data, std::byte{42});
}

TEST_F(LeaseServerTest, LeasesEndWithTheirReleaseOrTheirConnection) {
  auto client = std::make_unique<Client>(path_);
  const LeaseReply first = client->Acquire(10);
  const LeaseReply second = client->Acquire(10);
  EXPECT_EQ(client->Ask(LeaseRequest::Kind::kRelease, first.lease_id).reply.code, kOk);
  EXPECT_EQ(Resolve(first).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(Resolve(second).ok());
  client.reset();
  AwaitLeases(0);
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST_F(LeaseServerTest, AForeignLeaseIsNotReleased) {
  Client owner(path_);
  const LeaseReply lease = owner.Acquire(10);
  Client other(path_);
  other.Ask(LeaseRequest::Kind::kRelease, lease.lease_id);
  other.Ask(LeaseRequest::Kind::kRelease, UINT64_MAX);
  EXPECT_TRUE(Resolve(lease).ok());
}

TEST_F(LeaseServerTest, ALeaseThatIsDroppedWhileInUseStaysMapped) {
  auto client = std::make_unique<Client>(path_);
  const LeaseReply lease = client->Acquire(10);
  auto span = *engine_->leases->Resolve({LeaseId{lease.lease_id}, lease.token, 0}, 10, 1);
  client.reset();
  AwaitLeases(0);
  span.data[9] = std::byte{1};
  EXPECT_EQ(engine_.BytesInUse(), 10);
  span = {};
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST_F(LeaseServerTest, RefusalsCarryTheirNumbersAndTheConnectionLives) {
  Client client(path_);
  EXPECT_EQ(client.Acquire(0).code, static_cast<uint32_t>(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(client.Acquire(UINT64_MAX).code,
            static_cast<uint32_t>(absl::StatusCode::kInvalidArgument));
  const LeaseReply reply = client.Acquire(100 * kMiB);
  EXPECT_EQ(reply.code, static_cast<uint32_t>(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(reply.needed, static_cast<uint64_t>(100 * kMiB));
  EXPECT_EQ(reply.available, static_cast<uint64_t>(6 * kMiB));
  EXPECT_EQ(client.Acquire(1).code, kOk);
}

TEST_F(LeaseServerTest, OneConnectionMayHoldSoManyLeases) {
  Client client(path_);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(client.Acquire(1).code, kOk);
  EXPECT_EQ(client.Acquire(1).code, static_cast<uint32_t>(absl::StatusCode::kResourceExhausted));
  Client other(path_);
  EXPECT_EQ(other.Acquire(1).code, kOk);
}

TEST_F(LeaseServerTest, AllTogetherMayHoldSoManyLeases) {
  Client client(path_);
  Client other(path_);
  for (int i = 0; i < 150; ++i) {
    ASSERT_EQ(client.Acquire(1).code, kOk);
    ASSERT_EQ(other.Acquire(1).code, kOk);
  }
  EXPECT_EQ(other.Acquire(1).code, static_cast<uint32_t>(absl::StatusCode::kResourceExhausted));
}

TEST_F(LeaseServerTest, WhoComesBeyondTheLimitIsHungUpOnUntilOneGoes) {
  std::deque<Client> clients;
  for (int i = 0; i < 40; ++i) {
    clients.emplace_back(path_);
    ASSERT_EQ(clients.back().Acquire(1).code, kOk);
  }
  {
    Client refused(path_);
    EXPECT_FALSE(refused.Receive().has_value());
  }
  clients.pop_back();
  AwaitLeases(39);
  Client next(path_);
  EXPECT_EQ(next.Acquire(1).code, kOk);
}

TEST_F(LeaseServerTest, HalfAFrameHoldsUpNobody) {
  Client slow(path_);
  const std::string frame = Client::FrameOf(LeaseRequest::Kind::kAcquire, 10);
  slow.Write(frame.substr(0, 7));
  Client quick(path_);
  EXPECT_EQ(quick.Acquire(10).code, kOk);
  slow.Write(frame.substr(7));
  const auto answer = slow.Receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->reply.code, kOk);
  close(answer->descriptor);
  slow.Write(frame.substr(0, 3));  // And goes away with it.
}

TEST_F(LeaseServerTest, RandomBytesEndTheirConnectionOnly) {
  Client good(path_);
  const LeaseReply lease = good.Acquire(10);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Client bad(path_);
    bad.Write(support::RandomBytes(16 + seed % 40, seed));
    EXPECT_FALSE(bad.Receive().has_value());
  }
  EXPECT_TRUE(Resolve(lease).ok());
  EXPECT_EQ(good.Acquire(10).code, kOk);
}

TEST_F(LeaseServerTest, RequestsInOnePieceAreAnsweredInOrder) {
  Client client(path_);
  std::string frames;
  for (int i = 0; i < 3; ++i) frames += Client::FrameOf(LeaseRequest::Kind::kAcquire, 10);
  frames += Client::FrameOf(LeaseRequest::Kind::kRelease, 1);
  client.Write(frames);
  uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.Receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_GT(answer->reply.lease_id, last);
    last = answer->reply.lease_id;
    close(answer->descriptor);
  }
  EXPECT_EQ(client.Receive()->reply.lease_id, 0U);
}

TEST_F(LeaseServerTest, OnlyTheOwnerMayOpenTheSocket) {
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(LeaseServerTest, AnAddressThatCannotBeIsUnavailable) {
  for (const std::string& path : {path_, directory_ + "/no/such/place", std::string(200, 'x')}) {
    EXPECT_EQ(
        LeaseServer::Start({.path = path}, engine_->leases.get(), engine_->logger).status().code(),
        absl::StatusCode::kUnavailable);
  }
}

}  // namespace
}  // namespace shoal::service
