#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "tests/client/support/fake_call.h"
#include "wire/crc32c.h"

namespace shoal::testing {
namespace {

uint32_t Crc(const std::string& bytes) {
  return wire::Crc32c({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
}

class PutCall final : public FakeCall {
 public:
  explicit PutCall(FakeServer* server) : server_(server) { Begin(); }

 private:
  bool stalled() override {
    return server_->With([](Faults& faults, Seen&) { return faults.stall_put; });
  }

  void OnMessage(const std::string& bytes) override {
    v1::PutRequest request;
    if (!request.ParseFromString(bytes))
      return End({grpc::StatusCode::INVALID_ARGUMENT, "message"});
    if (grpc::Status failure = server_->TakeFailure("Put"); !failure.ok()) return End(failure);
    const std::lock_guard lock(server_->mutex());
    v1::PutResponse response;
    if (request.has_header()) {
      if (const grpc::Status begun = Start(request.header()); !begun.ok()) return End(begun);
      response.set_array_id(id_);
      response.set_acknowledged_bytes(bytes_held());
      // A resumed upload that had lost only its last answer.
      const bool complete = array()->info.complete();
      if (complete) *response.mutable_array() = array()->info;
      Reply(response);
      if (complete) return End(grpc::Status::OK);
    }
    if (!request.has_chunk()) return;
    if (const grpc::Status taken = Take(request.chunk()); !taken.ok()) return End(taken);
    // Acknowledged two by two, so that a client that waits for each would stand still.
    if (++unacknowledged_ < 2 && bytes_held() < array()->info.bytes()) return;
    unacknowledged_ = 0;
    response.set_array_id(id_);
    response.set_acknowledged_bytes(bytes_held());
    Reply(response);
  }

  grpc::Status Start(const v1::PutHeader& header) {
    if (header.resume_id() != 0) {
      id_ = header.resume_id();
      v1::ArrayRef reference;
      reference.set_id(id_);
      const FakeServer::Stored* stored = server_->Find(reference);
      if (stored == nullptr) return {grpc::StatusCode::NOT_FOUND, "cannot be resumed"};
      return grpc::Status::OK;
    }
    v1::ArrayRef reference;
    reference.set_name(header.store().name());
    if (!header.store().name().empty() && server_->Find(reference) != nullptr) {
      v1::ErrorInfo info;
      info.set_reason("NAME_TAKEN");
      info.set_domain("shoal");
      return WithDetail(grpc::StatusCode::ALREADY_EXISTS, "ErrorInfo", info);
    }
    id_ = server_->NewArray(header.spec(), header.store());
    return grpc::Status::OK;
  }

  grpc::Status Take(const v1::Chunk& chunk) {
    std::string& held = array()->bytes;
    if (chunk.offset() != static_cast<int64_t>(held.size())) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "chunk out of order"};
    }
    if (static_cast<int64_t>(chunk.data().size()) > server_->options().chunk_bytes) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "chunk too long"};
    }
    if (chunk.has_crc32c()) {
      ++server_->seen().put_checksums;
      if (chunk.crc32c() != Crc(chunk.data())) return {grpc::StatusCode::DATA_LOSS, "checksum"};
    }
    held += chunk.data();
    server_->seen().put_bytes += static_cast<int64_t>(chunk.data().size());
    auto& cuts = server_->faults().put_cuts;
    if (!cuts.empty() && bytes_held() >= cuts.front()) {
      cuts.pop_front();
      return {grpc::StatusCode::UNAVAILABLE, "cut"};
    }
    return grpc::Status::OK;
  }

  void OnHalfClose() override {
    const std::lock_guard lock(server_->mutex());
    if (id_ == 0 || bytes_held() != array()->info.bytes()) {
      return End({grpc::StatusCode::INVALID_ARGUMENT, "closed before the last byte"});
    }
    array()->info.set_complete(true);
    if (std::exchange(server_->faults().lose_put_answer, false)) {
      return End({grpc::StatusCode::UNAVAILABLE, "answer lost"});
    }
    v1::PutResponse response;
    response.set_array_id(id_);
    response.set_acknowledged_bytes(bytes_held());
    *response.mutable_array() = array()->info;
    Reply(response);
    End(grpc::Status::OK);
  }

