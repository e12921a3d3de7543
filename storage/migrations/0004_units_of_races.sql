-- The units that a race's pairs were made of: steps that were run and not counted, and steps that were timed. Of rows
-- from before 0 and 0; those were single steps.
ALTER TABLE race ADD COLUMN warm_steps INTEGER NOT NULL DEFAULT 0 CHECK (warm_steps >= 0);
ALTER TABLE race ADD COLUMN timed_steps INTEGER NOT NULL DEFAULT 0 CHECK (timed_steps >= 0);
