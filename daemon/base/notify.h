// Tells the service manager how the daemon is (sd_notify(3)); does nothing where there is none.
#pragma once

#include <string_view>

namespace blazed {

// "READY=1", "STOPPING=1", "STATUS=...", "WATCHDOG=1", separated by newlines. Any thread.
void NotifyServiceManager(std::string_view state);

}  // namespace blazed
