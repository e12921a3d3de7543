// The names of all log fields, so that a search for one finds every line that carries it.
#pragma once

#include <string_view>

namespace blazed::log::field {

inline constexpr std::string_view kSession = "session";
inline constexpr std::string_view kTuning = "tuning";
inline constexpr std::string_view kWorkload = "workload";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kDevice = "device";
inline constexpr std::string_view kJob = "job";
inline constexpr std::string_view kHost = "host";
inline constexpr std::string_view kUid = "uid";
inline constexpr std::string_view kPid = "pid";
inline constexpr std::string_view kPrincipal = "principal";
inline constexpr std::string_view kConnection = "connection";
inline constexpr std::string_view kReason = "reason";
inline constexpr std::string_view kMode = "mode";
inline constexpr std::string_view kPath = "path";
inline constexpr std::string_view kCount = "count";
inline constexpr std::string_view kDirective = "directive";
inline constexpr std::string_view kSettlement = "settlement";
inline constexpr std::string_view kOutcome = "outcome";
inline constexpr std::string_view kPhase = "phase";
inline constexpr std::string_view kSignal = "signal";
inline constexpr std::string_view kVersion = "version";
inline constexpr std::string_view kEpoch = "epoch";
inline constexpr std::string_view kTask = "task";
inline constexpr std::string_view kKey = "key";

}  // namespace blazed::log::field
