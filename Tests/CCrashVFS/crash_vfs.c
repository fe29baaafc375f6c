#include "crash_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define WATCH_LIMIT 64

typedef struct {
  char *folder;
  crash_vfs_watcher watcher;
  void *context;
} watch;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static watch watches[WATCH_LIMIT];
static uint64_t last_handle = 0;
static sqlite3_vfs *system_vfs = 0;
static sqlite3_vfs crash_vfs;

// An open file; the system's own file object follows it in memory.
typedef struct {
  sqlite3_file base;
  watch watch;  // its folder is not used: the copy must outlive crash_vfs_forget
  uint64_t handle;
  char *path;
  int needs_folder_sync;
} crash_file;

static sqlite3_file *inner(sqlite3_file *file) { return (sqlite3_file *)((crash_file *)file + 1); }

static watch find_watch(const char *path) {
  watch found = {0, 0, 0};
  if (path == 0) return found;
  pthread_mutex_lock(&lock);
  for (int index = 0; index < WATCH_LIMIT; index++) {
    if (watches[index].folder == 0) continue;
    size_t length = strlen(watches[index].folder);
    if (strncmp(path, watches[index].folder, length) == 0 && path[length] == '/') {
      found = watches[index];
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static int tell(const watch *watch, crash_vfs_event event) {
  return watch->watcher ? watch->watcher(watch->context, &event) : SQLITE_OK;
}

static int tell_file(sqlite3_file *file, crash_vfs_call call, const void *bytes, sqlite3_int64 count, sqlite3_int64 offset) {
  crash_file *own = (crash_file *)file;
  crash_vfs_event event = {call, own->handle, own->path, offset, bytes, count, 0};
  return tell(&own->watch, event);
}

// Files

static int crash_close(sqlite3_file *file) {
  crash_file *own = (crash_file *)file;
  tell_file(file, crash_vfs_close, 0, 0, 0);
  int status = inner(file)->pMethods ? inner(file)->pMethods->xClose(inner(file)) : SQLITE_OK;
  free(own->path);
  own->path = 0;
  return status;
}

static int crash_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  int status = tell_file(file, crash_vfs_read, 0, count, offset);
  return status ? status : inner(file)->pMethods->xRead(inner(file), buffer, count, offset);
}

static int crash_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  int status = tell_file(file, crash_vfs_write, bytes, count, offset);
  return status ? status : inner(file)->pMethods->xWrite(inner(file), bytes, count, offset);
}

static int crash_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int status = tell_file(file, crash_vfs_truncate, 0, 0, size);
  return status ? status : inner(file)->pMethods->xTruncate(inner(file), size);
}

static int crash_sync(sqlite3_file *file, int flags) {
  crash_file *own = (crash_file *)file;
  int status = tell_file(file, crash_vfs_sync, 0, 0, 0);
  if (status == SQLITE_OK && own->needs_folder_sync) {
    // SQLite's unix layer brings the folder to the disk with the first sync of a journal or -wal that it has made.
    crash_vfs_event event = {crash_vfs_sync_folder, own->handle, own->path, 0, 0, 0, 0};
    status = tell(&own->watch, event);
    if (status == SQLITE_OK) own->needs_folder_sync = 0;
  }
  return status ? status : inner(file)->pMethods->xSync(inner(file), flags);
}

static int crash_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return inner(file)->pMethods->xFileSize(inner(file), size);
}

static int crash_lock(sqlite3_file *file, int level) { return inner(file)->pMethods->xLock(inner(file), level); }
static int crash_unlock(sqlite3_file *file, int level) { return inner(file)->pMethods->xUnlock(inner(file), level); }

static int crash_check_reserved(sqlite3_file *file, int *result) {
  return inner(file)->pMethods->xCheckReservedLock(inner(file), result);
}

static int crash_control(sqlite3_file *file, int operation, void *argument) {
  return inner(file)->pMethods->xFileControl(inner(file), operation, argument);
}

static int crash_sector_size(sqlite3_file *file) { return inner(file)->pMethods->xSectorSize(inner(file)); }

static int crash_characteristics(sqlite3_file *file) {
  return inner(file)->pMethods->xDeviceCharacteristics(inner(file));
}

