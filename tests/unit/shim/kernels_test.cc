// The kernels of the plan in use: asked of the host, given once, and never out of the daemon's
// limits.
#include "tests/unit/shim/engine_fixture.h"

namespace blazed::shim {
namespace {

class KernelsTest : public EngineTest {
 protected:
  KernelsTest() {
    ops = host.Ops();
    ops.want_kernels = [](void*, uint64_t handle) { asked.push_back(handle); };
    asked.clear();
  }

  // The handle of a settled plan in use.
  uint64_t Settle() {
    const uint64_t handle = Prove(1, Behaviour::kGood);
    OrderAdopt(1, true);
    Step();
    return handle;
  }
  uint64_t SettleAndAsk() {
    const uint64_t handle = Settle();
    Want(1);
    return handle;
  }
  void Want(uint32_t variant) {
    daemon.Orders(WantKernels{variant});
    Step();
  }

  static blz_kernel Named(const char* name) {
    blz_kernel kernel{};
    kernel.name = name;
    return kernel;
  }
  static blz_step_kernels StepOf(const std::vector<blz_kernel>& kernels) {
    blz_step_kernels step{};
    step.struct_size = sizeof step;
    step.kernels = kernels.data();
    step.kernel_bytes = sizeof(blz_kernel);
    step.kernel_count = kernels.size();
    return step;
  }
  blz_result Give(uint64_t handle, const std::vector<blz_kernel>& kernels) {
    const blz_step_kernels before = StepOf({}), after = StepOf(kernels);
    return engine->GiveKernels(handle, &before, &after);
  }
  std::vector<v1::ShimMessage> Given() const { return daemon.Sent(v1::ShimMessage::kKernelsSeen); }

