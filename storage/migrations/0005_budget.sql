-- What exploring took of a job's budget, and what the job was allowed by then. Not known of rows from before.
ALTER TABLE outcome ADD COLUMN budget_spent_ns INTEGER NOT NULL DEFAULT 0 CHECK (budget_spent_ns >= 0);
ALTER TABLE outcome ADD COLUMN budget_allowed_ns INTEGER NOT NULL DEFAULT 0 CHECK (budget_allowed_ns >= 0);
