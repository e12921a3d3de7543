#include "daemon/rpc/refusals.h"

#include <sys/socket.h>

#include <string>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

namespace blazed::rpc {
namespace {

namespace field = log::field;

std::string BigEndian(uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16),
          static_cast<char>(number >> 8), static_cast<char>(number)};
}

// RFC 9113, section 4.1, without flags and on the connection itself.
std::string Frame(char type, const std::string& payload) {
  const std::string length = BigEndian(static_cast<uint32_t>(payload.size())).substr(1);
  return length + type + '\0' + BigEndian(0) + payload;
}

std::string Goodbye(const std::string& sentence) {
  constexpr char kSettings = 4, kGoaway = 7;
  constexpr uint32_t kEnhanceYourCalm = 0xb;
  const std::string goaway = BigEndian(0) + BigEndian(kEnhanceYourCalm) + sentence;
  return Frame(kSettings, "") + Frame(kGoaway, goaway);
}

}  // namespace

void Refusals::Refuse(UniqueFd connection, uint32_t uid, const absl::Status& why,
                      planner::Moment now) {
  const std::string sentence(why.message());
  const std::string words = Goodbye(sentence);
  (void)!send(connection.get(), words.data(), words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  connection.reset(-1);

  const auto [known, first] = logged_.try_emplace(uid);
  Logged& logged = known->second;
  ++logged.since;
  if (!first && now - logged.at < ToNanos(kRefusalsEvery)) return;
  log::Warning("connections closed at accept",
               {{field::kUid, uid}, {field::kCount, logged.since}, {field::kReason, sentence}});
  logged = {now, 0};
}

}  // namespace blazed::rpc
