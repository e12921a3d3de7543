-- What a step ran under the default plan and under another one, in one session: one row a plan, the newest counts.
-- Both sides are packed as storage/kernel_codec.h says; `format` is the packing's version.
CREATE TABLE plan_kernels (
  id       INTEGER PRIMARY KEY,
  tuning   INTEGER NOT NULL REFERENCES tuning (id),
  plan     TEXT NOT NULL CHECK (plan NOT GLOB '*[^0-9:,]*'),
  session  INTEGER NOT NULL,
  seen_ns  INTEGER NOT NULL,
  format   INTEGER NOT NULL CHECK (format >= 1),
  under_default BLOB NOT NULL,
  under_plan    BLOB NOT NULL,
  checksum INTEGER NOT NULL,
  UNIQUE (tuning, plan)
) STRICT;
