#include "sync_counter.h"

#if defined(__linux__)

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long calls;

// A program's own functions stand before those of the C library, for the libraries that it loads too: SQLite calls these.

int fsync(int descriptor) {
  atomic_fetch_add(&calls, 1);
  return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  atomic_fetch_add(&calls, 1);
  return (int)syscall(SYS_fdatasync, descriptor);
}

long heirloom_sync_count(void) { return atomic_load(&calls); }

#else

long heirloom_sync_count(void) { return -1; }

#endif
