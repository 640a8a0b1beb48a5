#include "server/net/acceptor.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <utility>
#include <vector>

#include "tests/support/inbox.h"

namespace shoal::net {
namespace {

using support::Inbox;

class AcceptorTest : public ::testing::Test {
 protected:
  struct Event {
    size_t listener;
    int fd;  // -1: refused.
  };

  ~AcceptorTest() override {
    acceptor_.reset();
    for (const int fd : open_) close(fd);
  }

  void Start(size_t listener_count, int64_t connections_max) {
    std::vector<Listener> listeners;
    for (size_t i = 0; i < listener_count; ++i) {
      auto sockets = Listener::Tcp("127.0.0.1:0");
      ASSERT_TRUE(sockets.ok()) << sockets.status();
      ports_.push_back(sockets->front().port());
      listeners.push_back(std::move(sockets->front()));
    }
    Acceptor::Options options;
    options.connections_max = connections_max;
    options.accepted = [this](size_t listener, Descriptor socket) {
      events_.Put({listener, socket.Release()});
    };
    options.refused = [this] { events_.Put({0, -1}); };
    auto acceptor = Acceptor::Start(std::move(listeners), std::move(options));
    ASSERT_TRUE(acceptor.ok()) << acceptor.status();
    acceptor_ = *std::move(acceptor);
  }

  Descriptor Connect(size_t listener) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(ports_[listener]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    return socket;
  }

  Event Take() {
    const Event event = events_.Take();
    if (event.fd >= 0) open_.push_back(event.fd);
    return event;
  }

  std::vector<int> ports_;
  bool connected_ = false;
  Inbox<Event> events_;
  std::vector<int> open_;
  std::unique_ptr<Acceptor> acceptor_;
};

TEST_F(AcceptorTest, HandsOnWhatComesToEachListener) {
  Start(2, 100);
  for (const size_t listener : {size_t{0}, size_t{1}, size_t{0}}) {
    const Descriptor client = Connect(listener);
    const Event event = Take();
    EXPECT_GE(event.fd, 0);
    EXPECT_EQ(event.listener, listener);
  }
}

TEST_F(AcceptorTest, HangsUpOnWhoComesBeyondTheLimitUntilOneGoes) {
  Start(1, 2);
  const Descriptor one = Connect(0);
  const Descriptor two = Connect(0);
  const int first = Take().fd;
  Take();
  const Descriptor three = Connect(0);
  EXPECT_EQ(Take().fd, -1);
  char byte = 0;
  EXPECT_LE(recv(three.fd(), &byte, 1, 0), 0);
  close(first);  // As its owner does, without a word.
  std::erase(open_, first);
  // The table is looked through only now and then.
  for (int fd = -1; fd < 0;) {
    const Descriptor next = Connect(0);
    fd = Take().fd;
  }
}

TEST_F(AcceptorTest, StopClosesTheListenersAndKeepsTheTable) {
  Start(1, 100);
  const Descriptor client = Connect(0);
  Take();
  acceptor_->Stop();
  acceptor_->Stop();
  Connect(0);
  EXPECT_FALSE(connected_);
  EXPECT_EQ(acceptor_->connections().Sweep(), 1);
}

}  // namespace
}  // namespace shoal::net
