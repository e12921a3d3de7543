/* libblazed: the shim between a training process (the host) and the blazed daemon of its machine.
 *
 * The host describes what one training step computes and where it could do otherwise (decisions).
 * The shim hands back, for every step, the handle of the plan to run. Until something better has
 * been proven that is handle 0, the host's own default plan, and it stays 0 whenever the daemon is
 * absent, slow, full or hostile.
 *
 * Life of a session, all on one thread of the host (the session's thread):
 *
 *     blz_attach -> blz_describe_graph (1..64) -> blz_describe_workload
 *     -> { have the next batch ready; h = blz_step_begin; run the step by h; blz_step_end } ->
 * blz_close
 *
 * Rules that hold for every call:
 *  - No call ever fails the host: errors are return codes and a sentence in blz_reason. A host may
 * ignore them all.
 *  - Every call accepts a null session: it acts as a session that is off. No C++ exception crosses
 * this interface, in either direction.
 *  - Different sessions may live on different threads. One session belongs to one thread; calls
 * from two threads at once are a bug of the host.
 *  - A forked child finds every session of its parent off and may attach one of its own.
 *  - The shim starts one thread of its own at blz_attach, and only where a daemon took the
 * connection. It blocks all signals in it and ends it in blz_close. Nothing runs at library load or
 * at process exit.
 *  - Structures grow at their end. `struct_size` is set by the caller to sizeof the structure; zero
 * every other field that is not used. Pointers passed in are read during the call only.
 *  - Text is UTF-8 and ends with a zero byte. Durations are in nanoseconds (_ns), sizes in bytes
 * (_bytes).
 */
#ifndef BLAZED_BLAZED_H_
#define BLAZED_BLAZED_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BLZ_API __attribute__((visibility("default")))
#else
#define BLZ_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a call did. Nothing needs to be undone after any of them. */
typedef enum blz_result {
  BLZ_OK = 0,
  BLZ_OFF = 1, /* the session is off or was cut: nothing was done; train on, handle 0 is in use */
  BLZ_INVALID =
      2, /* the arguments break a limit stated here; blz_reason says which; nothing was done */
  BLZ_TIMEOUT = 3,   /* the daemon did not answer in the time given; ask again or train on */
  BLZ_TOO_SMALL = 4, /* the buffer is too small; the needed size was written; call again */
  BLZ_NOT_FOUND = 5  /* the daemon knows no report for this session (yet), or asks for no kernels of
                        this plan */
} blz_result;

/* How strictly a variant's numbers must agree with the default plan's. */
typedef enum blz_contract {
  BLZ_CONTRACT_DEFAULT = 0,   /* read as BLZ_CONTRACT_ROUNDING */
  BLZ_CONTRACT_BITWISE = 1,   /* every tensor bit-equal */
  BLZ_CONTRACT_ROUNDING = 2,  /* what re-ordering sums explains; predictions exactly equal */
  BLZ_CONTRACT_PREDICTION = 3 /* predictions exactly equal, nothing broken */
} blz_contract;

/* What blazed may do to this job. BLAZED_MODE in the environment is one of `off`, `observe`,
 * `tune`, `pinned`, `tune_until:N` (steps) or `tune_until:Ns` (seconds). */
typedef enum blz_mode {
  BLZ_MODE_FROM_ENVIRONMENT = 0, /* BLAZED_MODE; tune where it is unset */
  BLZ_MODE_OFF = 1,     /* no socket, no thread, handle 0 for ever; BLAZED_MODE=off always wins */
  BLZ_MODE_OBSERVE = 2, /* describe, time, forecast; never change */
  BLZ_MODE_TUNE = 3,
  BLZ_MODE_TUNE_UNTIL = 4, /* tune until tune_until_steps or tune_until_ns, then frozen */
  BLZ_MODE_PINNED = 5      /* settled plans only, no trials */
} blz_mode;

typedef enum blz_regime { BLZ_REGIME_TRAINING = 1, BLZ_REGIME_FORWARD = 2 } blz_regime;
typedef enum blz_decision_kind { BLZ_BOUNDARY = 1, BLZ_CHOICE = 2 } blz_decision_kind;

typedef enum blz_dtype {
  BLZ_F32 = 1,
  BLZ_F64 = 2,
  BLZ_F16 = 3,
  BLZ_BF16 = 4,
  BLZ_I32 = 5,
  BLZ_I64 = 6
} blz_dtype;

