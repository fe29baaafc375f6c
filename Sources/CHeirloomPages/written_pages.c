#include "heirloom_pages.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

// What is known of a page: one of these, or a sum of its bytes, which is neither.
enum { unwritten = 0, written_in_part = 1 };

struct heirloom_written_pages {
  int64_t identifier;
  uint32_t page_size;
  int references;
  int is_complete;
  // By the page's number less one. Pages from `count` on are unwritten, unless the file ended before them.
  uint32_t *sums;
  int64_t count;
  // The file's lowest end, in pages: what came after it was the file system's zeros at first. -1 when it was never cut.
  int64_t lowest_end;
  heirloom_written_pages *next;
};

// A file of the layer; the system's own file object has memory of its own, whose size isn't known before it is opened.
typedef struct {
  sqlite3_file base;
  sqlite3_file *inner;
  heirloom_written_pages *pages;
} layer_file;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static heirloom_written_pages *records = 0;
static int64_t last_identifier = 0;
static char layer_name[40];
static sqlite3_vfs layer;
static sqlite3_io_methods methods;

static sqlite3_file *inner(sqlite3_file *file) { return ((layer_file *)file)->inner; }

// Records

// Each step can be undone, so that bytes that differ in one word have different states of 64 bits.
static uint32_t sum_of(const void *bytes, uint32_t count) {
  const unsigned char *place = bytes;
  uint64_t lanes[4] = {1, 2, 3, 4};
  for (uint32_t offset = 0; offset + 32 <= count; offset += 32) {
    uint64_t words[4];
    memcpy(words, place + offset, sizeof words);
    for (int lane = 0; lane < 4; lane++) {
      lanes[lane] = (lanes[lane] ^ words[lane]) * UINT64_C(0x9e3779b97f4a7c15);
      lanes[lane] ^= lanes[lane] >> 29;
    }
  }
  uint64_t sum = 0;
  for (int lane = 0; lane < 4; lane++) sum = ((sum << 7 | sum >> 57) ^ lanes[lane]) * UINT64_C(0xbf58476d1ce4e5b9);
  uint32_t result = (uint32_t)(sum >> 32);
  return result > written_in_part ? result : result + 2;
}

static int make_room(heirloom_written_pages *pages, int64_t count) {
  if (count <= pages->count) return 1;
  int64_t room = count + count / 2 + 64;
  uint32_t *sums = sqlite3_realloc64(pages->sums, (sqlite3_uint64)room * sizeof *sums);
  if (sums == 0) {
    pages->is_complete = 0;
    return 0;
  }
  memset(sums + pages->count, 0, (size_t)(room - pages->count) * sizeof *sums);
  pages->sums = sums;
  pages->count = room;
  return 1;
}

static void note_write(heirloom_written_pages *pages, const void *bytes, int count, sqlite3_int64 offset) {
  if (count <= 0 || offset < 0) return;
  int64_t first = offset / pages->page_size;
  int64_t end = (offset + count + pages->page_size - 1) / pages->page_size;
  if (!make_room(pages, end)) return;
  // SQLite writes whole pages.
  int is_whole = count == (int)pages->page_size && offset % pages->page_size == 0;
  for (int64_t page = first; page < end; page++)
    pages->sums[page] = is_whole ? sum_of(bytes, pages->page_size) : written_in_part;
}

static void note_end(heirloom_written_pages *pages, sqlite3_int64 size) {
  int64_t end = size / pages->page_size;
  if (pages->lowest_end < 0 || end < pages->lowest_end) pages->lowest_end = end;
  for (int64_t page = end; page < pages->count; page++)
    if (pages->sums[page] != unwritten) pages->sums[page] = written_in_part;
}

static heirloom_written_pages *retain(int64_t identifier) {
  pthread_mutex_lock(&lock);
  heirloom_written_pages *found = records;
  while (found && found->identifier != identifier) found = found->next;
  if (found) found->references++;
  pthread_mutex_unlock(&lock);
  return found;
}

