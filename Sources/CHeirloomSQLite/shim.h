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

// Swift can't call through SQLite's table of file functions. Finds the file of a connection's database.
static inline int heirloom_sqlite_file(sqlite3 *connection, const char *database, sqlite3_file **file) {
  *file = 0;
  int status = sqlite3_file_control(connection, database, SQLITE_FCNTL_FILE_POINTER, file);
  if (status != SQLITE_OK) return status;
  return *file == 0 || (*file)->pMethods == 0 ? SQLITE_ERROR : SQLITE_OK;
}

// Reads bytes of a database's file.
static inline int heirloom_sqlite_read(
    sqlite3 *connection, const char *database, void *buffer, int count, sqlite3_int64 offset) {
  sqlite3_file *file;
  int status = heirloom_sqlite_file(connection, database, &file);
  return status != SQLITE_OK ? status : file->pMethods->xRead(file, buffer, count, offset);
}

// Finds the size in bytes of a database's file.
static inline int heirloom_sqlite_file_size(sqlite3 *connection, const char *database, sqlite3_int64 *size) {
  sqlite3_file *file;
  int status = heirloom_sqlite_file(connection, database, &file);
  return status != SQLITE_OK ? status : file->pMethods->xFileSize(file, size);
}

// Cuts a database's file, of which nothing was read yet.
static inline int heirloom_sqlite_truncate(sqlite3 *connection, const char *database, sqlite3_int64 size) {
  sqlite3_file *file;
  int status = heirloom_sqlite_file(connection, database, &file);
  return status != SQLITE_OK ? status : file->pMethods->xTruncate(file, size);
}

#endif