  FakeServer::Stored* array() const {
    v1::ArrayRef reference;
    reference.set_id(id_);
    FakeServer::Stored* stored = server_->Find(reference);
    SHOAL_CHECK(stored != nullptr);
    return stored;
  }
  int64_t bytes_held() const { return static_cast<int64_t>(array()->bytes.size()); }

  FakeServer* const server_;
  uint64_t id_ = 0;
  int unacknowledged_ = 0;
};

class GetCall final : public FakeCall {
 public:
  explicit GetCall(FakeServer* server) : server_(server) { Begin(); }

 private:
  void OnMessage(const std::string& bytes) override {
    SHOAL_CHECK(request_.ParseFromString(bytes));
  }

  void OnHalfClose() override {
    const std::lock_guard lock(server_->mutex());
    const FakeServer::Stored* stored = server_->Find(request_.array());
    if (stored == nullptr) return End({grpc::StatusCode::NOT_FOUND, "no such array"});
    v1::GetResponse response;
    *response.mutable_array() = stored->info;
    const auto total = static_cast<int64_t>(stored->bytes.size());
    int64_t cut = total;
    auto& cuts = server_->faults().get_cuts;
    if (!cuts.empty()) {
      cut = std::min(cut, cuts.front());
      cuts.pop_front();
    }
    const int64_t step = std::min<int64_t>(request_.chunk_bytes(), server_->options().chunk_bytes);
    for (int64_t at = request_.offset(); at < cut; at += step) {
      v1::Chunk* chunk = response.mutable_chunk();
      chunk->set_offset(at);
      chunk->set_data(stored->bytes.substr(static_cast<size_t>(at), static_cast<size_t>(step)));
      if (!request_.no_checksum()) chunk->set_crc32c(Crc(chunk->data()));
      if (server_->faults().corrupt_chunks > 0) {
        --server_->faults().corrupt_chunks;
        chunk->set_crc32c(chunk->crc32c() + 1);
      }
      Reply(response);
      response.Clear();
    }
    if (response.has_array()) Reply(response);
    End(cut < total ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "cut") : grpc::Status::OK);
  }

  FakeServer* const server_;
  v1::GetRequest request_;
};

class ApplyStreamCall final : public FakeCall {
 public:
  explicit ApplyStreamCall(FakeServer* server) : server_(server) { Begin(); }

 private:
  void OnMessage(const std::string& bytes) override {
    v1::ApplyStreamRequest request;
    if (!request.ParseFromString(bytes))
      return End({grpc::StatusCode::INVALID_ARGUMENT, "message"});
    if (request.has_call()) call_ = request.call();
    if (!request.has_chunk()) return;
    std::string& payload = payloads_[request.chunk().array()];
    if (request.chunk().offset() != static_cast<int64_t>(payload.size())) {
      return End({grpc::StatusCode::INVALID_ARGUMENT, "chunk out of order"});
    }
    payload += request.chunk().data();
    received_ += static_cast<int64_t>(request.chunk().data().size());
    v1::ApplyStreamResponse response;
    response.set_acknowledged_bytes(received_);
    Reply(response);
  }

  void OnHalfClose() override {
    v1::ApplyResponse response;
    if (grpc::Status failure = server_->TakeFailure("ApplyStream"); !failure.ok()) {
      return End(failure);
    }
    const grpc::Status status = server_->Apply(call_, payloads_, &response);
    if (!status.ok()) return End(status);
    std::vector<std::string> data;
    for (auto& output : *response.mutable_outputs()) {
      data.push_back(std::move(*output.mutable_data()));
      if (output.value_case() != v1::Output::kData) continue;
      output.set_streamed(true);
    }
    v1::ApplyStreamResponse message;
    *message.mutable_call() = response;
    for (size_t i = 0; i < data.size(); ++i) {
      const auto step = static_cast<size_t>(server_->options().chunk_bytes);
      for (size_t at = 0; at < data[i].size(); at += step) {
        v1::Chunk* chunk = message.mutable_chunk();
        chunk->set_array(static_cast<int32_t>(i));
        chunk->set_offset(static_cast<int64_t>(at));
        chunk->set_data(data[i].substr(at, step));
        chunk->set_crc32c(Crc(chunk->data()));
        Reply(message);
        message.Clear();
      }
    }
    if (message.has_call()) Reply(message);
    End(grpc::Status::OK);
  }

  FakeServer* const server_;
  v1::ApplyRequest call_;
  std::map<int, std::string> payloads_;
  int64_t received_ = 0;
};

