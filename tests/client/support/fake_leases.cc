#include "tests/client/support/fake_leases.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "wire/lease_protocol.h"

namespace shoal::testing {

FakeLeases::FakeLeases(std::string path, int64_t bytes_max)
    : path_(std::move(path)),
      bytes_max_(bytes_max),
      listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  SHOAL_CHECK(path_.size() < sizeof(address.sun_path));
  std::memcpy(address.sun_path, path_.data(), path_.size());
  unlink(path_.c_str());
  SHOAL_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  SHOAL_CHECK(listen(listener_, 16) == 0);
  acceptor_ = std::thread([this] { AcceptLoop(); });
}

FakeLeases::~FakeLeases() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  DropAll();
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
  unlink(path_.c_str());
}

void FakeLeases::AcceptLoop() {
  for (;;) {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    const std::lock_guard lock(mutex_);
    connections_.push_back(connection);
    threads_.emplace_back([this, connection] { Serve(connection); });
  }
}

void FakeLeases::Serve(int connection) {
  while (Answer(connection)) {
  }
  Forget(connection);
}

bool FakeLeases::Answer(int connection) {
  std::array<std::byte, wire::kLeaseRequestBytes> frame{};
  if (!wire::ReceiveFrame(connection, absl::MakeSpan(frame)).ok()) return false;
  const auto request = wire::DecodeLeaseRequest(frame);
  if (!request.ok()) return false;
  wire::LeaseReply reply;
  int memory = -1;
  const std::lock_guard lock(mutex_);
  if (request->kind == wire::LeaseRequest::Kind::kRelease) {
    const auto it = leases_.find(request->value);
    if (it != leases_.end()) {
      munmap(it->second.data, static_cast<size_t>(it->second.bytes));
      leases_.erase(it);
    }
  } else if (request->value > static_cast<uint64_t>(bytes_max_)) {
    reply.code = 8;  // RESOURCE_EXHAUSTED
    reply.needed = request->value;
    reply.available = static_cast<uint64_t>(bytes_max_);
  } else {
    memory = memfd_create("fake-lease", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    SHOAL_CHECK(ftruncate(memory, static_cast<off_t>(request->value)) == 0);
    SHOAL_CHECK(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    void* data = mmap(nullptr, request->value, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    SHOAL_CHECK(data != MAP_FAILED);
    reply.lease_id = next_id_++;
    reply.token = reply.lease_id * 0x9E3779B97F4A7C15U;
    reply.bytes = request->value;
    leases_[reply.lease_id] = {static_cast<std::byte*>(data), static_cast<int64_t>(reply.bytes),
                               reply.token, connection};
    ++granted_;
  }
  const bool sent = wire::SendFrame(connection, wire::EncodeLeaseReply(reply), memory).ok();
  if (memory >= 0) close(memory);
  return sent;
}

void FakeLeases::Forget(int connection) {
  const std::lock_guard lock(mutex_);
  for (auto it = leases_.begin(); it != leases_.end();) {
    if (it->second.connection == connection) {
      munmap(it->second.data, static_cast<size_t>(it->second.bytes));
      it = leases_.erase(it);
    } else {
      ++it;
    }
  }
  connections_.erase(std::find(connections_.begin(), connections_.end(), connection));
  close(connection);
}

std::byte* FakeLeases::Find(uint64_t id, uint64_t token, int64_t offset, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto it = leases_.find(id);
  if (it == leases_.end() || it->second.token != token) return nullptr;
  if (offset < 0 || bytes < 0 || bytes > it->second.bytes - offset) return nullptr;
  return it->second.data + offset;
}

int64_t FakeLeases::granted_count() {
  const std::lock_guard lock(mutex_);
  return granted_;
}

int64_t FakeLeases::held_count() {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(leases_.size());
}

void FakeLeases::DropAll() {
  const std::lock_guard lock(mutex_);
  for (const int connection : connections_) shutdown(connection, SHUT_RDWR);
}

}  // namespace shoal::testing