typedef enum blz_role {
  BLZ_OUTPUT = 1,
  BLZ_GRADIENT = 2,
  BLZ_PREDICTION = 3, /* scores (the largest of each row is the prediction) or, for integers,
                         predictions themselves */
  BLZ_LOSS = 4
} blz_role;

/* Why a step is no fair sample; bits, given to blz_step_end. */
enum {
  BLZ_STEP_CHECKPOINT = 1,
  BLZ_STEP_EVALUATION = 2,
  BLZ_STEP_PROFILER = 4,
  BLZ_STEP_RECOMPILE = 8,
  BLZ_STEP_CLOCK_EVENT = 16,
  BLZ_STEP_NEIGHBOUR = 64 /* another process used the device */
};

typedef struct blz_session
    blz_session; /* opaque; owned by the caller of blz_attach until blz_close */
typedef struct blz_probe_sink blz_probe_sink; /* opaque; lives during one probe callback only */

/* One tensor of a check computation, in host memory, dense, valid during blz_probe_tensor. */
typedef struct blz_tensor {
  size_t struct_size;
  const char*
      name; /* 1..96 bytes; the same tensors in the same order in every probe of a session */
  blz_dtype dtype;
  blz_role role;
  uint64_t count; /* elements */
  const void* data;
  uint64_t row;         /* BLZ_PREDICTION of a float type: row length for the arg-max; 0: one row */
  double unit_roundoff; /* of the default plan's arithmetic behind these values, where it is coarser
                           than their type: 2^-11 for products in TF32, 2^-8 for bf16; at most
                           2^-8. 0: the type's own */
} blz_tensor;

/* A non-default option. Lists are sorted by decision. */
typedef struct blz_choice {
  uint32_t decision; /* 0-based index into blz_workload.decisions */
  uint32_t option;   /* 1..options-1 */
} blz_choice;

/* What the host hands back from a build. */
typedef struct blz_built {
  size_t struct_size; /* set by the shim */
  uint64_t handle;    /* the host's name for the plan, not 0; no other live handle may be equal */
  uint8_t signature[16]; /* digest of what really ran in one run under this plan (the host runs it
                            once on scratch data). All zero: not known yet; the shim then runs the
                            probe once and asks `signature`. */
  uint64_t build_ns;     /* 0: the shim's own clock around the callback is used */
  uint64_t peak_bytes;   /* peak memory of a step under this plan; 0: not known, not judged */
  char message[256];     /* one sentence, where the build failed */
} blz_built;

enum {
  BLZ_BUILD_OK = 0,
  BLZ_BUILD_FAILED = 1, /* any other non-zero value reads as this */
  BLZ_BUILD_MEMORY = 2  /* did not fit */
};

/* Which numbers of a blz_kernel or a blz_step_kernels are known; what is not is read as absent. */
enum {
  BLZ_KERNEL_LAUNCHES = 1,
  BLZ_KERNEL_TIME = 2,
  BLZ_KERNEL_BYTES = 4, /* read_bytes and written_bytes */
  BLZ_KERNEL_REGISTERS = 8,
  BLZ_KERNEL_SPILLS = 16,
  BLZ_KERNEL_SHARED = 32
};
enum {
  BLZ_TOTAL_STEP = 1,
  BLZ_TOTAL_BUSY = 2,
  BLZ_TOTAL_KERNEL_LAUNCHES = 4,
  BLZ_TOTAL_HOST_LAUNCHES = 8
};

/* A kernel of one step, or on a CPU an operation: all its launches under one name together. */
typedef struct blz_kernel {
  const char* name;       /* 1 byte at least; what is beyond 256 is cut */
  uint32_t known;         /* BLZ_KERNEL_ bits */
  uint32_t registers;     /* of a thread; of several kernels of one name the most, as below */
  uint32_t spill_bytes;   /* of a thread, to memory */
  uint32_t shared_bytes;  /* of a block */
  uint64_t launches;      /* in the step, below 2^32 */
  uint64_t time_ns;       /* while it ran, at most an hour */
  uint64_t read_bytes;    /* as the host reckons from shapes, at most 2^50 */
  uint64_t written_bytes; /* the same */
} blz_kernel;

