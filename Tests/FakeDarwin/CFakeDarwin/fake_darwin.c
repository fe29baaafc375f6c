#define _GNU_SOURCE
#include "fake_darwin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static int fail(int code) {
  errno = code;
  return -1;
}

static int is_apfs(void) {
  const char *volume = getenv("FAKE_DARWIN_VOLUME");
  return volume == NULL || strcmp(volume, "apfs") == 0;
}

// The path by which Linux's calls with paths reach an open file.
typedef struct { char text[32]; } link_t;

static link_t link_of(int file) {
  link_t link;
  snprintf(link.text, sizeof link.text, "/proc/self/fd/%d", file);
  return link;
}

// MARK: Faults

typedef struct { int code, times, calls; } fault_t;

static void fault_name(char *name, size_t size, const char *call) { snprintf(name, size, "user.#%s", call); }

int fake_darwin_fail(const char *path, const char *call, int code, int times) {
  char name[256];
  fault_name(name, sizeof name, call);
  fault_t fault = {code, times, 0};
  return setxattr(path, name, &fault, sizeof fault, 0);
}

int fake_darwin_calls(const char *path, const char *call) {
  char name[256];
  fault_name(name, sizeof name, call);
  fault_t fault;
  return getxattr(path, name, &fault, sizeof fault) == sizeof fault ? fault.calls : -1;
}

// Counts a call if it is asked for; the error with which it must fail, or 0.
static int fault_of(int file, const char *call) {
  char name[256];
  fault_name(name, sizeof name, call);
  link_t link = link_of(file);
  fault_t fault;
  if (getxattr(link.text, name, &fault, sizeof fault) != sizeof fault) return 0;
  fault.calls += 1;
  int code = fault.times == 0 ? 0 : fault.code;
  if (fault.times > 0) fault.times -= 1;
  setxattr(link.text, name, &fault, sizeof fault, 0);
  return code;
}

// MARK: Attributes

static const char prefix[] = "user.";
static const char list_name[] = "user.#acl";
static const char class_name[] = "user.#class";
// What a file that got no class has: complete until the first unlocking.
enum { usual_class = 3 };
enum { name_limit = 127, nofollow = 1, create = 2, replace = 4 };

// Linux's name of an attribute.
static int linux_name(char *output, size_t size, const char *name) {
  if (strlen(name) > name_limit) return fail(ENAMETOOLONG);
  snprintf(output, size, "%s%s", prefix, name);
  return 0;
}

long fake_darwin_getxattr(const char *path, const char *name, void *value, long size, unsigned position, int options) {
  char there[256];
  if (linux_name(there, sizeof there, name) != 0) return -1;
  if (position != 0) return fail(EINVAL);
  if (value == NULL) size = 0;
  long length = options & nofollow ? lgetxattr(path, there, value, size) : getxattr(path, there, value, size);
  if (length < 0 && errno == ENODATA) errno = fake_darwin_ENOATTR;
  return length;
}

long fake_darwin_fgetxattr(int file, const char *name, void *value, long size, unsigned position, int options) {
  int code = fault_of(file, "fgetxattr");
  return code ? fail(code) : fake_darwin_getxattr(link_of(file).text, name, value, size, position, options & ~nofollow);
}

int fake_darwin_setxattr(const char *path, const char *name, const void *value, long size, unsigned position, int options) {
  char there[256];
  if (linux_name(there, sizeof there, name) != 0) return -1;
  if (position != 0) return fail(EINVAL);
  int flags = (options & create ? XATTR_CREATE : 0) | (options & replace ? XATTR_REPLACE : 0);
  int result = options & nofollow ? lsetxattr(path, there, value, size, flags) : setxattr(path, there, value, size, flags);
  if (result != 0 && errno == ENODATA) errno = fake_darwin_ENOATTR;
  return result;
}

int fake_darwin_fsetxattr(int file, const char *name, const void *value, long size, unsigned position, int options) {
  int code = fault_of(file, "fsetxattr");
  return code ? fail(code) : fake_darwin_setxattr(link_of(file).text, name, value, size, position, options & ~nofollow);
}

long fake_darwin_listxattr(const char *path, char *names, long size, int options) {
  char all[65536], shown[65536];
  long length = options & nofollow ? llistxattr(path, all, sizeof all) : listxattr(path, all, sizeof all), count = 0;
  if (length < 0) return -1;
  for (char *name = all; name < all + length; name += strlen(name) + 1) {
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 || name[sizeof prefix - 1] == '#') continue;
    strcpy(shown + count, name + sizeof prefix - 1);
    count += strlen(shown + count) + 1;
  }
  if (names == NULL || size == 0) return count;
  if (count > size) return fail(ERANGE);
  memcpy(names, shown, count);
  return count;
}

