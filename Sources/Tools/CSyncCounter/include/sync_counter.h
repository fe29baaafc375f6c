#ifndef HEIRLOOM_SYNC_COUNTER_H
#define HEIRLOOM_SYNC_COUNTER_H

// Returns how often this process called fsync(2) or fdatasync(2) so far, SQLite included; -1 where calls aren't counted.
long heirloom_sync_count(void);

#endif