/* What one step ran: as a profiler saw it, or as far as it is known without one. */
typedef struct blz_step_kernels {
  size_t struct_size;
  uint32_t known;           /* BLZ_TOTAL_ bits */
  uint64_t step_ns;         /* of the step that was looked at, which that makes longer */
  uint64_t busy_ns;         /* of it, while at least one kernel ran */
  uint64_t kernel_launches; /* below 2^32 */
  uint64_t host_launches;   /* calls that launched them; a recording of many kernels is one */
  const blz_kernel* kernels;
  size_t kernel_bytes; /* sizeof(blz_kernel): the stride */
  size_t kernel_count; /* 0..512, each name once */
} blz_step_kernels;

/* What the shim asks of the host. Every callback runs on the session's thread, only inside
 * blz_step_begin, blz_step_end or blz_close, must not throw, and must call no blz_ function other
 * than blz_probe_tensor. Required: build, drop, probe, signature. Without
 * one of them the session only observes. */
typedef struct blz_host_ops {
  size_t struct_size;
  void* user; /* first argument of every callback; must outlive the session */

  /* Builds the plan given by `count` choices and keeps it until drop. Fills `out`. Returns
   * BLZ_BUILD_*. */
  int (*build)(void* user, const blz_choice* choices, size_t count, blz_built* out);

  /* Forgets a built handle; it is never asked for again. Never called with 0. */
  void (*drop)(void* user, uint64_t handle);

  /* Runs the check computation (outputs, gradients, predictions, loss) of `handle` (0: the default
   * plan) on the batch that the coming step will train on, undoes every side effect (parameters,
   * optimiser state, random state), and gives each tensor to blz_probe_tensor. Within one
   * blz_step_begin all probes must see the same batch and the same state. Returns 0, or non-zero
   * where the run faulted: the variant is then rejected as broken. */
  int (*probe)(void* user, uint64_t handle, blz_probe_sink* sink);

  /* Writes the signature of the latest run of `handle`: from the record of what ran, never from
   * what was asked. A probe and a step under one plan must give one signature (leave out of it what
   * only one of them runs); a variant whose signature changes is unproven again. Must be cheap, a
   * stored digest: it is asked after every probe, unit and service window. */
  void (*signature)(void* user, uint64_t handle, uint8_t out[16]);

  /* Optional. Waits until the host's queue is empty, by one event. Null: the host waits in every
   * step anyway. With it plans are compared in units of several steps, unless steps_in_flight says
   * that nothing is ever in flight. */
  void (*drain)(void* user);

  /* Optional. The device's clock in ns at a drained point. Null: units carry host time only. */
  uint64_t (*device_clock_ns)(void* user);

  /* Optional, beside `drain`. How many of the steps that blz_step_end has ended the device has
   * still to end: their end events are asked, nothing is waited for. Asked while exploring alone,
   * at the begin of some steps. Null: the host cannot tell, and counts as one that runs ahead. */
  uint32_t (*steps_in_flight)(void* user);

  /* Optional. Runs the default plan's check computation in finer arithmetic than the plan's own, on
   * the same batch and from the same random state, undoes every side effect, and gives the same
   * tensors in the same types and order. How far the default is from it is the default's own error,
   * by which the contract `rounding` judges variants; null: it is judged by how far the default is
   * from itself, run again, and by the types. Asked once at the first probed batch and seldom
   * later; may be slow. Returns 0, or non-zero where there is none now, such as for want of memory:
   * that is no fault. */
  int (*reference)(void* user, blz_probe_sink* sink);

  /* Optional. BLZ_STEP_ bits of what only the host's runtime knows to have happened since the
   * latest call, such as an allocator that had to begin anew: asked at the drained points around
   * the timed steps of a unit, so that it may take longer than a step could bear. The first answer
   * of a unit is dropped, the second marks it like a flag of blz_step_end. */
  uint32_t (*unit_flags)(void* user);

  /* Optional. What does a step run under `handle`, a settled plan in use, and what under the
   * default plan? Nobody knows yet; `blazectl explain` would show it. The host tells at leisure,
   * between steps, by blz_give_kernels, and once; or never. To look it may run one step under the
   * default plan where blz_step_begin named `handle`, and take a profiler to that one and to one of
   * `handle`: where blz_status says that in_unit is 0, and both flagged BLZ_STEP_PROFILER. Asking
   * again is harmless. */
  void (*want_kernels)(void* user, uint64_t handle);
} blz_host_ops;

