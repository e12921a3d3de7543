-- Everything one daemon learned. Digests are 16 bytes; durations end in _ns; wall times are labels in ns since the
-- epoch, order comes from ids. `checksum` is xxh3 over the store's number, the row's id and its canonical bytes; it is
-- verified on every read. Parents' checksums cover their child tables (fields, decisions, options, positions).
-- Session columns of evidence carry no foreign key: evidence outlives the sessions that retention removes.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE environment (
  id          INTEGER PRIMARY KEY,
  fingerprint BLOB NOT NULL UNIQUE CHECK (length(fingerprint) = 16),
  checksum    INTEGER NOT NULL
) STRICT;

CREATE TABLE environment_field (
  environment INTEGER NOT NULL REFERENCES environment (id) ON DELETE CASCADE,
  key         TEXT NOT NULL,
  value       TEXT NOT NULL,
  PRIMARY KEY (environment, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE graph (
  id            INTEGER PRIMARY KEY,
  fingerprint   BLOB NOT NULL UNIQUE CHECK (length(fingerprint) = 16),
  name          TEXT NOT NULL,
  regime        INTEGER NOT NULL CHECK (regime IN (1, 2)),
  nodes         INTEGER NOT NULL CHECK (nodes >= 0),
  description   TEXT NOT NULL,
  first_seen_ns INTEGER NOT NULL,
  checksum      INTEGER NOT NULL
) STRICT;

CREATE TABLE workload (
  id            INTEGER PRIMARY KEY,
  fingerprint   BLOB NOT NULL UNIQUE CHECK (length(fingerprint) = 16),
  name          TEXT NOT NULL,
  first_seen_ns INTEGER NOT NULL,
  last_seen_ns  INTEGER NOT NULL,
  checksum      INTEGER NOT NULL
) STRICT;

-- The graphs of a step, in order; one graph may appear more than once.
CREATE TABLE workload_graph (
  workload INTEGER NOT NULL REFERENCES workload (id) ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position >= 0),
  graph    BLOB NOT NULL REFERENCES graph (fingerprint),
  PRIMARY KEY (workload, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX workload_graph_by_graph ON workload_graph (graph);

CREATE TABLE decision (
  workload      INTEGER NOT NULL REFERENCES workload (id) ON DELETE CASCADE,
  position      INTEGER NOT NULL CHECK (position >= 0),
  digest        BLOB NOT NULL CHECK (length(digest) = 16),
  name          TEXT NOT NULL,
  kind          INTEGER NOT NULL CHECK (kind IN (0, 1)),
  graph         INTEGER NOT NULL CHECK (graph >= 0),
  sites         INTEGER NOT NULL CHECK (sites >= 0),
  reorders_sums INTEGER NOT NULL CHECK (reorders_sums IN (0, 1)),
  PRIMARY KEY (workload, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE decision_option (
  workload INTEGER NOT NULL,
  decision INTEGER NOT NULL,
  position INTEGER NOT NULL CHECK (position >= 0),
  name     TEXT NOT NULL,
  PRIMARY KEY (workload, decision, position),
  FOREIGN KEY (workload, decision) REFERENCES decision (workload, position) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The key that evidence and settlements never cross.
CREATE TABLE tuning (
  id          INTEGER PRIMARY KEY,
  workload    BLOB NOT NULL REFERENCES workload (fingerprint),
  environment BLOB NOT NULL REFERENCES environment (fingerprint),
  contract    INTEGER NOT NULL CHECK (contract BETWEEN 0 AND 2),
  uid         INTEGER NOT NULL CHECK (uid BETWEEN 0 AND 4294967295),
  principal   TEXT NOT NULL,
  checksum    INTEGER NOT NULL,
  UNIQUE (workload, environment, contract, uid, principal)
) STRICT;
CREATE INDEX tuning_by_uid ON tuning (uid, workload);
CREATE INDEX tuning_by_environment ON tuning (environment);

CREATE TABLE session (
  id          INTEGER PRIMARY KEY,
  tuning      INTEGER REFERENCES tuning (id),
  uid         INTEGER NOT NULL CHECK (uid BETWEEN 0 AND 4294967295),
  pid         INTEGER NOT NULL,
  process     TEXT NOT NULL,
  job         TEXT NOT NULL,
  host_name   TEXT NOT NULL,
  device      TEXT NOT NULL,
  mode        INTEGER NOT NULL CHECK (mode BETWEEN 0 AND 2),
  attached_ns INTEGER NOT NULL,
  gone_ns     INTEGER NOT NULL,
  gone_reason TEXT NOT NULL,
  checksum    INTEGER NOT NULL
) STRICT;
CREATE INDEX session_by_tuning ON session (tuning);

-- A plan is written "decision:option,decision:option", sorted; empty is the default plan.
-- The comparison's real columns are NULL where the number is no number; `equivalence` is NULL without a comparison.
CREATE TABLE plan (
  id         INTEGER PRIMARY KEY,
  tuning     INTEGER NOT NULL REFERENCES tuning (id),
  plan       TEXT NOT NULL CHECK (plan NOT GLOB '*[^0-9:,]*'),
  signature  BLOB NOT NULL CHECK (length(signature) = 16),
  verdict    INTEGER NOT NULL CHECK (verdict BETWEEN 0 AND 13),
  reason     TEXT NOT NULL,
  pairs      INTEGER NOT NULL CHECK (pairs >= 0),
  build_ns   INTEGER NOT NULL CHECK (build_ns >= 0),
  peak_bytes INTEGER NOT NULL CHECK (peak_bytes >= 0),
  updated_ns INTEGER NOT NULL,
  equivalence INTEGER CHECK (equivalence BETWEEN 0 AND 5),
  elements INTEGER, mismatches INTEGER, max_abs REAL, max_rel REAL, max_ulp INTEGER,
  nan_default INTEGER, nan_variant INTEGER, inf_default INTEGER, inf_variant INTEGER,
  prediction_disagreements INTEGER, own_max_rel REAL, allowed_max_rel REAL, worst_tensor TEXT,
  digest_default BLOB, digest_variant BLOB,
  checksum   INTEGER NOT NULL,
  UNIQUE (tuning, plan)
) STRICT;

CREATE TABLE variant (
  id         INTEGER PRIMARY KEY,
  tuning     INTEGER NOT NULL REFERENCES tuning (id),
  session    INTEGER NOT NULL,
  variant    INTEGER NOT NULL CHECK (variant >= 0),
  plan       TEXT NOT NULL CHECK (plan NOT GLOB '*[^0-9:,]*'),
  signature  BLOB NOT NULL CHECK (length(signature) = 16),
  build_ns   INTEGER NOT NULL CHECK (build_ns >= 0),
  peak_bytes INTEGER NOT NULL CHECK (peak_bytes >= 0),
  failure    TEXT NOT NULL,
  checksum   INTEGER NOT NULL,
  UNIQUE (session, variant)
) STRICT;
CREATE INDEX variant_by_tuning ON variant (tuning);

CREATE TABLE probe (
  id       INTEGER PRIMARY KEY,
  tuning   INTEGER NOT NULL REFERENCES tuning (id),
  session  INTEGER NOT NULL,
  plan     TEXT NOT NULL CHECK (plan NOT GLOB '*[^0-9:,]*'),
  probe_ns INTEGER NOT NULL CHECK (probe_ns >= 0),
  equivalence INTEGER NOT NULL CHECK (equivalence BETWEEN 0 AND 5),
  elements INTEGER, mismatches INTEGER, max_abs REAL, max_rel REAL, max_ulp INTEGER,
  nan_default INTEGER, nan_variant INTEGER, inf_default INTEGER, inf_variant INTEGER,
  prediction_disagreements INTEGER, own_max_rel REAL, allowed_max_rel REAL, worst_tensor TEXT,
  digest_default BLOB, digest_variant BLOB,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX probe_by_tuning ON probe (tuning);

-- `effect_*` are log(champion / challenger). opened_at_ns and closed_at_ns are the planner's monotonic clock.
CREATE TABLE race (
  id           INTEGER PRIMARY KEY,
  tuning       INTEGER NOT NULL REFERENCES tuning (id),
  race         INTEGER NOT NULL CHECK (race >= 0),
  kind         INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 4),
  session      INTEGER NOT NULL,
  champion     TEXT NOT NULL CHECK (champion NOT GLOB '*[^0-9:,]*'),
  challenger   TEXT NOT NULL CHECK (challenger NOT GLOB '*[^0-9:,]*'),
  outcome      INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 2),
  reason       TEXT NOT NULL,
  alpha        REAL NOT NULL,
  beta         REAL NOT NULL,
  delta0       REAL NOT NULL,
  delta1       REAL NOT NULL,
  log_e_accept REAL,
  log_e_drop   REAL,
  effect_estimate REAL,
  effect_low   REAL,
  effect_high  REAL,
  opened_at_ns INTEGER NOT NULL,
  closed_at_ns INTEGER NOT NULL,
  pair_count   INTEGER NOT NULL CHECK (pair_count >= 0),
  champion_p10_ns REAL, champion_p50_ns REAL, champion_p90_ns REAL,
  challenger_p10_ns REAL, challenger_p50_ns REAL, challenger_p90_ns REAL,
  started_ns   INTEGER NOT NULL,
  ended_ns     INTEGER NOT NULL,
  checksum     INTEGER NOT NULL,
  UNIQUE (tuning, race)
) STRICT;

-- Raw pairs of a race, packed as storage/pair_codec.h says; `format` is the packing's version.
CREATE TABLE race_pair (
  race     INTEGER PRIMARY KEY REFERENCES race (id) ON DELETE CASCADE,
  format   INTEGER NOT NULL CHECK (format >= 1),
  pairs    BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;

CREATE TABLE forecast (
  session    INTEGER PRIMARY KEY,
  tuning     INTEGER NOT NULL REFERENCES tuning (id),
  window_ns  INTEGER NOT NULL,
  builds     INTEGER NOT NULL CHECK (builds >= 0),
  regret_ns  INTEGER NOT NULL,
  resolvable REAL,
  based_on   TEXT NOT NULL,
  checksum   INTEGER NOT NULL
) STRICT;
CREATE INDEX forecast_by_tuning ON forecast (tuning);

CREATE TABLE settlement (
  id                 INTEGER PRIMARY KEY,
  tuning             INTEGER NOT NULL REFERENCES tuning (id),
  kind               INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
  contract           INTEGER NOT NULL CHECK (contract BETWEEN 0 AND 2),
  plan               TEXT NOT NULL CHECK (plan NOT GLOB '*[^0-9:,]*'),
  champion_signature BLOB NOT NULL CHECK (length(champion_signature) = 16),
  default_signature  BLOB NOT NULL CHECK (length(default_signature) = 16),
  default_step_ns    REAL NOT NULL,
  settled_step_ns    REAL NOT NULL,
  gain_estimate      REAL NOT NULL,
  gain_low           REAL NOT NULL,
  gain_high          REAL NOT NULL,
  window_ns          INTEGER NOT NULL,
  regret_ns          INTEGER NOT NULL,
  build_ns           INTEGER NOT NULL,
  probe_ns           INTEGER NOT NULL,
  drain_ns           INTEGER NOT NULL,
  builds             INTEGER NOT NULL CHECK (builds >= 0),
  probes             INTEGER NOT NULL CHECK (probes >= 0),
  races              INTEGER NOT NULL CHECK (races >= 0),
  search_pairs       INTEGER NOT NULL CHECK (search_pairs >= 0),
  replication_pairs  INTEGER NOT NULL CHECK (replication_pairs >= 0),
  forecast_window_ns INTEGER NOT NULL,
  forecast_builds    INTEGER NOT NULL CHECK (forecast_builds >= 0),
  forecast_regret_ns INTEGER NOT NULL,
  forecast_resolvable REAL,
  forecast_based_on  TEXT NOT NULL,
  break_even_steps   REAL,
  session            INTEGER NOT NULL,
  state              INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),
  state_reason       TEXT NOT NULL,
  settled_ns         INTEGER NOT NULL,
  checksum           INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX settlement_in_force ON settlement (tuning) WHERE state = 0;
CREATE INDEX settlement_by_tuning ON settlement (tuning);

CREATE TABLE drift_timer (
  settlement INTEGER PRIMARY KEY REFERENCES settlement (id) ON DELETE CASCADE,
  tuning     INTEGER NOT NULL REFERENCES tuning (id),
  gap_steps  INTEGER NOT NULL CHECK (gap_steps >= 0),
  steps_left INTEGER NOT NULL CHECK (steps_left >= 0),
  checksum   INTEGER NOT NULL
) STRICT;
CREATE INDEX drift_timer_by_tuning ON drift_timer (tuning);

CREATE TABLE surrogate (
  tuning   INTEGER PRIMARY KEY REFERENCES tuning (id),
  state    BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;

CREATE TABLE outcome (
  session    INTEGER PRIMARY KEY,
  tuning     INTEGER NOT NULL REFERENCES tuning (id),
  outcome    INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 3),
  settlement INTEGER NOT NULL CHECK (settlement >= 0),
  window_ns  INTEGER NOT NULL,
  regret_ns  INTEGER NOT NULL,
  build_ns   INTEGER NOT NULL,
  probe_ns   INTEGER NOT NULL,
  drain_ns   INTEGER NOT NULL,
  builds     INTEGER NOT NULL CHECK (builds >= 0),
  probes     INTEGER NOT NULL CHECK (probes >= 0),
  races      INTEGER NOT NULL CHECK (races >= 0),
  search_pairs      INTEGER NOT NULL CHECK (search_pairs >= 0),
  replication_pairs INTEGER NOT NULL CHECK (replication_pairs >= 0),
  reason     TEXT NOT NULL,
  at_ns      INTEGER NOT NULL,
  checksum   INTEGER NOT NULL
) STRICT;
CREATE INDEX outcome_by_tuning ON outcome (tuning);

-- Ids only grow, also after retention removed the newest row: a watcher's place stays valid.
CREATE TABLE event (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  tuning   INTEGER REFERENCES tuning (id),
  session  INTEGER NOT NULL,
  wall_ns  INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  payload  BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX event_by_tuning ON event (tuning, id);
