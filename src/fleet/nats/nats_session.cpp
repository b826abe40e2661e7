#include "fleet/nats/nats_session.h"

#include "fleet/nats/callback_table.h"
#include "fleet/nats/nats_api.h"
#include "fleet/nats/nats_options.h"
#include "fleet/nats/nats_wire.h"
#include "fleet/nats/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <utility>
#include <vector>

namespace regraph::fleet {
namespace {

// Of a message's largest size, for what stands in front of the data.
constexpr std::size_t kHeaderRoom = 1024;
constexpr int kDrainMilliseconds = 5000;
// What waits for the one thread that hears.
constexpr int kPendingMessages = 1 << 20;
constexpr int kPendingBytes = 256 << 20;

struct Listener {
  const NatsApi* api = nullptr;
  NatsSession::Hear hear;
  std::function<void()> completed;  // a drained subscription has heard all
};

CallbackTable<Listener>& listeners() {
  // Never destroyed: libnats' threads outlive main.
  static auto* const kTable = new CallbackTable<Listener>;
  return *kTable;
}

// For messages whose listener is gone.
std::atomic<decltype(NatsApi::message_destroy)> destroy_unheard;

void hear_message(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
  if (const auto listener = listeners().find(closure))
    listener->hear(read_message(*listener->api, message));
  else
    destroy_unheard.load()(message);
}

void listening_completed(void* closure) {
  if (const auto listener = listeners().find(closure)) listener->completed();
}

Error cannot_connect(const NatsApi& api, const NatsOptions& options, natsStatus status) {
  const std::string where = shown_servers(options.server);
  const char* const last = api.get_last_error(nullptr);
  std::string why = api.status_text(status);
  if (last != nullptr && *last != '\0') why += fmt::format(": {}", printable(last));
  switch (status) {
    case NATS_CONNECTION_AUTH_FAILED:
    case NATS_NOT_PERMITTED:
      return fail(
          ErrorCode::permission,
          fmt::format("the NATS server at {} refuses {}", where,
                      options.token_file.empty() ? "a connection without a token"
                                                 : "the token of " + options.token_file.string()));
    case NATS_SSL_ERROR:
    case NATS_SECURE_CONNECTION_REQUIRED:
      return fail(
          ErrorCode::permission,
          fmt::format("no TLS with the NATS server at {}: {}{}", where, why,
                      options.ca_file.empty() ? "; name the authority of its certificate" : ""));
    case NATS_SECURE_CONNECTION_WANTED:
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the NATS server at {} has no TLS: name no authority", where));
    case NATS_ADDRESS_MISSING:
    case NATS_INVALID_ARG:
      return fail(ErrorCode::invalid_argument, fmt::format("{}: {}", where, why));
    default:
      return fail(ErrorCode::io,
                  fmt::format("no NATS server at {} ({}); one starts with: nats-server -js -sd "
                              "FOLDER -a 127.0.0.1",
                              where, why));
  }
}

}  // namespace

struct NatsSession::State {
  std::shared_ptr<const NatsApi> api;
  natsConnection* connection = nullptr;
  std::uintptr_t number = 0;  // in sessions()
  std::atomic<bool> alive{true};
  ReplyDesk desk;
  std::string inbox;  // "_INBOX.<unique>."
  std::size_t largest_data = 0;
  std::mutex mutex;
  std::string complaint;
  std::uint64_t last_inbox = 0;
  struct Draining {
    natsSubscription* subscription = nullptr;
    std::uintptr_t number = 0;
    std::shared_ptr<std::atomic<bool>> completed;
  };
  std::vector<Draining> draining;

  void end() {
    alive = false;
    desk.close();
  }

