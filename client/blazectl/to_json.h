// Any message as JSON for programs: names as in the .proto files, 64-bit integers as numbers, enums
// as lower-case words without their prefix, bytes as hex, every field present (an absent message is
// null).
#pragma once

#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>
#include <string>

namespace blazed::blazectl {

nlohmann::ordered_json ToJson(const google::protobuf::Message& message);

// Two blanks a level; bytes that are no UTF-8 are replaced. Ends with a newline.
std::string Pretty(const nlohmann::ordered_json& json);
// One line, ends with a newline.
std::string OneLine(const nlohmann::ordered_json& json);

}  // namespace blazed::blazectl
