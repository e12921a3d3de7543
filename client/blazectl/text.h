// Values as people read them. All plain ASCII, no colour.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace blazed::blazectl {

// "850 ns", "21.4 ms", "3.2 s", "4 min 10 s", "2 h 5 min": three digits at most, units by size.
std::string DurationText(double ns);

// "512 B", "31.5 MiB".
std::string BytesText(uint64_t bytes);

// A share as a percentage: 0.1234 is "12.3 %", 0.0004 is "0.04 %".
std::string PercentText(double share);

// "just now", "14 s ago", "3 d ago"; empty for 0.
std::string AgoText(int64_t unix_ns, absl::Time now);

// The first digits, enough to tell fingerprints apart and to type.
std::string ShortHex(absl::string_view hex);

// Text that came from a client, made safe for a terminal: each byte of a control character, of one
// that turns the direction of writing, breaks a line or is not seen, and of what is no UTF-8
// becomes '?'. Other UTF-8 passes.
std::string Clean(absl::string_view text);

// Columns that a text takes on a terminal: code points, not bytes.
size_t Columns(absl::string_view text);

// At most `columns` wide; a longer text ends in "...".
std::string Shortened(absl::string_view text, size_t columns);

// "1 pair", "2 pairs".
std::string Counted(uint64_t n, absl::string_view noun);

// A number of steps that was computed: "812 steps".
std::string StepsText(double steps);

}  // namespace blazed::blazectl
