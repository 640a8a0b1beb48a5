#include "bench/ceilings/raw_subject.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/ceilings/protocol.h"
#include "bench/ceilings/server_process.h"
#include "bench/ceilings/socket.h"

namespace shoal::bench {
namespace {

// What both kinds of lane share: each call is over when Start returns.
class SocketLane : public Lane {
 public:
  explicit SocketLane(Socket socket) : socket_(std::move(socket)) {}

  absl::Status Start(const Call& call, int64_t tag) override {
    SHOAL_RETURN_IF_ERROR(CarryOut(call));
    ended_.push_back(tag);
    return absl::OkStatus();
  }

  absl::Status Await(std::vector<int64_t>* ended) override {
    ended->insert(ended->end(), ended_.begin(), ended_.end());
    ended_.clear();
    return absl::OkStatus();
  }

 protected:
  virtual absl::Status CarryOut(const Call& call) = 0;
  const Socket& socket() const { return socket_; }

 private:
  Socket socket_;
  std::vector<int64_t> ended_;
};

class RawLane final : public SocketLane {
 public:
  using SocketLane::SocketLane;

 protected:
  absl::Status CarryOut(const Call& call) override {
    const auto head = EncodeHeader(HeaderOf(call));
    wire::Pieces message = call.request();
    message.insert(message.begin(), head);
    if (call.op == Op::kEcho || call.op == Op::kApply) {
      return Exchange(socket(), message, call.reply());
    }
    SHOAL_RETURN_IF_ERROR(WriteAll(socket(), message));
    if (call.op == Op::kGet) return ReadAll(socket(), call.reply());
    std::array<std::byte, kAnswerBytes> answer;
    return ReadAll(socket(), absl::MakeSpan(answer));
  }
};

class SignalLane final : public SocketLane {
 public:
  using SocketLane::SocketLane;

 protected:
  absl::Status CarryOut(const Call& /*call*/) override {
    std::array<std::byte, 1> byte = {};
    SHOAL_RETURN_IF_ERROR(WriteAll(socket(), {byte}));
    return ReadAll(socket(), absl::MakeSpan(byte));
  }
};

template <typename LaneType>
class SocketSubject final : public Subject {
 public:
  SocketSubject(std::string name, std::string plane, CeilingServer server)
      : name_(std::move(name)), plane_(std::move(plane)), server_(std::move(server)) {}

  const std::string& Name() const override { return name_; }
  const std::string& Plane() const override { return plane_; }
  bool Carries(Op /*op*/, int64_t /*bytes*/) const override { return true; }
  bool MovesPayload() const override { return std::is_same_v<LaneType, RawLane>; }
  bool Overlaps() const override { return false; }
  pid_t ServerPid() const override { return server_.child->pid(); }

  absl::StatusOr<std::unique_ptr<Lane>> NewLane() override {
    SHOAL_ASSIGN_OR_RETURN(Socket socket, Connect(server_.address));
    return std::make_unique<LaneType>(std::move(socket));
  }

  absl::Status Reset() override {
    if (!MovesPayload()) return absl::OkStatus();
    SHOAL_ASSIGN_OR_RETURN(const Socket socket, Connect(server_.address));
    SHOAL_RETURN_IF_ERROR(WriteAll(socket, {EncodeHeader({Verb::kReset, 0, 0, 0})}));
    std::array<std::byte, kAnswerBytes> answer;
    return ReadAll(socket, absl::MakeSpan(answer));
  }

 private:
  const std::string name_;
  const std::string plane_;
  CeilingServer server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Subject>> NewRawSubject(const std::string& plane) {
  SHOAL_ASSIGN_OR_RETURN(CeilingServer server, StartCeilingServer({"raw", plane}));
  return std::make_unique<SocketSubject<RawLane>>(absl::StrCat("raw_", plane), plane,
                                                  std::move(server));
}

absl::StatusOr<std::unique_ptr<Subject>> NewSignalSubject() {
  SHOAL_ASSIGN_OR_RETURN(CeilingServer server, StartCeilingServer({"signal", "unix"}));
  return std::make_unique<SocketSubject<SignalLane>>("signal", "unix", std::move(server));
}

}  // namespace shoal::bench
