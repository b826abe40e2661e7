#include "capture/runtime/server_connection.h"

#include "capture/runtime/socket_bytes.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <mutex>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

namespace regraph::capture {
namespace {

constexpr int kNobodyAnswers = cudaErrorSystemDriverMismatch;

// The head of an answer, and the descriptor that may come with it.
bool receive_head(int socket, AnswerHead& head, int& descriptor) {
  iovec place{&head, sizeof head};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
      std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  }
  const auto have = static_cast<std::size_t>(got);
  return receive_all(socket, reinterpret_cast<char*>(&head) + have, sizeof head - have);
}

class Connection {
 public:
  Answer ask(RequestKind kind, Part first, Part second) {
    const std::lock_guard lock(mutex_);
    Answer answer;
    answer.status = kNobodyAnswers;
    if (!connect()) return answer;
    const RequestHead request{kind, 0, first.bytes + second.bytes};
    AnswerHead head;
    const bool sent = send_all(socket_, &request, sizeof request) &&
                      send_all(socket_, first.data, first.bytes) &&
                      send_all(socket_, second.data, second.bytes);
    if (!sent || !receive_head(socket_, head, answer.descriptor) || head.bytes > kLargestMessage)
      return answer;
    answer.payload.resize(head.bytes);
    if (receive_all(socket_, answer.payload.data(), answer.payload.size()))
      answer.status = head.status;
    return answer;
  }

 private:
  // A process that was forked has its parent's socket, whose answers are the parent's.
  bool connect() {
    if (socket_ >= 0 && owner_ == ::getpid()) return true;
    const char* path = std::getenv(kSocketVariable);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return false;
    std::strcpy(address.sun_path, path);
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    owner_ = ::getpid();
    if (socket_ < 0) return false;
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return true;
    ::close(socket_);
    socket_ = -1;
    return false;
  }

  std::mutex mutex_;
  int socket_ = -1;
  pid_t owner_ = 0;
};

}  // namespace

Answer ask(RequestKind kind, Part first, Part second) {
  // Never destroyed: programs call the runtime while they end.
  static Connection& connection = *new Connection;
  return connection.ask(kind, first, second);
}

}  // namespace regraph::capture