class SessionCall final : public FakeCall {
 public:
  explicit SessionCall(FakeServer* server) : server_(server) { Begin(); }

 private:
  void OnMessage(const std::string& bytes) override {
    v1::SessionRequest request;
    if (!request.ParseFromString(bytes))
      return End({grpc::StatusCode::INVALID_ARGUMENT, "message"});
    v1::SessionResponse response;
    if (request.has_open()) response.set_credits(server_->options().session_credits);
    for (const v1::SessionTask& task : request.tasks()) {
      if (!Run(task, &response)) return;
    }
    for (const uint64_t id : request.cancel()) {
      if (held_.erase(id) > 0) Fail(id, grpc::StatusCode::CANCELLED, &response);
    }
    server_->With([&](Faults&, Seen& seen) {
      if (request.tasks_size() > 0) seen.session_batches.push_back(request.tasks_size());
    });
    Reply(response);
  }

  bool Run(const v1::SessionTask& task, v1::SessionResponse* response) {
    const int64_t cut = server_->With([](Faults& faults, Seen&) { return faults.session_cut; });
    if (cut >= 0 && tasks_++ >= cut) {
      End({grpc::StatusCode::UNAVAILABLE, "session cut"});
      return false;
    }
    if (task.call().op() == "hold") {
      held_.insert(task.id());
    } else if (task.call().op() == "fail") {
      Fail(task.id(), grpc::StatusCode::FAILED_PRECONDITION, response);
    } else if (task.call().op() == "echo" && task.call().arguments().empty()) {
      response->add_done(task.id());
    } else {
      v1::ApplyResponse applied;
      const grpc::Status status = server_->Apply(task.call(), {}, &applied);
      v1::SessionResult* result = response->add_results();
      result->set_id(task.id());
      *result->mutable_outputs() = applied.outputs();
      if (!status.ok()) result->mutable_status()->set_code(status.error_code());
    }
    return true;
  }

  static void Fail(uint64_t id, grpc::StatusCode code, v1::SessionResponse* response) {
    v1::SessionResult* result = response->add_results();
    result->set_id(id);
    result->mutable_status()->set_code(code);
    result->mutable_status()->set_message("told to");
  }

  void OnHalfClose() override { End(grpc::Status::OK); }

  FakeServer* const server_;
  std::set<uint64_t> held_;
  int64_t tasks_ = 0;
};

}  // namespace

void FakeCall::Begin() { StartRead(&request_); }

void FakeCall::OnReadDone(bool ok) {
  if (ok) {
    OnMessage(ToString(&request_));
    if (!ended() && !stalled()) StartRead(&request_);
  } else if (!ended()) {
    OnHalfClose();
  }
}

void FakeCall::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  replies_.pop_front();
  if (!ok) replies_.clear();
  Advance();
}

void FakeCall::OnCancel() { End(grpc::Status::CANCELLED); }

void FakeCall::Reply(const google::protobuf::MessageLite& message) {
  const std::string bytes = message.SerializeAsString();
  const grpc::Slice slice(bytes);
  const std::lock_guard lock(mutex_);
  if (end_.has_value()) return;
  replies_.emplace_back(&slice, 1);
  Advance();
}

void FakeCall::End(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  if (end_.has_value()) return;
  end_ = status;
  Advance();
}

bool FakeCall::ended() {
  const std::lock_guard lock(mutex_);
  return end_.has_value();
}

void FakeCall::Advance() {
  if (writing_ || finished_) return;
  if (!replies_.empty()) {
    writing_ = true;
    StartWrite(&replies_.front());
  } else if (end_.has_value()) {
    finished_ = true;
    Finish(*end_);
  }
}

FakeCall* NewStream(const std::string& method, FakeServer* server) {
  if (method == "Put") return new PutCall(server);
  if (method == "Get") return new GetCall(server);
  if (method == "ApplyStream") return new ApplyStreamCall(server);
  if (method == "Session") return new SessionCall(server);
  return nullptr;
}

std::string ToString(grpc::ByteBuffer* buffer) {
  std::vector<grpc::Slice> slices;
  SHOAL_CHECK(buffer->Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

int64_t SpecBytes(const v1::ArraySpec& spec) {
  constexpr std::array<int64_t, 16> kBytes = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  int64_t bytes = kBytes[static_cast<size_t>(spec.dtype())];
  for (const int64_t extent : spec.shape()) bytes *= extent;
  return bytes;
}

}  // namespace shoal::testing
