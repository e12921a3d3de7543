#include "tests/fault/daemon/jobs.h"

#include <array>
#include <random>

#include "absl/strings/str_cat.h"

namespace blazed::fault {

fakes::SyntheticHost HostOf(const std::string& workload) {
  const std::string digest = fakes::TestDigest(workload);
  std::seed_seq seed(digest.begin(), digest.end());
  std::mt19937 random(seed);
  constexpr std::array<double, 4> kSavings = {0.12, 0.08, -0.08, -0.12};
  const bool nothing_to_win = random() % 4 == 0;
  fakes::SyntheticHost host;
  host.name = workload;
  host.saving.resize(2 + random() % 3);
  for (double& saving : host.saving) saving = kSavings[random() % 4];
  if (nothing_to_win) host.saving.assign(host.saving.size(), -0.1);
  return host;
}

void Prepare(const Job& job, fakes::ScriptedShim* shim) {
  shim->wait_for_daemon = false;
  shim->hello().set_device(job.device);
  v1::EnvironmentEntry* entry = shim->hello().add_environment();
  entry->set_key("device");
  entry->set_value(job.device);
}

std::string QuickSettlingConfig(const std::string& device_lock_folder) {
  return absl::StrCat("[daemon]\ndevice_lock_dir = \"", device_lock_folder,
                      "\"\n[limits]\nattaches_per_minute = 1000000\n[tuning]\nalpha = 0.2\nbeta = "
                      "0.2\nverify_beta = 0.1\n"
                      "delta1 = 0.02\nprobe_batches = 1\nmax_pairs_per_race = 400\n");
}

}  // namespace blazed::fault
