// The calls of Apple's systems that Linux lacks or takes in another form, as their manual pages describe them.
//
// An attribute "name" is Linux's "user.name". What the fake keeps of a file for itself is an attribute of Linux's whose name begins
// with "user.#", which no call here shows: its protection class, its access list, and faults (see fake_darwin_fail).
//
// FAKE_DARWIN_VOLUME names the kind of all volumes: "apfs", which is meant without it, clones files (by copying where Linux can't share
// blocks) and has protection classes; "hfs" has neither.
#ifndef FAKE_DARWIN_H
#define FAKE_DARWIN_H

// Apple's numbers, none of which is another error here. (Linux has one number for ENOTSUP and EOPNOTSUPP, and no ENOATTR.)
enum { fake_darwin_ENOATTR = 93, fake_darwin_EOPNOTSUPP = 102 };

// Bits that Linux has no use for.
enum { fake_darwin_O_SEARCH = 0x40000000, fake_darwin_O_NOFOLLOW_ANY = 0x20000000 };

#define NAMED(name) __attribute__((swift_name(name)))

// open(2), fcntl(2): Swift's own forms are in the module Darwin.
int fake_darwin_openat(int folder, const char *path, int flags, unsigned mode);
int fake_darwin_fcntl(int file, int command, int argument);

// clonefile(2), copyfile(3).
int fake_darwin_fclonefileat(int source, int folder, const char *name, unsigned flags) NAMED("fclonefileat(_:_:_:_:)");
int fake_darwin_fcopyfile(int from, int to, void *state, unsigned flags) NAMED("fcopyfile(_:_:_:_:)");

// getxattr(2), setxattr(2), listxattr(2), removexattr(2).
long fake_darwin_getxattr(const char *path, const char *name, void *value, long size, unsigned position, int options)
  NAMED("getxattr(_:_:_:_:_:_:)");
long fake_darwin_fgetxattr(int file, const char *name, void *value, long size, unsigned position, int options)
  NAMED("fgetxattr(_:_:_:_:_:_:)");
int fake_darwin_setxattr(const char *path, const char *name, const void *value, long size, unsigned position, int options)
  NAMED("setxattr(_:_:_:_:_:_:)");
int fake_darwin_fsetxattr(int file, const char *name, const void *value, long size, unsigned position, int options)
  NAMED("fsetxattr(_:_:_:_:_:_:)");
long fake_darwin_listxattr(const char *path, char *names, long size, int options) NAMED("listxattr(_:_:_:_:)");
long fake_darwin_flistxattr(int file, char *names, long size, int options) NAMED("flistxattr(_:_:_:_:)");
int fake_darwin_fremovexattr(int file, const char *name, int options) NAMED("fremovexattr(_:_:_:)");

// statfs(2).
struct statfs { char f_fstypename[16]; };
int fake_darwin_statfs(const char *path, struct statfs *volume) NAMED("statfs(_:_:)");

// acl(3). An access list is its text.
typedef enum { ACL_TYPE_EXTENDED = 0x100 } acl_type_t;
typedef struct fake_darwin_acl *acl_t;
acl_t fake_darwin_acl_from_text(const char *text) NAMED("acl_from_text(_:)");
char *fake_darwin_acl_to_text(acl_t list, long *length) NAMED("acl_to_text(_:_:)");
acl_t fake_darwin_acl_get_file(const char *path, acl_type_t type) NAMED("acl_get_file(_:_:)");
int fake_darwin_acl_set_file(const char *path, acl_type_t type, acl_t list) NAMED("acl_set_file(_:_:_:)");
int fake_darwin_acl_free(void *object) NAMED("acl_free(_:)");

// Makes a call of a file fail, by its name or that of the command of fcntl(2): the next ones, as many as `times` says, or all if that
// is less than 0. It counts the calls from here on, also without failures. Returns -1 where a file can't have attributes.
int fake_darwin_fail(const char *path, const char *call, int code, int times);

// Returns the number of calls since fake_darwin_fail; -1 without it.
int fake_darwin_calls(const char *path, const char *call);

#endif
