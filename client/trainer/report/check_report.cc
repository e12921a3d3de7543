#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/trainer/report/job_report.h"

namespace blazed::trainer {
namespace {

enum class Kind { kText, kNumber, kArray, kObject, kTextOrNull, kNumberOrNull, kObjectOrNull };

struct Field {
  const char* name;
  Kind kind;
};

constexpr std::array kJobFields = {
    Field{"role", Kind::kText},
    Field{"outcome", Kind::kText},
    Field{"settlement", Kind::kTextOrNull},
    Field{"plan", Kind::kArray},
    Field{"default_step_ns", Kind::kNumberOrNull},
    Field{"settled_step_ns", Kind::kNumberOrNull},
    Field{"gain", Kind::kObjectOrNull},
    Field{"equivalence", Kind::kTextOrNull},
    Field{"boundaries", Kind::kNumber},
    Field{"search_pairs", Kind::kNumber},
    Field{"replication_pairs", Kind::kNumber},
    Field{"window_s", Kind::kNumber},
    Field{"regret_s", Kind::kNumber},
    Field{"build_s", Kind::kNumber},
    Field{"probe_s", Kind::kNumber},
    Field{"drain_s", Kind::kNumber},
    Field{"forecast", Kind::kObjectOrNull},
    Field{"break_even_steps", Kind::kNumberOrNull},
    Field{"plans", Kind::kArray},
};
constexpr std::array kPlanFields = {
    Field{"plan", Kind::kArray},  Field{"signature", Kind::kText}, Field{"verdict", Kind::kText},
    Field{"reason", Kind::kText}, Field{"pairs", Kind::kNumber},
};
constexpr std::array kReportFields = {
    Field{"device", Kind::kText},   Field{"workload", Kind::kText}, Field{"regime", Kind::kText},
    Field{"contract", Kind::kText}, Field{"jobs", Kind::kArray},
};
constexpr std::array kOutcomes = {"settled", "no_winner", "undecided", "pinned", "off"};

bool Fits(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::kText:
      return value.is_string();
    case Kind::kNumber:
      return value.is_number();
    case Kind::kArray:
      return value.is_array();
    case Kind::kObject:
      return value.is_object();
    case Kind::kTextOrNull:
      return value.is_string() || value.is_null();
    case Kind::kNumberOrNull:
      return value.is_number() || value.is_null();
    case Kind::kObjectOrNull:
      return value.is_object() || value.is_null();
  }
  return false;
}

template <size_t N>
absl::Status CheckFields(const Json& object, const std::array<Field, N>& fields,
                         const std::string& place) {
  if (!object.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(place, " is no object"));
  }
  for (const Field& field : fields) {
    const auto it = object.find(field.name);
    if (it == object.end()) {
      return absl::InvalidArgumentError(absl::StrCat(place, " lacks ", field.name));
    }
    if (!Fits(*it, field.kind)) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, " has a ", field.name, " of the wrong type"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckJob(const Json& job, const std::string& place) {
  if (absl::Status status = CheckFields(job, kJobFields, place); !status.ok()) return status;
  const std::string outcome = job["outcome"].get<std::string>();
  bool known = false;
  for (const char* name : kOutcomes) known = known || outcome == name;
  if (!known) {
    return absl::InvalidArgumentError(absl::StrCat(place, " has an unknown outcome ", outcome));
  }
  for (size_t i = 0; i < job["plans"].size(); ++i) {
    absl::Status status =
        CheckFields(job["plans"][i], kPlanFields, absl::StrCat(place, ".plans[", i, "]"));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckReport(const Json& report) {
  if (absl::Status status = CheckFields(report, kReportFields, "report"); !status.ok()) {
    return status;
  }
  const auto schema = report.find("schema");
  if (schema == report.end() || !schema->is_number_integer() || schema->get<int64_t>() != 1) {
    return absl::InvalidArgumentError("report has another schema than 1");
  }
  for (size_t i = 0; i < report["jobs"].size(); ++i) {
    absl::Status status = CheckJob(report["jobs"][i], absl::StrCat("jobs[", i, "]"));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace blazed::trainer