long fake_darwin_flistxattr(int file, char *names, long size, int options) {
  int code = fault_of(file, "flistxattr");
  return code ? fail(code) : fake_darwin_listxattr(link_of(file).text, names, size, options & ~nofollow);
}

int fake_darwin_fremovexattr(int file, const char *name, int options) {
  (void)options;
  int code = fault_of(file, "fremovexattr");
  if (code) return fail(code);
  char there[256];
  if (linux_name(there, sizeof there, name) != 0) return -1;
  int result = removexattr(link_of(file).text, there);
  if (result != 0 && errno == ENODATA) errno = fake_darwin_ENOATTR;
  return result;
}

// Gives a file an attribute of Linux's that another has, or takes it away.
static int carry(int from, int to, const char *name) {
  char value[65536];
  long size = getxattr(link_of(from).text, name, value, sizeof value);
  if (size >= 0) return setxattr(link_of(to).text, name, value, size, 0);
  if (errno != ENODATA && errno != ENOTSUP) return -1;
  return removexattr(link_of(to).text, name) == 0 || errno == ENODATA || errno == ENOTSUP ? 0 : -1;
}

// A new file has the protection class of its folder, and of the folder's access list what is meant for files in it.
static void inherit(int file, int folder, const char *path) {
  const char *slash = strrchr(path, '/');
  char parent[1024] = ".";
  if (slash != NULL) snprintf(parent, sizeof parent, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  int opened = openat(folder, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  if (is_apfs()) carry(opened, file, class_name);
  char list[4096] = "";
  if (getxattr(link_of(opened).text, list_name, list, sizeof list - 1) > 0 && strstr(list, "file_inherit") != NULL)
    carry(opened, file, list_name);
  else
    removexattr(link_of(file).text, list_name);
  close(opened);
}

// MARK: Files

int fake_darwin_openat(int folder, const char *path, int flags, unsigned mode) {
  // PATH_MAX, with the byte at the end.
  if (strlen(path) >= 1024) return fail(ENAMETOOLONG);
  int given = flags & ~(fake_darwin_O_SEARCH | fake_darwin_O_NOFOLLOW_ANY);
  // A folder that is open to be passed through is good for the calls that take a folder and a name.
  if (flags & fake_darwin_O_SEARCH) given |= O_PATH | O_DIRECTORY;
  int file;
  if (flags & fake_darwin_O_NOFOLLOW_ANY) {
    const unsigned long long resolve_no_symlinks = 4;
    unsigned long long how[3] = {given, given & O_CREAT ? mode : 0, resolve_no_symlinks};
    file = syscall(SYS_openat2, folder, path, how, sizeof how);
  } else {
    file = openat(folder, path, given, mode);
  }
  int code = errno;
  if (file >= 0 && (given & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
    inherit(file, folder, path);
  } else if (file >= 0 && (code = fault_of(file, "open")) != 0) {
    close(file);
    return fail(code);
  }
  errno = code;
  return file;
}

static int set_class(int file, int wanted) {
  if (!is_apfs()) return fail(ENOTSUP);
  if (wanted < 1 || wanted > 7) return fail(EINVAL);
  // Whoever may not write the file may not set its class.
  if (faccessat(AT_FDCWD, link_of(file).text, W_OK, AT_EACCESS) != 0) return fail(EBADF);
  return setxattr(link_of(file).text, class_name, &wanted, sizeof wanted, 0);
}

static int class_of(int file) {
  if (!is_apfs()) return fail(ENOTSUP);
  int found;
  return getxattr(link_of(file).text, class_name, &found, sizeof found) == sizeof found ? found : usual_class;
}

int fake_darwin_fcntl(int file, int command, int argument) {
  int code;
  switch (command) {
    case 51:
      code = fault_of(file, "F_FULLFSYNC");
      return code ? fail(code) : fsync(file);
    case 63:
      code = fault_of(file, "F_GETPROTECTIONCLASS");
      return code ? fail(code) : class_of(file);
    case 64:
      code = fault_of(file, "F_SETPROTECTIONCLASS");
      return code ? fail(code) : set_class(file, argument);
    case 85:
      code = fault_of(file, "F_BARRIERFSYNC");
      return code ? fail(code) : fsync(file);
    default:
      return fcntl(file, command, argument);
  }
}

static int copy_content(int from, int to) {
  // FICLONE: see ioctl_ficlone(2).
  if (ioctl(to, _IOW(0x94, 9, int), from) == 0) return 0;
  char buffer[65536];
  off_t offset = 0;
  while (1) {
    ssize_t count = pread(from, buffer, sizeof buffer, offset);
    if (count <= 0) return (int)count;
    for (ssize_t done = 0; done < count;) {
      ssize_t written = write(to, buffer + done, count - done);
      if (written < 0) return -1;
      done += written;
    }
    offset += count;
  }
}

int fake_darwin_fclonefileat(int source, int folder, const char *name, unsigned flags) {
  const unsigned no_owner_copy = 2, with_list = 4;
  int code = fault_of(source, "fclonefileat");
  if (code) return fail(code);
  if (!is_apfs()) return fail(ENOTSUP);
  struct stat status;
  if (fstat(source, &status) != 0) return -1;
  if (!S_ISREG(status.st_mode)) return fail(EINVAL);
  int clone = fake_darwin_openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (clone < 0) return -1;
  struct stat made;
  if (fstat(clone, &made) != 0 || made.st_dev != status.st_dev) {
    unlinkat(folder, name, 0);
    close(clone);
    return fail(EXDEV);
  }
  char names[65536];
  long length = listxattr(link_of(source).text, names, sizeof names);
  int result = copy_content(source, clone);
  if (with_list & flags) removexattr(link_of(clone).text, list_name);
  for (char *each = names; result == 0 && each < names + length; each += strlen(each) + 1) {
    if (strncmp(each, prefix, sizeof prefix - 1) == 0 && (with_list & flags || strcmp(each, list_name) != 0))
      result = carry(source, clone, each);
  }
  // The superuser's clone has the owner of the original. Nobody's clone gives a program another user's rights.
  if (result == 0 && geteuid() == 0 && !(flags & no_owner_copy)) result = fchown(clone, status.st_uid, status.st_gid);
  if (result == 0) result = fchmod(clone, status.st_mode & 01777);
  struct timespec times[2] = {status.st_atim, status.st_mtim};
  if (result == 0) result = futimens(clone, times);
  code = errno;
  if (result != 0) unlinkat(folder, name, 0);
  close(clone);
  return result == 0 ? 0 : fail(code);
}

int fake_darwin_fcopyfile(int from, int to, void *state, unsigned flags) {
  const unsigned list = 1, attributes = 4;
  (void)state;
  int code = fault_of(from, "fcopyfile");
  if (code) return fail(code);
  // Nothing here asks for more.
  if (flags & ~(list | attributes)) return fail(EINVAL);
  int result = flags & list ? carry(from, to, list_name) : 0;
  for (int side = 0; flags & attributes && side < 2; side++) {
    // First, the other file loses what it has.
    char names[65536];
    long length = fake_darwin_listxattr(link_of(side == 0 ? to : from).text, names, sizeof names, 0);
    if (length < 0 && errno != ENOTSUP) return -1;
    for (char *name = names; name < names + length; name += strlen(name) + 1) {
      char there[256];
      if (linux_name(there, sizeof there, name) != 0) return -1;
      if (side == 0) removexattr(link_of(to).text, there);
      // What can't be given is left out, and the rest is given.
      else if (carry(from, to, there) != 0) result = -1;
    }
  }
  return result;
}

int fake_darwin_statfs(const char *path, struct statfs *volume) {
  if (access(path, F_OK) != 0) return -1;
  memset(volume, 0, sizeof *volume);
  strcpy(volume->f_fstypename, is_apfs() ? "apfs" : "hfs");
  return 0;
}

// MARK: Access lists

acl_t fake_darwin_acl_from_text(const char *text) {
  if (strncmp(text, "!#acl 1\n", 8) != 0) {
    errno = EINVAL;
    return NULL;
  }
  return (acl_t)strdup(text);
}

char *fake_darwin_acl_to_text(acl_t list, long *length) {
  if (length != NULL) *length = strlen((char *)list);
  return strdup((char *)list);
}

acl_t fake_darwin_acl_get_file(const char *path, acl_type_t type) {
  (void)type;
  char text[4096] = "";
  if (getxattr(path, list_name, text, sizeof text - 1) >= 0) return (acl_t)strdup(text);
  if (errno == ENODATA) errno = ENOENT;
  return NULL;
}

int fake_darwin_acl_set_file(const char *path, acl_type_t type, acl_t list) {
  (void)type;
  return setxattr(path, list_name, list, strlen((char *)list), 0);
}

int fake_darwin_acl_free(void *object) {
  free(object);
  return 0;
}