static int crash_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **address) {
  return inner(file)->pMethods->xShmMap(inner(file), page, size, extend, address);
}

static int crash_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  return inner(file)->pMethods->xShmLock(inner(file), offset, count, flags);
}

static void crash_shm_barrier(sqlite3_file *file) { inner(file)->pMethods->xShmBarrier(inner(file)); }

static int crash_shm_unmap(sqlite3_file *file, int deletes) {
  return inner(file)->pMethods->xShmUnmap(inner(file), deletes);
}

// Version 2: no mapping of files, so that each write is a call.
static const sqlite3_io_methods methods = {
  2, crash_close, crash_read, crash_write, crash_truncate, crash_sync, crash_file_size, crash_lock, crash_unlock,
  crash_check_reserved, crash_control, crash_sector_size, crash_characteristics, crash_shm_map, crash_shm_lock,
  crash_shm_barrier, crash_shm_unmap, 0, 0,
};

// The layer

static int crash_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *result) {
  crash_file *own = (crash_file *)file;
  memset(own, 0, sizeof *own);
  inner(file)->pMethods = 0;
  own->watch = find_watch(path);
  int makes = 0;
  if (own->watch.watcher) {
    own->path = strdup(path);
    if (own->path == 0) return SQLITE_NOMEM;
    int exists = 0;
    system_vfs->xAccess(system_vfs, path, SQLITE_ACCESS_EXISTS, &exists);
    makes = (flags & SQLITE_OPEN_CREATE) != 0;
    pthread_mutex_lock(&lock);
    own->handle = ++last_handle;
    pthread_mutex_unlock(&lock);
    crash_vfs_event event = {crash_vfs_open, own->handle, own->path, 0, 0, 0, makes};
    int status = tell(&own->watch, event);
    if (status != SQLITE_OK) {
      free(own->path);
      own->path = 0;
      return status;
    }
    // As the unix layer does: whether the file was there does not matter to it.
    int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
    own->needs_folder_sync = makes && (flags & journals) != 0;
  }
  int status = system_vfs->xOpen(system_vfs, path, inner(file), flags, result);
  // With methods set, SQLite calls xClose even when the open failed.
  if (inner(file)->pMethods) {
    own->base.pMethods = &methods;
  } else {
    free(own->path);
    own->path = 0;
  }
  return status;
}

static int crash_delete(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
  watch found = find_watch(path);
  crash_vfs_event event = {crash_vfs_unlink, 0, path, 0, 0, 0, 0};
  int status = tell(&found, event);
  if (status != SQLITE_OK) return status;
  if (syncs_folder) {
    event.call = crash_vfs_sync_folder;
    status = tell(&found, event);
    if (status != SQLITE_OK) {
      // The name is gone, the sync of the folder failed.
      int deleted = system_vfs->xDelete(system_vfs, path, 0);
      return deleted ? deleted : status;
    }
  }
  return system_vfs->xDelete(system_vfs, path, syncs_folder);
}

int crash_vfs_install(void) {
  pthread_mutex_lock(&lock);
  int status = SQLITE_OK;
  if (system_vfs == 0) {
    system_vfs = sqlite3_vfs_find(0);
    crash_vfs = *system_vfs;
    crash_vfs.zName = "crash";
    crash_vfs.pNext = 0;
    crash_vfs.szOsFile = (int)sizeof(crash_file) + system_vfs->szOsFile;
    crash_vfs.xOpen = crash_open;
    crash_vfs.xDelete = crash_delete;
    status = sqlite3_vfs_register(&crash_vfs, 1);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

int crash_vfs_watch(const char *folder, crash_vfs_watcher watcher, void *context) {
  int number = -1;
  pthread_mutex_lock(&lock);
  for (int index = 0; index < WATCH_LIMIT && number < 0; index++) {
    if (watches[index].folder) continue;
    watches[index].folder = strdup(folder);
    watches[index].watcher = watcher;
    watches[index].context = context;
    if (watches[index].folder) number = index;
  }
  pthread_mutex_unlock(&lock);
  return number;
}

void crash_vfs_forget(int number) {
  pthread_mutex_lock(&lock);
  free(watches[number].folder);
  watches[number].folder = 0;
  watches[number].watcher = 0;
  pthread_mutex_unlock(&lock);
}