  static CallbackTable<State>& sessions() {
    static auto* const kTable = new CallbackTable<State>;
    return *kTable;
  }
  static void closed(natsConnection*, void* closure) {
    if (const auto state = sessions().find(closure)) state->end();
  }
  static void complained(natsConnection* connection, natsSubscription*, natsStatus status,
                         void* closure) {
    const auto state = sessions().find(closure);
    if (state == nullptr) return;
    const char* text = nullptr;
    (void)state->api->connection_last_error(connection, &text);
    const std::lock_guard lock(state->mutex);
    state->complaint =
        printable(text != nullptr && *text != '\0' ? text : state->api->status_text(status));
  }
};

NatsSession::NatsSession(std::shared_ptr<const NatsApi> api) : state_(std::make_shared<State>()) {
  state_->api = std::move(api);
}

Result<std::shared_ptr<NatsSession>> NatsSession::open(const std::shared_ptr<const NatsApi>& api,
                                                       const NatsOptions& options) {
  auto made = make_options(*api, options);
  if (!made) return made.error();
  auto session = std::make_shared<NatsSession>(api);
  State& state = *session->state_;
  destroy_unheard = api->message_destroy;
  state.number = State::sessions().add(session->state_);
  void* const closure = CallbackTable<State>::closure(state.number);
  natsStatus status = api->set_closed_handler(made->get(), &State::closed, closure);
  if (status == NATS_OK) status = api->set_error_handler(made->get(), &State::complained, closure);
  if (status == NATS_OK) status = api->connect(&state.connection, made->get());
  if (status != NATS_OK) return cannot_connect(*api, options, status);
  state.largest_data = static_cast<std::size_t>(
      std::max<std::int64_t>(api->max_payload(state.connection), kHeaderRoom) -
      static_cast<std::int64_t>(kHeaderRoom));
  natsInbox* inbox = nullptr;
  if (api->inbox_create(&inbox) != NATS_OK) return fail(ErrorCode::resource, "out of memory");
  state.inbox = std::string(inbox) + ".";
  api->inbox_destroy(inbox);
  const std::size_t prefix = state.inbox.size() + 2;
  auto replies =
      session->listen(state.inbox + "r.*",
                      [state = std::weak_ptr<State>(session->state_), prefix](Message message) {
                        const auto here = state.lock();
                        if (here == nullptr || message.subject.size() < prefix) return;
                        std::uint64_t number = 0;
                        const char* const end = message.subject.data() + message.subject.size();
                        (void)std::from_chars(message.subject.data() + prefix, end, number);
                        here->desk.hand_over(number, std::move(message));
                      });
  if (!replies) return replies.error();
  session->replies_ = *std::move(replies);
  return session;
}

NatsSession::~NatsSession() {
  const NatsApi& api = *state_->api;
  replies_.reset();
  State::sessions().remove(state_->number);
  state_->end();
  if (state_->connection != nullptr) api.close(state_->connection);
  for (const State::Draining& draining : state_->draining) {
    listeners().remove(draining.number);
    api.subscription_destroy(draining.subscription);
  }
  if (state_->connection != nullptr) api.connection_destroy(state_->connection);
}

bool NatsSession::alive() const {
  return state_->alive;
}

std::string NatsSession::complaint() const {
  const std::lock_guard lock(state_->mutex);
  return state_->complaint;
}

std::size_t NatsSession::largest_data() const {
  return state_->largest_data;
}

std::string NatsSession::new_inbox() {
  const std::lock_guard lock(state_->mutex);
  return fmt::format("{}i.{}.", state_->inbox, ++state_->last_inbox);
}

struct NatsSession::Listening::Handle {
  std::shared_ptr<NatsSession> kept;
  State* state = nullptr;
  natsSubscription* subscription = nullptr;
  std::uintptr_t number = 0;
};

Result<std::unique_ptr<NatsSession::Listening>> NatsSession::listen(const std::string& subject,
                                                                    Hear hear) {
  free_drained();
  const NatsApi& api = *state_->api;
  const auto listener = std::make_shared<Listener>();
  listener->api = &api;
  listener->hear = std::move(hear);
  const std::uintptr_t number = listeners().add(listener);
  natsSubscription* subscription = nullptr;
  const natsStatus status =
      alive() ? api.subscribe(&subscription, state_->connection, subject.c_str(), &hear_message,
                              CallbackTable<Listener>::closure(number))
              : NATS_CONNECTION_CLOSED;
  if (status != NATS_OK) {
    listeners().remove(number);
    return fail(ErrorCode::io, fmt::format("cannot listen: {}", api.status_text(status)));
  }
  (void)api.set_pending_limits(subscription, kPendingMessages, kPendingBytes);
  // The one that the session has of itself must not keep it.
  auto kept = replies_ == nullptr ? nullptr : shared_from_this();
  return std::make_unique<Listening>(
      std::make_unique<Listening::Handle>(Listening::Handle{.kept = std::move(kept),
                                                            .state = state_.get(),
                                                            .subscription = subscription,
                                                            .number = number}));
}

NatsSession::Listening::Listening(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}

NatsSession::Listening::~Listening() {
  if (handle_->subscription == nullptr) return;
  const NatsApi& api = *handle_->state->api;
  (void)api.unsubscribe(handle_->subscription);
  listeners().remove(handle_->number);
  api.subscription_destroy(handle_->subscription);
}

void NatsSession::Listening::drain() {
  State& state = *handle_->state;
  void* const closure = CallbackTable<Listener>::closure(handle_->number);
  const auto completed = std::make_shared<std::atomic<bool>>(false);
  listeners().find(closure)->completed = [completed] { *completed = true; };
  natsSubscription* const subscription = handle_->subscription;
  if (state.api->set_on_complete(subscription, &listening_completed, closure) != NATS_OK) return;
  if (state.api->drain(subscription, kDrainMilliseconds) != NATS_OK) return;
  // Destroyed now it would hear nothing more.
  const std::lock_guard lock(state.mutex);
  state.draining.push_back(
      {.subscription = subscription, .number = handle_->number, .completed = completed});
  handle_->subscription = nullptr;
}

void NatsSession::free_drained() {
  std::vector<State::Draining> completed;
  {
    const std::lock_guard lock(state_->mutex);
    const auto still = std::partition(state_->draining.begin(), state_->draining.end(),
                                      [](const State::Draining& one) { return !*one.completed; });
    completed.assign(still, state_->draining.end());
    state_->draining.erase(still, state_->draining.end());
  }
  for (const State::Draining& one : completed) {
    listeners().remove(one.number);
    state_->api->subscription_destroy(one.subscription);
  }
}

Status NatsSession::publish(const Outgoing& outgoing) {
  if (outgoing.data.size() > state_->largest_data)
    return fail(ErrorCode::resource,
                fmt::format("{} bytes (compressed) do not fit into a message of the NATS server; "
                            "its largest has {} (max_payload)",
                            outgoing.data.size(), state_->largest_data));
  if (!alive()) return fail(ErrorCode::io, "the connection to the NATS server is lost");
  const auto message = make_message(*state_->api, outgoing);
  if (!message) return message.error();
  const natsStatus status = state_->api->publish(state_->connection, *message);
  state_->api->message_destroy(*message);
  if (status == NATS_OK) return {};
  return fail(ErrorCode::io, fmt::format("the NATS server cannot be reached: {}",
                                         state_->api->status_text(status)));
}

Result<ReplyDesk::Ticket> NatsSession::begin(Outgoing outgoing) {
  ReplyDesk::Ticket ticket = state_->desk.open();
  const std::string reply = fmt::format("{}r.{}", state_->inbox, ticket.number());
  outgoing.reply = reply;
  if (const Status sent = publish(outgoing); !sent) return sent.error();
  return ticket;
}

Result<Message> NatsSession::request(const Outgoing& outgoing, double seconds,
                                     const Cancellation& cancellation) {
  auto ticket = begin(outgoing);
  if (!ticket) return ticket.error();
  return ticket->wait(seconds, cancellation);
}

}  // namespace regraph::fleet
