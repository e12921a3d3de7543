#pragma once

namespace blazed::trainer {

// From here on SIGINT, SIGTERM and SIGHUP only ask for an end; the second one ends the process at
// once, cursor shown. SIGPIPE is ignored: a closed reader must not cost the report. Call once, at
// the start of main, on the main thread.
void InstallSignals();

// The signal that asked for an end, 0 while none did. Cheap: once a step.
int EndAsked();

}  // namespace blazed::trainer
