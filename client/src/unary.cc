#include "client/src/unary.h"

#include "base/status.h"
#include "client/src/pieces_stream.h"

namespace shoal::internal {

absl::StatusOr<transport::Message> UnaryChannel::Call(Method method,
                                                      const transport::Frame& request,
                                                      const CallEnv& env) const {
  SHOAL_RETURN_IF_ERROR(env.deadline.Check());
  return channel_->Call(IndexOf(method), request, env.Terms());
}

absl::Status UnaryChannel::Call(Method method, const google::protobuf::MessageLite& request,
                                google::protobuf::MessageLite* response, const CallEnv& env) const {
  SHOAL_ASSIGN_OR_RETURN(const transport::Message reply,
                         Call(method, transport::FrameOf(request.SerializeAsString()), env));
  return ParseMessage(reply.pieces(), response);
}

absl::Status UnaryChannel::CallWhenReady(Method method,
                                         const google::protobuf::MessageLite& request,
                                         google::protobuf::MessageLite* response,
                                         const CallEnv& env) const {
  SHOAL_RETURN_IF_ERROR(env.deadline.Check());
  transport::CallTerms terms = env.Terms();
  terms.wait_for_ready = true;
  SHOAL_ASSIGN_OR_RETURN(
      const transport::Message reply,
      channel_->Call(IndexOf(method), transport::FrameOf(request.SerializeAsString()), terms));
  return ParseMessage(reply.pieces(), response);
}

}  // namespace shoal::internal