typedef enum blz_log_level { BLZ_LOG_INFO = 1, BLZ_LOG_WARNING = 2 } blz_log_level;

typedef struct blz_label {
  const char* key;   /* 1..48 bytes */
  const char* value; /* at most 160 bytes */
} blz_label;

typedef struct blz_options {
  size_t struct_size;
  const char* socket; /* path or unix: URI, at most 107 bytes of path. Null: BLAZED_SOCKET,
                         /run/blazed/blazed.sock, $XDG_RUNTIME_DIR/blazed/blazed.sock, the first
                         that exists */
  blz_mode mode;
  blz_contract contract;
  uint64_t tune_until_steps; /* with BLZ_MODE_TUNE_UNTIL; 0: no limit by steps */
  uint64_t tune_until_ns;    /* 0: no limit by time since attach */
  const char* job;           /* at most 96 bytes; null: the daemon makes one */
  uint32_t rank;
  uint32_t world_size;          /* above 1 the session only observes */
  const char* host_name;        /* "blaze-train 0.1.0"; at most 96 bytes */
  const char* device;           /* "cpu" (null reads so) or a GPU's UUID */
  const blz_label* environment; /* what a measurement is valid for; at most 32 */
  size_t environment_count;
  uint64_t extra_memory_bytes; /* peak memory a variant may use above the default's */
  uint32_t probe_batches;      /* live batches a variant must pass; 3 and what the daemon asks for
                                  always apply. Each further one costs a probe a variant */
  uint64_t
      point_budget_ns; /* builds and probes begun in one blz_step_begin stop after this; 0: 200 ms.
                          One build or probe is never split, so a single one may take longer */
  uint64_t total_budget_ns; /* builds and probes of the whole session; 0: no limit. In any case what
                               goes beyond a minute waits while it is above a quarter of the time
                               since attach */
  uint64_t probe_memory_bytes; /* copy of the default's tensors during a probe; 0: 1 GiB. Above it:
                                  inconclusive */
  uint32_t
      attach_timeout_ms; /* longest wait for the daemon's answer in blz_attach; 0: 45; at most 45 */
  void (*log)(void* user, blz_log_level level,
              const char* sentence); /* on the session's thread; null: silent */
  void* log_user;
} blz_options;

typedef struct blz_graph {
  size_t struct_size;
  uint8_t fingerprint[16]; /* structural, stable across processes */
  blz_regime regime;
  const char* name; /* at most 96 bytes */
  uint32_t nodes;
  const char* description; /* for people, at most 4096 bytes; may be null */
} blz_graph;

typedef struct blz_decision {
  uint8_t id[16];   /* stable across processes; equal ids are one class */
  const char* name; /* 1..96 bytes of printable ASCII: "layer.attention/forward" */
  blz_decision_kind kind;
  const char* const* options; /* names, 1..96 bytes of printable ASCII; index 0 is the host's own */
  uint32_t option_count;      /* 2..16 */
  uint32_t graph;         /* 1-based index into blz_workload.graphs; 0: belongs to the whole step */
  uint32_t sites;         /* 1..65535 places of the graph that follow this decision */
  uint32_t reorders_sums; /* 1: some option changes the order of sums, so bits may differ */
  const uint64_t* build_ns; /* option_count guesses: what building a plan takes that has this option
                               and is the default else; 0: as long as other plans. Null: no guess */
} blz_decision;

typedef struct blz_workload {
  size_t struct_size;
  const char* name;            /* at most 96 bytes */
  const uint8_t (*graphs)[16]; /* fingerprints already given to blz_describe_graph, in step order */
  size_t graph_count;          /* 1..64 */
  const blz_decision* decisions;
  size_t decision_bytes; /* sizeof(blz_decision): the stride. Shorter where build_ns is not there
                            yet */
  size_t decision_count; /* 1..512 */
  uint8_t default_signature[16]; /* of one run under the default plan; not all zero */
  uint64_t default_peak_bytes;   /* 0: not known, then no variant is judged by memory */
  uint64_t default_step_ns;      /* median of the steps seen so far; 0: none */
  uint64_t default_build_ns;
} blz_workload;