void heirloom_written_pages_release(heirloom_written_pages *pages) {
  if (pages == 0) return;
  pthread_mutex_lock(&lock);
  int is_last = --pages->references == 0;
  if (is_last) {
    heirloom_written_pages **place = &records;
    while (*place != pages) place = &(*place)->next;
    *place = pages->next;
  }
  pthread_mutex_unlock(&lock);
  if (!is_last) return;
  sqlite3_free(pages->sums);
  sqlite3_free(pages);
}

// Files

static int layer_close(sqlite3_file *file) {
  layer_file *own = (layer_file *)file;
  int status = own->inner->pMethods ? own->inner->pMethods->xClose(own->inner) : SQLITE_OK;
  sqlite3_free(own->inner);
  heirloom_written_pages_release(own->pages);
  own->inner = 0;
  own->pages = 0;
  return status;
}

static int layer_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  return inner(file)->pMethods->xRead(inner(file), bytes, count, offset);
}

static int layer_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  layer_file *own = (layer_file *)file;
  // Before it is done: one that fails half-way has changed the page, too.
  if (own->pages) note_write(own->pages, bytes, count, offset);
  return inner(file)->pMethods->xWrite(inner(file), bytes, count, offset);
}

static int layer_truncate(sqlite3_file *file, sqlite3_int64 size) {
  layer_file *own = (layer_file *)file;
  if (own->pages) note_end(own->pages, size);
  return inner(file)->pMethods->xTruncate(inner(file), size);
}

static int layer_sync(sqlite3_file *file, int flags) { return inner(file)->pMethods->xSync(inner(file), flags); }

static int layer_size(sqlite3_file *file, sqlite3_int64 *size) {
  return inner(file)->pMethods->xFileSize(inner(file), size);
}

static int layer_lock(sqlite3_file *file, int level) { return inner(file)->pMethods->xLock(inner(file), level); }

static int layer_unlock(sqlite3_file *file, int level) { return inner(file)->pMethods->xUnlock(inner(file), level); }

static int layer_check_lock(sqlite3_file *file, int *result) {
  return inner(file)->pMethods->xCheckReservedLock(inner(file), result);
}

static int layer_control(sqlite3_file *file, int operation, void *argument) {
  return inner(file)->pMethods->xFileControl(inner(file), operation, argument);
}

static int layer_sector(sqlite3_file *file) { return inner(file)->pMethods->xSectorSize(inner(file)); }

static int layer_device(sqlite3_file *file) { return inner(file)->pMethods->xDeviceCharacteristics(inner(file)); }

static int layer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *result) {
  (void)vfs;
  layer_file *own = (layer_file *)file;
  memset(own, 0, sizeof *own);
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  if (system == 0) return SQLITE_CANTOPEN;
  heirloom_written_pages *pages = 0;
  if (flags & SQLITE_OPEN_MAIN_DB) {
    pages = retain(sqlite3_uri_int64(name, "written-pages", 0));
    if (pages == 0) return SQLITE_CANTOPEN;
  }
  sqlite3_file *opened = sqlite3_malloc(system->szOsFile);
  int status = SQLITE_NOMEM;
  if (opened) {
    memset(opened, 0, (size_t)system->szOsFile);
    status = system->xOpen(system, name, opened, flags, result);
    if (status != SQLITE_OK && opened->pMethods) opened->pMethods->xClose(opened);
  }
  if (status != SQLITE_OK) {
    sqlite3_free(opened);
    heirloom_written_pages_release(pages);
    return status;
  }
  own->inner = opened;
  own->pages = pages;
  own->base.pMethods = &methods;
  return SQLITE_OK;
}

// The system, as it is when it is called: an app may put another layer in its place

static int layer_delete(sqlite3_vfs *vfs, const char *name, int sync) {
  (void)vfs;
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  return system ? system->xDelete(system, name, sync) : SQLITE_IOERR_DELETE;
}

static int layer_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  (void)vfs;
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  return system ? system->xAccess(system, name, flags, result) : SQLITE_IOERR_ACCESS;
}

static int layer_path(sqlite3_vfs *vfs, const char *name, int size, char *result) {
  (void)vfs;
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  return system ? system->xFullPathname(system, name, size, result) : SQLITE_CANTOPEN;
}

