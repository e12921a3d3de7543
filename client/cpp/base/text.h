// Texts that cross a border: bounded, and without control characters where a daemon wrote them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace blazed::shim {

// At most `limit` bytes, never cut inside a UTF-8 sequence, with '?' for each byte that is no
// UTF-8: a daemon takes no message that holds one.
std::string Bounded(std::string_view text, size_t limit);

// As Bounded, with control characters as '?', so that a message cannot steer a terminal.
std::string Printable(std::string_view text, size_t limit);

// True for 1..limit bytes of printable ASCII.
bool IsPlainName(const char* text, size_t limit);

// A null pointer reads as "".
inline std::string_view OrEmpty(const char* text) { return text != nullptr ? text : ""; }

}  // namespace blazed::shim
