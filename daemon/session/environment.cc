#include "daemon/session/environment.h"

#include <string_view>

#include "daemon/session/digest_bytes.h"

namespace blazed::session {
namespace {

// Length before text: no two lists of fields have the same bytes.
void AppendText(std::string* bytes, std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  for (int shift = 0; shift < 32; shift += 8) {
    bytes->push_back(static_cast<char>((size >> shift) & 0xff));
  }
  bytes->append(text);
}

planner::Digest Fingerprint(const std::map<std::string, std::string>& fields) {
  std::string bytes;
  for (const auto& [key, value] : fields) {
    AppendText(&bytes, key);
    AppendText(&bytes, value);
  }
  return DigestBytes(bytes);
}

}  // namespace

storage::EnvironmentRow MakeEnvironment(const std::map<std::string, std::string>& from_shim,
                                        const std::map<std::string, std::string>& from_machine) {
  storage::EnvironmentRow row;
  for (const auto& [key, value] : from_shim) {
    if (key.compare(0, sizeof(kMachinePrefix) - 1, kMachinePrefix) != 0) row.fields[key] = value;
  }
  for (const auto& [key, value] : from_machine) row.fields[kMachinePrefix + key] = value;
  row.fingerprint = Fingerprint(row.fields);
  return row;
}

}  // namespace blazed::session
