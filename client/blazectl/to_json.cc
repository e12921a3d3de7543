#include "client/blazectl/to_json.h"

#include "absl/strings/escaping.h"
#include "client/blazectl/enum_text.h"

namespace blazed::blazectl {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Json = nlohmann::ordered_json;

std::string StringOf(const FieldDescriptor* field, const std::string& value) {
  return field->type() == FieldDescriptor::TYPE_BYTES ? absl::BytesToHexString(value) : value;
}

std::string EnumOf(const FieldDescriptor* field, int number) {
  return EnumWord(field->enum_type(), number, Joint::kUnderscore);
}

Json Single(const Message& message, const Reflection& get, const FieldDescriptor* field) {
  if (field->has_presence() && !get.HasField(message, field)) return nullptr;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return get.GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return get.GetInt64(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return get.GetUInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return get.GetUInt64(message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return get.GetDouble(message, field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return get.GetFloat(message, field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return get.GetBool(message, field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumOf(field, get.GetEnumValue(message, field));
    case FieldDescriptor::CPPTYPE_STRING:
      return StringOf(field, get.GetString(message, field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(get.GetMessage(message, field));
  }
  return nullptr;
}

Json Element(const Message& message, const Reflection& get, const FieldDescriptor* field, int i) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return get.GetRepeatedInt32(message, field, i);
    case FieldDescriptor::CPPTYPE_INT64:
      return get.GetRepeatedInt64(message, field, i);
    case FieldDescriptor::CPPTYPE_UINT32:
      return get.GetRepeatedUInt32(message, field, i);
    case FieldDescriptor::CPPTYPE_UINT64:
      return get.GetRepeatedUInt64(message, field, i);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return get.GetRepeatedDouble(message, field, i);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return get.GetRepeatedFloat(message, field, i);
    case FieldDescriptor::CPPTYPE_BOOL:
      return get.GetRepeatedBool(message, field, i);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumOf(field, get.GetRepeatedEnumValue(message, field, i));
    case FieldDescriptor::CPPTYPE_STRING:
      return StringOf(field, get.GetRepeatedString(message, field, i));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(get.GetRepeatedMessage(message, field, i));
  }
  return nullptr;
}

}  // namespace

Json ToJson(const Message& message) {
  Json json = Json::object();
  const Reflection& get = *message.GetReflection();
  const auto* type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    if (!field->is_repeated()) {
      json[field->name()] = Single(message, get, field);
      continue;
    }
    Json list = Json::array();
    for (int k = 0; k < get.FieldSize(message, field); ++k) {
      list.push_back(Element(message, get, field, k));
    }
    json[field->name()] = std::move(list);
  }
  return json;
}

std::string Pretty(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string OneLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace blazed::blazectl