static int layer_randomness(sqlite3_vfs *vfs, int count, char *bytes) {
  (void)vfs;
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  return system ? system->xRandomness(system, count, bytes) : 0;
}

static int layer_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  return system ? system->xSleep(system, microseconds) : 0;
}

static int layer_time(sqlite3_vfs *vfs, double *days) {
  (void)vfs;
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  return system ? system->xCurrentTime(system, days) : SQLITE_ERROR;
}

static int layer_error(sqlite3_vfs *vfs, int size, char *text) {
  (void)vfs;
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  return system && system->xGetLastError ? system->xGetLastError(system, size, text) : 0;
}

// Once in a process; `lock` is held.
static int install(void) {
  static int is_installed = 0;
  if (is_installed) return SQLITE_OK;
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  if (system == 0) return SQLITE_ERROR;
  // Version 1 has neither memory that is shared nor memory that is mapped: every byte passes layer_write.
  methods = (sqlite3_io_methods){
      .iVersion = 1,
      .xClose = layer_close,
      .xRead = layer_read,
      .xWrite = layer_write,
      .xTruncate = layer_truncate,
      .xSync = layer_sync,
      .xFileSize = layer_size,
      .xLock = layer_lock,
      .xUnlock = layer_unlock,
      .xCheckReservedLock = layer_check_lock,
      .xFileControl = layer_control,
      .xSectorSize = layer_sector,
      .xDeviceCharacteristics = layer_device,
  };
  // Two copies of this code in one process, in an app and in a library of its own, are two layers.
  snprintf(layer_name, sizeof layer_name, "heirloom-%p", (void *)&layer);
  layer = (sqlite3_vfs){
      .iVersion = 1,
      .zName = layer_name,
      .szOsFile = sizeof(layer_file),
      .mxPathname = system->mxPathname,
      .xOpen = layer_open,
      .xDelete = layer_delete,
      .xAccess = layer_access,
      .xFullPathname = layer_path,
      .xRandomness = layer_randomness,
      .xSleep = layer_sleep,
      .xCurrentTime = layer_time,
      .xGetLastError = layer_error,
  };
  int status = sqlite3_vfs_register(&layer, 0);
  is_installed = status == SQLITE_OK;
  return status;
}

heirloom_written_pages *heirloom_written_pages_create(uint32_t page_size) {
  if (page_size < 512 || page_size > 65536) return 0;
  heirloom_written_pages *pages = sqlite3_malloc(sizeof *pages);
  if (pages == 0) return 0;
  pthread_mutex_lock(&lock);
  int status = install();
  *pages = (heirloom_written_pages){
      .page_size = page_size, .references = 1, .is_complete = 1, .lowest_end = -1, .next = records};
  if (status == SQLITE_OK) {
    pages->identifier = ++last_identifier;
    records = pages;
  }
  pthread_mutex_unlock(&lock);
  if (status == SQLITE_OK) return pages;
  sqlite3_free(pages);
  return 0;
}

const char *heirloom_written_pages_layer(void) { return layer_name; }

int64_t heirloom_written_pages_identifier(const heirloom_written_pages *pages) { return pages->identifier; }

int heirloom_written_pages_is_complete(const heirloom_written_pages *pages) { return pages->is_complete; }

void heirloom_written_pages_mark(const heirloom_written_pages *pages, uint64_t *words, uint32_t highest) {
  for (uint32_t page = 1; page <= highest && page != 0; page++) {
    int is_beyond_end = pages->lowest_end >= 0 && page > pages->lowest_end;
    if (is_beyond_end || (page <= pages->count && pages->sums[page - 1] != unwritten))
      words[page / 64] |= UINT64_C(1) << page % 64;
  }
}

int heirloom_written_pages_match(const heirloom_written_pages *pages, uint32_t page, const void *bytes) {
  int64_t index = (int64_t)page - 1;
  // Nothing is known of a page that was written in part, or that came with the file's new end.
  if (index < 0 || index >= pages->count || pages->sums[index] <= written_in_part) return 1;
  return pages->sums[index] == sum_of(bytes, pages->page_size);
}