typedef enum blz_state {
  BLZ_STATE_OFF = 0,       /* for good; blz_reason says why */
  BLZ_STATE_ATTACHING = 1, /* connected or trying, no answer yet; the default runs */
  BLZ_STATE_ATTACHED = 2,
  BLZ_STATE_RECONNECTING = 3, /* the daemon went away; the champion keeps running */
  BLZ_STATE_CLOSED = 4
} blz_state;

typedef enum blz_phase {
  BLZ_PHASE_NONE = 0,
  BLZ_PHASE_WAITING = 1,
  BLZ_PHASE_FORECAST = 2,
  BLZ_PHASE_SEARCH = 3,
  BLZ_PHASE_VERIFY = 4,
  BLZ_PHASE_REPLICATE = 5,
  BLZ_PHASE_SETTLED = 6,
  BLZ_PHASE_STANDING = 7,
  BLZ_PHASE_SERVED = 8
} blz_phase;

typedef enum blz_settlement {
  BLZ_SETTLEMENT_NONE = 0,
  BLZ_SETTLEMENT_IN_JOB = 1,
  BLZ_SETTLEMENT_REPLICATED = 2,
  BLZ_SETTLEMENT_NO_WINNER = 3
} blz_settlement;

/* A snapshot. Pointers are owned by the session and valid until the next blz_ call on it. */
typedef struct blz_status_info {
  size_t struct_size; /* set by the caller; fields beyond it are not written */
  blz_state state;
  blz_mode mode;      /* granted: BLZ_MODE_OFF, _OBSERVE, _TUNE, _TUNE_UNTIL or _PINNED */
  blz_phase phase;    /* as the daemon last said */
  const char* reason; /* one sentence: why off, why less than asked, what was last refused; empty
                         where all is well */
  uint8_t session_token[16]; /* all zero before the daemon answered */
  uint8_t workload[16];      /* fingerprint; all zero before blz_describe_workload */
  uint64_t daemon_epoch;
  uint64_t steps; /* blz_step_begin calls */

  uint32_t champion; /* variant in use outside units; 0: the default plan */
  uint64_t champion_handle;
  const blz_choice* champion_choices;
  size_t champion_choice_count;
  uint8_t champion_signature[16];
  uint32_t settled; /* 1: nothing further is explored */
  blz_settlement settlement;
  uint64_t settlement_id;
  uint32_t adopt_reason; /* AdoptReason of reason.proto; 0: no adoption is in force */
  uint32_t stand_reason; /* StandReason of reason.proto while standing; 0: not standing */

  /* The daemon's latest Progress; zero before the first. */
  uint32_t candidates;
  uint32_t dropped;
  uint32_t builds;
  uint32_t races;
  uint64_t search_pairs;
  uint64_t replication_pairs;
  uint64_t window_ns;
  uint64_t regret_ns;
  double gain; /* 0.031: 3.1 % less time a step than the default */
  const char* note;

  /* The forecast; forecast_builds and all others zero before it was made. */
  uint64_t forecast_window_ns;
  uint32_t forecast_builds;
  uint64_t forecast_regret_ns;
  double forecast_resolvable;
  const char* forecast_based_on;

  /* Counted here. */
  uint32_t variants;       /* live, the default not counted */
  uint32_t variants_built; /* build callbacks that succeeded */
  uint32_t probes;         /* check computations run, the default's and references included */
  uint32_t rejected;       /* variants that failed a probe */
  uint32_t refused;        /* directives not followed */
  uint32_t lost_messages;  /* dropped because a queue was full */
  uint32_t reconnects;
  uint64_t build_ns;
  uint64_t probe_ns;
  uint64_t drain_ns;
  uint64_t units;

  uint32_t in_unit; /* 1: what runs is timed, or is about to be */
} blz_status_info;

/* "0.1.0". Any thread. */
BLZ_API const char* blz_version(void);

/* Opens a session, in at most 50 ms, whatever the daemon does. `*session` is always set: to a
 * session that may be off (no daemon, foreign owner of the socket, mode off, bad options;
 * blz_reason says which), or to null where memory ran out. The calling thread becomes the session's
 * thread. `options` may be null (all defaults); `ops` may be null (the session then only observes).
 * BLZ_OK: attached or attaching. BLZ_OFF and BLZ_INVALID: a session that is off; the host need not
 * look. The caller owns the session and ends it by blz_close. */
BLZ_API blz_result blz_attach(const blz_options* options, const blz_host_ops* ops,
                              blz_session** session);

