#ifndef HEIRLOOM_CRASH_VFS_H
#define HEIRLOOM_CRASH_VFS_H

#include <stdint.h>

// A layer around SQLite's own file layer that tells a watcher of each call on files below a folder before it makes the call.
// Files elsewhere, temporary files without a name and the memory that connections share (-shm) go by unseen.

typedef enum {
  crash_vfs_open = 1,       // handle and path; value is 1 when the call may make the file
  crash_vfs_close,          // handle
  crash_vfs_read,           // handle, offset, count
  crash_vfs_write,          // handle, offset, bytes and count
  crash_vfs_truncate,       // handle, offset is the new size
  crash_vfs_sync,           // handle
  crash_vfs_sync_folder,    // path of a file whose folder is brought to the disk
  crash_vfs_unlink,         // path
} crash_vfs_call;

typedef struct {
  crash_vfs_call call;
  uint64_t handle;
  const char *path;
  int64_t offset;
  const void *bytes;
  int64_t count;
  int value;
} crash_vfs_event;

// Returns 0 to let the call be made, or the SQLite result code with which it fails.
typedef int (*crash_vfs_watcher)(void *context, const crash_vfs_event *event);

// Makes the layer the process's default one; further calls do nothing. Returns SQLite's result code.
int crash_vfs_install(void);

// Watches the files below a folder, whose path has no trailing slash. Returns a number for crash_vfs_forget, or -1.
int crash_vfs_watch(const char *folder, crash_vfs_watcher watcher, void *context);

// Ends the watching; connections to files below the folder must be closed before.
void crash_vfs_forget(int number);

#endif
