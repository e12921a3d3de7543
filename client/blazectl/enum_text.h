// Enum values of the protocol as words: VERDICT_REJECTED_BROKEN is "rejected broken".
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/generated_enum_reflection.h>

#include <string>

namespace blazed::blazectl {

enum class Joint { kBlank, kUnderscore };

// A number that this build does not know is written as the number; UNSPECIFIED as "-".
std::string EnumWord(const google::protobuf::EnumDescriptor* type, int number, Joint joint);

template <typename Enum>
std::string Word(Enum value) {
  return EnumWord(google::protobuf::GetEnumDescriptor<Enum>(), static_cast<int>(value),
                  Joint::kBlank);
}

}  // namespace blazed::blazectl
