#include "server/net/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace shoal::net {
namespace {

Descriptor ConnectTo(int port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return socket;
}

void AwaitReadable(const Descriptor& socket) {
  pollfd watched{socket.fd(), POLLIN, 0};
  ASSERT_EQ(poll(&watched, 1, 60'000), 1);
}

bool IsHungUp(const Descriptor& socket) {
  AwaitReadable(socket);
  char byte = 0;
  return recv(socket.fd(), &byte, 1, 0) <= 0;
}

Listener OnLoopback() {
  auto listeners = Listener::Tcp("127.0.0.1:0");
  EXPECT_TRUE(listeners.ok()) << listeners.status();
  EXPECT_EQ(listeners->size(), 1U);
  return std::move(listeners->front());
}

/// While it lives, this process has no descriptor left.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const Descriptor next(open("/dev/null", O_RDONLY | O_CLOEXEC));
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(next.fd());
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(ListenerTest, NobodyThereIsNothing) {
  Listener listener = OnLoopback();
  EXPECT_FALSE(listener.Accept().has_value());
  EXPECT_FALSE(listener.resting());
  EXPECT_EQ(listener.refused_count(), 0);
}

TEST(ListenerTest, AcceptsWithoutBlockingAndClosedOnExec) {
  Listener listener = OnLoopback();
  const Descriptor client = ConnectTo(listener.port());
  const auto accepted = listener.Accept();
  ASSERT_TRUE(accepted.has_value());
  EXPECT_NE(fcntl(accepted->fd(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(accepted->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(ListenerTest, WithoutDescriptorsItHangsUpAndGoesOnAfterwards) {
  Listener listener = OnLoopback();
  const Descriptor first = ConnectTo(listener.port());
  const Descriptor second = ConnectTo(listener.port());
  {
    const NoDescriptors none;
    EXPECT_FALSE(listener.Accept().has_value());
    EXPECT_FALSE(listener.Accept().has_value());
    EXPECT_EQ(listener.refused_count(), 2);
    EXPECT_FALSE(listener.Accept().has_value()) << "nobody is left";
    EXPECT_EQ(listener.refused_count(), 2);
    EXPECT_FALSE(listener.resting());
  }
  EXPECT_TRUE(IsHungUp(first));
  EXPECT_TRUE(IsHungUp(second));
  const Descriptor third = ConnectTo(listener.port());
  EXPECT_TRUE(listener.Accept().has_value());
}

TEST(ListenerTest, WithoutEvenTheSpareItRestsAndIsNotPolled) {
  Listener listener = OnLoopback();
  const Descriptor client = ConnectTo(listener.port());
  {
    const NoDescriptors none;
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit before = limit;
    limit.rlim_cur = 0;  // Not even the number that the spare one had.
    setrlimit(RLIMIT_NOFILE, &limit);
    EXPECT_FALSE(listener.Accept().has_value());
    EXPECT_TRUE(listener.resting());
    EXPECT_EQ(listener.PollFd(), -1);
    setrlimit(RLIMIT_NOFILE, &before);
  }
  EXPECT_TRUE(listener.Accept().has_value()) << "it was kept waiting, not refused";
  EXPECT_FALSE(listener.resting());
  EXPECT_GE(listener.PollFd(), 0);
}

TEST(ListenerTest, ATakenPortAndAnUnknownHostAreUnavailable) {
  const Listener listener = OnLoopback();
  const std::string address = "127.0.0.1:" + std::to_string(listener.port());
  for (const std::string& bad : {address, std::string("no.such.host.invalid:0"),
                                 std::string("203.0.113.1:0"), std::string("127.0.0.1:x")}) {
    const auto refused = Listener::Tcp(bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_NE(std::string(refused.status().message()).find(bad), std::string::npos);
  }
}

TEST(ListenerTest, EveryAddressOfANameGetsTheSamePort) {
  const auto listeners = Listener::Tcp("localhost:0");
  ASSERT_TRUE(listeners.ok()) << listeners.status();
  for (const Listener& listener : *listeners) EXPECT_EQ(listener.port(), listeners->front().port());
  EXPECT_GT(listeners->front().port(), 0);
}

TEST(ListenerTest, AUnixSocketComesAndGoesWithItsFile) {
  char directory[] = "listener-test-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string path = std::string(directory) + "/s";
  {
    auto listener = Listener::Unix(path, 0600);
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_EQ(listener->port(), 0);
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_EQ(Listener::Unix(path).status().code(), absl::StatusCode::kUnavailable);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    const Descriptor client(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(connect(client.fd(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_TRUE(listener->Accept().has_value());
  }
  EXPECT_EQ(rmdir(directory), 0);
  EXPECT_EQ(Listener::Unix(std::string(200, 'x')).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace shoal::net
