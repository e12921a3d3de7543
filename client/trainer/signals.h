#pragma once

namespace blazed::trainer {

// From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT only ask for an end; the second one ends the
// process at once, cursor shown. Ignores the write signals as well. Call once, at the start of
// main, on the main thread.
void InstallSignals();

// A closed reader must not cost the report (SIGPIPE), and a file that may grow no further is an
// error of the write and not the end of the process (SIGXFSZ).
void IgnoreWriteSignals();

// The signal that asked for an end, 0 while none did. Cheap: once a step.
int EndAsked();

}  // namespace blazed::trainer
