// Counts the connections that are opened through this SQLite from now on.
int own_sqlite_count(void);
// The number of them.
int own_sqlite_opened(void);
