// What a host calls its device, in the form of proto/device_name.h: hosts format a UUID as they
// like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace blazed::shim {

// `text` may be in either case. nullopt where it names no device.
std::optional<std::string> DeviceKey(std::string_view text);

}  // namespace blazed::shim
