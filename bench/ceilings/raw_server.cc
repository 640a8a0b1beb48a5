#include "bench/ceilings/raw_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bench/ceilings/protocol.h"
#include "bench/ceilings/slots.h"

namespace shoal::bench {
namespace {

constexpr std::array<std::byte, kAnswerBytes> kAnswer = {std::byte{'o'}, std::byte{'k'}};
// Small enough to stay in the second-level cache between its read and its write.
constexpr size_t kPieceBytes = size_t{256} << 10;

// Lands each piece at its place in `kept`, and returns it from there.
absl::Status EchoPieces(const Socket& socket, const CallHeader& header, Bytes kept) {
  Bytes rest = kept;
  int64_t to_return = header.reply_bytes;
  while (!rest.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const size_t count,
                           ReadSome(socket, rest.first(std::min(rest.size(), kPieceBytes))));
    const auto returned =
        static_cast<size_t>(std::min<int64_t>(to_return, static_cast<int64_t>(count)));
    SHOAL_RETURN_IF_ERROR(WriteAll(socket, {rest.first(returned)}));
    to_return -= static_cast<int64_t>(returned);
    rest.remove_prefix(count);
  }
  return absl::OkStatus();
}

absl::Status ReflectPieces(const Socket& socket, const CallHeader& header, Bytes piece) {
  int64_t left = header.request_bytes;
  while (left > 0) {
    const auto wanted = std::min<int64_t>(left, static_cast<int64_t>(piece.size()));
    SHOAL_ASSIGN_OR_RETURN(const size_t count,
                           ReadSome(socket, piece.first(static_cast<size_t>(wanted))));
    SHOAL_RETURN_IF_ERROR(WriteAll(socket, {piece.first(count)}));
    left -= static_cast<int64_t>(count);
  }
  return absl::OkStatus();
}

class Connection {
 public:
  Connection(Socket socket, Slots* slots) : socket_(std::move(socket)), slots_(slots) {}

  // Serves calls until the peer goes or says something wrong.
  void Run() {
    while (ServeOne().ok()) continue;
  }

 private:
  absl::Status ServeOne() {
    std::array<std::byte, kCallHeaderBytes> bytes;
    SHOAL_RETURN_IF_ERROR(ReadAll(socket_, absl::MakeSpan(bytes)));
    SHOAL_ASSIGN_OR_RETURN(const CallHeader header, DecodeHeader(bytes));
    switch (header.verb) {
      case Verb::kReflect:
        if (piece_.empty()) piece_.resize(kPieceBytes);
        return ReflectPieces(socket_, header, absl::MakeSpan(piece_));
      case Verb::kReset:
        slots_->Reset();
        return WriteAll(socket_, {kAnswer});
      case Verb::kEcho: {
        SHOAL_ASSIGN_OR_RETURN(const Bytes slot, slots_->Get(header.slot, header.request_bytes));
        return EchoPieces(socket_, header, slot);
      }
      case Verb::kPut: {
        SHOAL_ASSIGN_OR_RETURN(const Bytes slot, slots_->Get(header.slot, header.request_bytes));
        SHOAL_RETURN_IF_ERROR(ReadAll(socket_, slot));
        return WriteAll(socket_, {kAnswer});
      }
      case Verb::kGet: {
        SHOAL_ASSIGN_OR_RETURN(const Bytes slot, slots_->Get(header.slot, header.reply_bytes));
        return WriteAll(socket_, {slot});
      }
    }
    return absl::InvalidArgumentError("unknown verb");
  }

  Socket socket_;
  Slots* slots_;
  std::vector<std::byte> piece_;
};

template <typename Serve>
absl::Status AcceptForEver(const Listener& listener, Serve serve) {
  while (true) {
    const int descriptor = accept4(listener.socket.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0 && errno == EINTR) continue;
    if (descriptor < 0) return absl::UnavailableError("accept failed");
    const int on = 1;  // Refused by Unix sockets, which hold nothing back anyway.
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    // The process ends with its parent, whatever its connections do then.
    std::thread([serve, socket = Socket(descriptor)]() mutable {
      serve(std::move(socket));
    }).detach();
  }
}

}  // namespace

absl::Status ServeRaw(const Listener& listener) {
  // Owners: this loop and every connection's thread, which may outlast it.
  const auto slots = std::make_shared<Slots>();
  return AcceptForEver(
      listener, [slots](Socket socket) { Connection(std::move(socket), slots.get()).Run(); });
}

absl::Status ServeSignal(const Listener& listener) {
  return AcceptForEver(listener, [](const Socket& socket) {
    std::array<std::byte, 1> byte;
    while (ReadAll(socket, absl::MakeSpan(byte)).ok()) {
      if (!WriteAll(socket, {byte}).ok()) return;
    }
  });
}

}  // namespace shoal::bench
