#ifndef HEIRLOOM_FILES_SHIM_H
#define HEIRLOOM_FILES_SHIM_H

// Swift's modules of the C libraries of Linux leave extended attributes out.
#include <sys/xattr.h>

#if defined(__linux__)
// Declared here: a header that Swift's modules of the C libraries have as well would become this module's.
extern long syscall(long number, ...);

// Opens a folder with flags of open(2), following no symbolic link in its path: openat2(2), for which the C libraries have no
// function, and whose numbers are the same on every architecture. It fails with ENOSYS on Linux before 5.6, and with EPERM where a
// sandbox doesn't know it.
static inline int heirloom_open_folder(const char *path, unsigned long long flags) {
  const int current_folder = -100;
  const unsigned long long resolve_no_symlinks = 0x04;
  unsigned long long how[3] = {flags, 0, resolve_no_symlinks};
  return (int)syscall(437, current_folder, path, how, sizeof how);
}
#endif

#endif
