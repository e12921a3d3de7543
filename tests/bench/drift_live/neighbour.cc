// A neighbour: threads that copy through memory without a pause, as any other job of this machine
// that computes. Ends after --seconds, or with the program that started it.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kBytes = size_t{16}
                          << 20;  // of each of a thread's two arrays: beyond its own caches
constexpr int kMostThreads = 1024, kMostSeconds = 3600;

void Copy(Clock::time_point end) {
  std::vector<char> from(kBytes, 1), to(kBytes);
  while (Clock::now() < end) {
    std::memcpy(to.data(), from.data(), kBytes);
    from.swap(to);
  }
}

int Number(const char* text, int most) {
  const int number = std::atoi(text);
  return number < 1 || number > most ? 0 : number;
}

}  // namespace

int main(int argc, char** argv) {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return 1;  // it ended before it was asked for
  const bool usage =
      argc == 5 && std::strcmp(argv[1], "--threads") == 0 && std::strcmp(argv[3], "--seconds") == 0;
  const int count = usage ? Number(argv[2], kMostThreads) : 0;
  const int seconds = usage ? Number(argv[4], kMostSeconds) : 0;
  if (count == 0 || seconds == 0) {
    std::fprintf(stderr, "usage: neighbour --threads N --seconds N\n");
    return 2;
  }
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(Copy, end);
  for (std::thread& thread : threads) thread.join();
  return 0;
}
