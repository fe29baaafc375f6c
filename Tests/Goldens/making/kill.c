// Counts the calls that change files and kills the process before the call whose number is HEIRLOOM_KILL.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>
static long count = 0;
static void step(const char *name) {
  const char *at = getenv("HEIRLOOM_KILL");
  count++;
  if (getenv("HEIRLOOM_TRACE")) { char b[64]; int n = snprintf(b, 64, "%ld %s\n", count, name); write(2, b, n); }
  if (at && count == atol(at)) kill(getpid(), SIGKILL);
}
#define WRAP(ret, name, params, args) \
  ret name params { static ret (*real) params; if (!real) real = dlsym(RTLD_NEXT, #name); step(#name); return real args; }
WRAP(int, rename, (const char *a, const char *b), (a, b))
WRAP(int, renameat, (int x, const char *a, int y, const char *b), (x, a, y, b))
WRAP(int, link, (const char *a, const char *b), (a, b))
WRAP(int, linkat, (int x, const char *a, int y, const char *b, int f), (x, a, y, b, f))
WRAP(int, unlink, (const char *a), (a))
WRAP(int, unlinkat, (int x, const char *a, int f), (x, a, f))
WRAP(int, mkdir, (const char *a, mode_t m), (a, m))
WRAP(int, mkdirat, (int x, const char *a, mode_t m), (x, a, m))
WRAP(int, fsync, (int x), (x))
WRAP(int, fdatasync, (int x), (x))
