-- Whether one plan's step was seen to depend on the step before it, so that drift checks need a warm step.
ALTER TABLE settlement ADD COLUMN carry INTEGER NOT NULL DEFAULT 0 CHECK (carry IN (0, 1));
