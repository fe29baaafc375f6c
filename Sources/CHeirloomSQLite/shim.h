#ifndef HEIRLOOM_SQLITE_SHIM_H
#define HEIRLOOM_SQLITE_SHIM_H

#include <sqlite3.h>

// Swift can't import SQLITE_TRANSIENT, a cast of -1 to a function pointer. It tells SQLite to copy the value.
static inline sqlite3_destructor_type heirloom_sqlite_transient(void) {
  return SQLITE_TRANSIENT;
}

// Swift can't call the variadic sqlite3_db_config(). Sets a switch and returns SQLite's result code.
static inline int heirloom_sqlite_db_config_switch(sqlite3 *connection, int option, int value) {
  int applied = 0;
  return sqlite3_db_config(connection, option, value, &applied);
}

// Older systems lack the flag; an unknown flag of 0 changes nothing.
static inline int heirloom_sqlite_open_nofollow(void) {
#ifdef SQLITE_OPEN_NOFOLLOW
  return SQLITE_OPEN_NOFOLLOW;
#else
  return 0;
#endif
}

// Swift can't call through SQLite's table of file functions. Reads bytes of the main database's file.
static inline int heirloom_sqlite_read(sqlite3 *connection, void *buffer, int count, sqlite3_int64 offset) {
  sqlite3_file *file = 0;
  int status = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (status != SQLITE_OK) return status;
  if (file == 0 || file->pMethods == 0) return SQLITE_ERROR;
  return file->pMethods->xRead(file, buffer, count, offset);
}

#endif
