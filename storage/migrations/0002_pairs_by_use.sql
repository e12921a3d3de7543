-- What the pairs of a job were for: those of the plan in use against itself, and those that a lease still ran behind
-- its race's verdict. Not known of rows from before.
ALTER TABLE settlement ADD COLUMN noise_pairs INTEGER NOT NULL DEFAULT 0 CHECK (noise_pairs >= 0);
ALTER TABLE settlement ADD COLUMN late_pairs INTEGER NOT NULL DEFAULT 0 CHECK (late_pairs >= 0);
ALTER TABLE outcome ADD COLUMN noise_pairs INTEGER NOT NULL DEFAULT 0 CHECK (noise_pairs >= 0);
ALTER TABLE outcome ADD COLUMN late_pairs INTEGER NOT NULL DEFAULT 0 CHECK (late_pairs >= 0);
