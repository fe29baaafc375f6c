#include "own.h"

#include "sqlite3.h"

static int opened = 0;

static int count(sqlite3 *connection, char **message, const void *functions) {
  opened++;
  return SQLITE_OK;
}

int own_sqlite_count(void) { return sqlite3_auto_extension((void (*)(void))count); }
int own_sqlite_opened(void) { return opened; }