  // A C callback without a user of its own: ops.user is the fake host.
  static inline std::vector<uint64_t> asked;
};

TEST_F(KernelsTest, TheHostIsAskedByTheHandleAndItsAnswerGoesOut) {
  Start();
  const uint64_t handle = SettleAndAsk();
  EXPECT_EQ(asked, std::vector<uint64_t>{handle});
  blz_kernel kernel = Named("triton_poi_fused_add_0");
  kernel.known = BLZ_KERNEL_LAUNCHES | BLZ_KERNEL_BYTES | BLZ_KERNEL_REGISTERS;
  kernel.launches = 12;
  kernel.read_bytes = 4096;
  kernel.spill_bytes = 99;  // not among the known ones
  blz_step_kernels before = StepOf({});
  before.known = BLZ_TOTAL_BUSY | BLZ_TOTAL_HOST_LAUNCHES;
  before.busy_ns = 700;
  before.host_launches = 3;
  const std::vector<blz_kernel> kernels{kernel};
  const blz_step_kernels after = StepOf(kernels);
  EXPECT_EQ(engine->GiveKernels(handle, &before, &after), BLZ_OK);
  ASSERT_EQ(Given().size(), 1u);
  const v1::KernelsSeen seen = Given()[0].kernels_seen();
  EXPECT_EQ(seen.variant(), 1u);
  EXPECT_EQ(seen.before().totals().busy_ns(), 700u);
  EXPECT_EQ(seen.before().totals().host_launches(), 3u);
  EXPECT_FALSE(seen.before().totals().has_step_ns());
  ASSERT_EQ(seen.after().kernels_size(), 1);
  const v1::KernelUse& use = seen.after().kernels(0);
  EXPECT_EQ(use.name(), "triton_poi_fused_add_0");
  EXPECT_EQ(use.launches(), 12u);
  EXPECT_EQ(use.read_bytes(), 4096u);
  EXPECT_TRUE(use.has_written_bytes());
  EXPECT_TRUE(use.has_registers());
  EXPECT_EQ(use.registers(), 0u);
  EXPECT_FALSE(use.has_time_ns() || use.has_spill_bytes() || use.has_shared_bytes());
}

TEST_F(KernelsTest, AnAnswerIsTakenOnceAndOnlyWhereItWasAsked) {
  Start();
  const uint64_t handle = Settle();
  EXPECT_EQ(Give(handle, {}), BLZ_NOT_FOUND);
  Want(1);
  EXPECT_EQ(Give(handle + 1, {}), BLZ_NOT_FOUND);
  EXPECT_EQ(Give(handle, {}), BLZ_OK);
  EXPECT_EQ(Give(handle, {}), BLZ_NOT_FOUND);
  EXPECT_EQ(Given().size(), 1u);
}

TEST_F(KernelsTest, OnlyASettledPlanInUseIsAskedFor) {
  Start();
  Prove(1, Behaviour::kGood);
  Prove(2, Behaviour::kRounded);
  OrderAdopt(1);
  Step();
  Want(1);
  OrderAdopt(0, true);
  Step();
  for (const uint32_t variant : {0u, 1u, 2u, 77u}) Want(variant);
  EXPECT_TRUE(asked.empty());
}

TEST_F(KernelsTest, AFrozenSessionRunsNoDefaultStepForIt) {
  config.mode = BLZ_MODE_TUNE_UNTIL;
  config.tune_until_steps = 6;
  Start();
  Settle();
  Steps(6);
  Want(1);
  EXPECT_TRUE(asked.empty());
}

TEST_F(KernelsTest, AHostThatCannotTellIsNotAsked) {
  ops.want_kernels = nullptr;
  Start();
  const uint64_t handle = SettleAndAsk();
  EXPECT_EQ(Give(handle, {}), BLZ_NOT_FOUND);
}

TEST_F(KernelsTest, TheQuestionEndsWithThePlan) {
  Start();
  const uint64_t handle = SettleAndAsk();
  OrderAdopt(0, true);
  Step();
  EXPECT_EQ(Give(handle, {}), BLZ_NOT_FOUND);
  OrderAdopt(1, true);
  Step();
  EXPECT_EQ(Give(handle, {}), BLZ_NOT_FOUND) << "it was not asked again";
  Want(1);
  daemon.OrdersStand(1);
  Step();
  EXPECT_EQ(Give(handle, {}), BLZ_NOT_FOUND);
}

TEST_F(KernelsTest, WhatBreaksALimitIsNotTakenAndMayBeGivenAgain) {
  Start();
  const uint64_t handle = SettleAndAsk();
  const auto with = [](void (*edit)(blz_kernel&)) {
    blz_kernel kernel = Named("k");
    edit(kernel);
    return std::vector<blz_kernel>{kernel};
  };
  EXPECT_EQ(Give(handle, {Named("twice"), Named("twice")}), BLZ_INVALID);
  EXPECT_EQ(Give(handle, {Named("")}), BLZ_INVALID);
  EXPECT_EQ(Give(handle, {Named(nullptr)}), BLZ_INVALID);
  EXPECT_EQ(Give(handle, with([](auto& k) { k.launches = uint64_t{1} << 32; })), BLZ_INVALID);
  EXPECT_EQ(Give(handle, with([](auto& k) { k.time_ns = UINT64_MAX; })), BLZ_INVALID);
  EXPECT_EQ(Give(handle, with([](auto& k) { k.read_bytes = UINT64_MAX; })), BLZ_INVALID);
  EXPECT_EQ(Give(handle, with([](auto& k) { k.written_bytes = UINT64_MAX; })), BLZ_INVALID);
  EXPECT_EQ(Give(handle, with([](auto& k) { k.registers = UINT32_MAX; })), BLZ_INVALID);
  EXPECT_EQ(Give(handle, with([](auto& k) { k.spill_bytes = UINT32_MAX; })), BLZ_INVALID);
  EXPECT_EQ(Give(handle, with([](auto& k) { k.shared_bytes = UINT32_MAX; })), BLZ_INVALID);
  EXPECT_FALSE(engine->reason().empty());
  const blz_step_kernels good = StepOf({});
  blz_step_kernels broken = good;
  broken.struct_size = 8;
  EXPECT_EQ(engine->GiveKernels(handle, &broken, &good), BLZ_INVALID);
  broken = good;
  broken.busy_ns = UINT64_MAX;
  EXPECT_EQ(engine->GiveKernels(handle, &good, &broken), BLZ_INVALID);
  broken = good;
  broken.kernel_count = 513;
  EXPECT_EQ(engine->GiveKernels(handle, &good, &broken), BLZ_INVALID);
  EXPECT_EQ(engine->GiveKernels(handle, nullptr, &good), BLZ_INVALID);
  EXPECT_TRUE(Given().empty());
  EXPECT_EQ(Give(handle, {Named("k")}), BLZ_OK);
}

TEST_F(KernelsTest, NamesGoOutAsTheDaemonTakesThem) {
  Start();
  const uint64_t handle = SettleAndAsk();
  const std::string large(300, 'k');
  EXPECT_EQ(Give(handle, {Named(large.c_str()), Named("\x1b[2J\xe2\x80\xae")}), BLZ_OK);
  const v1::StepKernels after = Given().at(0).kernels_seen().after();
  EXPECT_EQ(after.kernels(0).name(), large.substr(0, 256));
  EXPECT_EQ(after.kernels(1).name(), "?[2J???");
}

TEST_F(KernelsTest, TheLargestAnswerFitsAMessage) {
  Start();
  const uint64_t handle = SettleAndAsk();
  std::vector<std::string> names;
  for (int i = 0; i < 512; ++i) names.push_back(std::to_string(i) + std::string(256, 'k'));
  std::vector<blz_kernel> kernels;
  for (const std::string& name : names) {
    blz_kernel kernel = Named(name.c_str());
    kernel.known = UINT32_MAX;
    kernel.launches = UINT32_MAX;
    kernel.time_ns = 3'600'000'000'000;
    kernel.read_bytes = kernel.written_bytes = uint64_t{1} << 50;
    kernel.registers = kernel.spill_bytes = kernel.shared_bytes = INT32_MAX;
    kernels.push_back(kernel);
  }
  const blz_step_kernels step = StepOf(kernels);
  EXPECT_EQ(engine->GiveKernels(handle, &step, &step), BLZ_OK);
  ASSERT_EQ(Given().size(), 1u);
  EXPECT_EQ(Given()[0].kernels_seen().before().kernels_size(), 512);
}

TEST_F(KernelsTest, TheStatusSaysWhatIsTimed) {
  Start();
  Settle();
  blz_status_info info{};
  engine->FillStatus(info);
  EXPECT_EQ(info.in_unit, 0u);
  daemon.Orders(RunPairs{77, 1, 0, 1, {0}, 0, 1, 0, 0});
  engine->BeginStep(++step);
  engine->FillStatus(info);
  EXPECT_EQ(info.in_unit, 1u);
}

}  // namespace
}  // namespace blazed::shim
