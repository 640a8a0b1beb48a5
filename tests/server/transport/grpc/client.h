#pragma once

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/transport/grpc/grpc_server.h"
#include "tests/support/inbox.h"

// A real server on a free port, and a client of it that knows nothing but bytes.
namespace shoal::transport {

inline grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

inline std::string ToText(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!buffer.Dump(&slices).ok()) return text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

class Client {
 public:
  explicit Client(const std::string& address)
      : stub_(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), Arguments())) {
  }

  struct Answer {
    grpc::Status status;
    std::string bytes;
  };

  /// A unary call; `context` may be cancelled meanwhile.
  void Start(grpc::ClientContext* context, const std::string& method, const std::string& request,
             support::Inbox<Answer>* answers) {
    struct Call {
      grpc::ByteBuffer request;
      grpc::ByteBuffer response;
    };
    auto call = std::make_shared<Call>();
    call->request = ToBuffer(request);
    stub_.UnaryCall(context, method, grpc::StubOptions(), &call->request, &call->response,
                    [call, answers](grpc::Status status) {
                      std::string bytes = status.ok() ? ToText(call->response) : "";
                      answers->Put({std::move(status), std::move(bytes)});
                    });
  }

  Answer Call(const std::string& method, const std::string& request) {
    grpc::ClientContext context;
    support::Inbox<Answer> answers;
    Start(&context, method, request, &answers);
    return answers.Take();
  }

  grpc::GenericStub& stub() { return stub_; }

 private:
  static grpc::ChannelArguments Arguments() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // A connection of its own.
    return arguments;
  }

  grpc::GenericStub stub_;
};

/// The client's side of a stream.
class ClientStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  ClientStream(Client& client, const std::string& method) {
    client.stub().PrepareBidiStreamingCall(&context_, method, grpc::StubOptions(), this);
    AddHold();  // Until HalfClose: the calls below come from outside.
    StartRead(&incoming_);
    StartCall();
  }
  ~ClientStream() override {
    context_.TryCancel();
    LetGo();
    if (!status_.has_value()) status_ = ends_.Take();
  }

  void Write(const std::string& bytes) {
    outgoing_ = ToBuffer(bytes);
    StartWrite(&outgoing_);
    written_.Take();
  }
  void HalfClose() {
    StartWritesDone();
    LetGo();
  }
  /// Nothing once the stream has ended.
  std::optional<std::string> Read() { return messages_.Take(); }
  grpc::Status End() {
    LetGo();
    status_ = ends_.Take();
    return *status_;
  }
  void Cancel() { context_.TryCancel(); }

 private:
  void LetGo() {
    if (std::exchange(held_, false)) RemoveHold();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return messages_.Put(std::nullopt);
    messages_.Put(ToText(incoming_));
    StartRead(&incoming_);
  }
  void OnWriteDone(bool ok) override { written_.Put(ok); }
  void OnDone(const grpc::Status& status) override { ends_.Put(status); }

  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  support::Inbox<std::optional<std::string>> messages_;
  support::Inbox<bool> written_;
  support::Inbox<grpc::Status> ends_;
  std::optional<grpc::Status> status_;
  bool held_ = true;
};

/// Serves one service, "test.Service", until it goes.
class ServerTest : public ::testing::Test {
 protected:
  void Serve(std::vector<Method> methods, ServerOptions options = {}) {
    options.endpoints.insert(options.endpoints.begin(), {"127.0.0.1:0", std::nullopt});
    if (options.message_bytes_max == 0) options.message_bytes_max = 1 << 20;
    if (options.streams_per_connection_max == 0) options.streams_per_connection_max = 100;
    auto server = StartGrpcServer(options, {{"test.Service", std::move(methods)}});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    client_.emplace(Address());
  }
  ~ServerTest() override {
    if (server_ != nullptr) server_->Shutdown(Duration::zero());
  }

  std::string Address() const { return absl::StrCat("127.0.0.1:", server_->Ports()[0]); }
  Client& client() { return *client_; }

  std::unique_ptr<Server> server_;
  std::optional<Client> client_;
};

}  // namespace shoal::transport
