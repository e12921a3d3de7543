// Names of decisions for people: what is decided, where in the model, and no name twice.
#pragma once

#include <string>
#include <vector>

namespace blazed::fuse {

// A name around its place: "bwd", "multiply|row_sum 512x128".
struct NameParts {
  std::string phase;  // may be empty
  std::string what;
};

// One place for all of a class: the place itself where all are equal; "layer*/norm1" where they
// differ in numbers; else the first and how many other places there are, "layer0/norm1+2".
std::string CommonPlace(const std::vector<std::string>& places);

// A name for each of `parts` at its `places`, at most kLongestName bytes, printable where the parts
// are. Where two would be equal each after the first bears a number: "... #2".
std::vector<std::string> UniqueNames(const std::vector<NameParts>& parts,
                                     const std::vector<std::vector<std::string>>& places);

}  // namespace blazed::fuse
