/* The smallest host: power iteration on a dense matrix, whose product with a vector can be computed
 * row by row or, for the same sums in another order, in four partial sums a row. blazed tries the
 * alternative on running iterations, checks its numbers, and keeps it where it is faster.
 *
 *     cc minimal_host.c $(pkg-config --cflags --libs blazed) -lm -o minimal_host && ./minimal_host
 *
 * once the shim is installed (client/cpp/README.md says how).
 *
 * It runs the same without a daemon: every handle is then 0, the default. */
#include <blazed/blazed.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSize = 256, kPlans = 64 };

typedef struct host {
  float matrix[kSize * kSize];
  float vector[kSize];     /* what a step reads: its "batch" */
  uint32_t option[kPlans]; /* by handle; [0] is the default plan */
  uint32_t ran[kPlans];    /* which kernel a plan's latest run really went through, plus one */
  uint64_t last_handle;
} host;

/* y = A x with one sum a row or four partial ones. Returns which kernel that was. */
static uint32_t multiply(const host* h, uint32_t option, float* y) {
  for (int i = 0; i < kSize; ++i) {
    const float* row = h->matrix + i * kSize;
    float sum[4] = {0};
    if (option == 0) {
      for (int j = 0; j < kSize; ++j) sum[0] += row[j] * h->vector[j];
    } else {
      for (int j = 0; j < kSize; j += 4) {
        for (int k = 0; k < 4; ++k) sum[k] += row[j + k] * h->vector[j + k];
      }
    }
    y[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  return option == 0 ? 1 : 2;
}

static int build(void* user, const blz_choice* choices, size_t count, blz_built* out) {
  host* h = user;
  float scratch[kSize];
  if (h->last_handle + 1 == kPlans) {
    snprintf(out->message, sizeof out->message, "this example keeps 63 plans at most");
    return BLZ_BUILD_FAILED;
  }
  out->handle = ++h->last_handle;
  h->option[out->handle] = count > 0 ? choices[0].option : 0;
  h->ran[out->handle] = multiply(h, h->option[out->handle], scratch);
  out->signature[0] = (uint8_t)h->ran[out->handle];
  return BLZ_BUILD_OK;
}

static void drop(void* user, uint64_t handle) { ((host*)user)->option[handle] = 0; }

/* The step's product on the step's vector, without normalising the vector afterwards. */
static int probe(void* user, uint64_t handle, blz_probe_sink* sink) {
  host* h = user;
  float y[kSize];
  h->ran[handle] = multiply(h, h->option[handle], y);
  const blz_tensor tensor = {
      sizeof tensor, "product", BLZ_F32, BLZ_OUTPUT, kSize, y, 0, 0,
  };
  return blz_probe_tensor(sink, &tensor) == BLZ_OK ? 0 : 1;
}

static void signature(void* user, uint64_t handle, uint8_t out[16]) {
  memset(out, 0, 16);
  out[0] = (uint8_t)((host*)user)->ran[handle];
}

static void describe(blz_session* session) {
  static const char* const kOptions[] = {"one_sum", "four_sums"};
  const blz_graph graph = {.struct_size = sizeof graph,
                           .fingerprint = "power-iteration",
                           .regime = BLZ_REGIME_FORWARD,
                           .name = "power_iteration",
                           .nodes = 2};
  const blz_decision decision = {.id = "product",
                                 .name = "product/sums",
                                 .kind = BLZ_CHOICE,
                                 .options = kOptions,
                                 .option_count = 2,
                                 .graph = 1,
                                 .sites = 1,
                                 .reorders_sums = 1};
  const blz_workload workload = {.struct_size = sizeof workload,
                                 .name = "power_iteration",
                                 .graphs = &graph.fingerprint,
                                 .graph_count = 1,
                                 .decisions = &decision,
                                 .decision_bytes = sizeof decision,
                                 .decision_count = 1,
                                 .default_signature = {1}};
  blz_describe_graph(session, &graph);
  blz_describe_workload(session, &workload);
}

int main(int argc, char** argv) {
  const long steps = argc > 1 ? atol(argv[1]) : 20000;
  host* h = calloc(1, sizeof *h);
  if (h == NULL) return 1;
  for (int i = 0; i < kSize * kSize; ++i) h->matrix[i] = (float)((i * 7919L) % 1009) / 1009.0f;
  for (int i = 0; i < kSize; ++i) h->vector[i] = 1.0f;

  const blz_host_ops ops = {.struct_size = sizeof ops,
                            .user = h,
                            .build = build,
                            .drop = drop,
                            .probe = probe,
                            .signature = signature};
  const blz_options options = {.struct_size = sizeof options, .host_name = "minimal_host 1"};
  blz_session* session = NULL;
  blz_attach(&options, &ops, &session);
  describe(session);

  double norm = 0;
  for (long step = 0; step < steps; ++step) {
    float y[kSize];
    const uint64_t handle = blz_step_begin(session);
    h->ran[handle] = multiply(h, h->option[handle], y);
    norm = 0;
    for (int i = 0; i < kSize; ++i) norm += (double)y[i] * y[i];
    norm = sqrt(norm);
    for (int i = 0; i < kSize; ++i) h->vector[i] = (float)(y[i] / norm);
    blz_step_end(session, 0);
  }

  blz_status_info status = {.struct_size = sizeof status};
  blz_status(session, &status);
  printf("largest eigenvalue %.4f after %ld steps; plan %s; %s\n", norm, steps,
         status.champion == 0 ? "default" : "four_sums",
         status.reason[0] != '\0' ? status.reason : "attached");
  blz_close(session);
  free(h);
  return 0;
}