/* Names one tensor program of the step. Before blz_describe_workload; a repeat of a fingerprint is
 * harmless. At most 64. BLZ_INVALID: a limit above was broken. */
BLZ_API blz_result blz_describe_graph(blz_session* session, const blz_graph* graph);

/* Names what is tuned: graphs in step order and decisions. Once a session. Its fingerprint is
 * computed here, XXH3-128 over the graphs' fingerprints and every decision's id, kind, options,
 * graph and sites. BLZ_INVALID: a limit was broken or a graph was not described; the session then
 * only observes. */
BLZ_API blz_result blz_describe_workload(blz_session* session, const blz_workload* workload);

/* The handle to run this step: 0 is the host's default plan, others came from `build`. Call it when
 * the step's batch is ready. Between steps this may run builds and probes (see point_budget_ns).
 * Settled or off: one relaxed atomic load and a counter. Never waits for the daemon. */
BLZ_API uint64_t blz_step_begin(blz_session* session);

/* Ends the step that the latest blz_step_begin opened. `flags`: BLZ_STEP_ bits, 0 for a fair step.
 * At the end of a unit it drains the host's queue. A step begun and not ended is not counted. */
BLZ_API void blz_step_end(blz_session* session, uint32_t flags);

/* Steps that need no call, for a host to whom two calls a step are dear, such as one in Python. */
typedef struct blz_quiet {
  size_t struct_size;            /* set by the caller */
  const volatile uint32_t* word; /* lives until blz_close */
  uint32_t value;                /* what *word reads as long as nothing is asked of the host */
  uint32_t steps;                /* how many of the coming steps; 0: the next one needs its calls */
  uint64_t handle;               /* that they run */
} blz_quiet;

/* Between steps. The next `steps` steps may run `handle` without blz_step_begin and blz_step_end,
 * as long as *word reads `value` at the begin of each; the host tells how many did by
 * blz_pass_steps, before its next blz_step_begin. What would flag such a step means nothing.
 * BLZ_OFF: the session is off; `out` is not filled. BLZ_INVALID: `out` is null or too small. */
BLZ_API blz_result blz_quiet_steps(const blz_session* session, blz_quiet* out);

/* Counts steps that ran without calls. */
BLZ_API void blz_pass_steps(blz_session* session, uint32_t steps);

/* Called by the host inside its probe callback, on the session's thread, once per tensor. Reads
 * `tensor` before it returns. BLZ_INVALID: the tensor is malformed or differs in name, type or
 * count from the default's; the probe is then inconclusive. */
BLZ_API blz_result blz_probe_tensor(blz_probe_sink* sink, const blz_tensor* tensor);

/* The answer to want_kernels: what a step runs under the default plan, and under `handle`. Called
 * between steps, on the session's thread; reads both before it returns and never waits.
 * BLZ_NOT_FOUND: nobody asks for this plan any more. BLZ_INVALID: a limit above was broken; the
 * answer may be given again. */
BLZ_API blz_result blz_give_kernels(blz_session* session, uint64_t handle,
                                    const blz_step_kernels* before, const blz_step_kernels* after);

/* Fills `out` up to out->struct_size. No I/O. */
BLZ_API void blz_status(blz_session* session, blz_status_info* out);

/* One sentence, never null, "" where all is well. Owned by the session, valid until the next blz_
 * call on it. */
BLZ_API const char* blz_reason(blz_session* session);

/* Fetches the daemon's report of this session, one JSON object (docs/report.md), waiting at most
 * `timeout_ms`, two seconds where the daemon went away and not at all where none was met. Writes it
 * with a closing zero byte to `buffer` and its length without that byte to
 * `*length`. BLZ_TOO_SMALL: `*length` is what is needed, one byte more for the zero. BLZ_TIMEOUT,
 * BLZ_NOT_FOUND, BLZ_OFF: nothing was written. Not for the hot path; before blz_close. */
BLZ_API blz_result blz_report_json(blz_session* session, uint32_t timeout_ms, char* buffer,
                                   size_t capacity, size_t* length);

/* Says goodbye (at most 150 ms), ends the shim's thread, drops every built handle, frees the
 * session. Null is allowed. In a forked child it only forgets the parent's session. */
BLZ_API void blz_close(blz_session* session);

#ifdef __cplusplus
}
#endif
#endif /* BLAZED_BLAZED_H_ */
