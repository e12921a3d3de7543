// How the daemon knows a device. It keeps a lock and a line of turns by the name, so one device has
// one spelling; hosts format a UUID as they like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace blazed::shim {

// "cpu", or "GPU-", "MIG-" or "MIG-GPU-" and a UUID of 8-4-4-4-12 lower-case hex digits; behind the
// last of these "/" and two numbers may follow, its GPU and compute instance. `text` may be in
// either case. nullopt where it is none of these.
std::optional<std::string> DeviceKey(std::string_view text);

}  // namespace blazed::shim
