#ifndef HEIRLOOM_PAGES_H
#define HEIRLOOM_PAGES_H

#include <stdint.h>

// The pages of one database file that were written through a layer under SQLite, each with a sum of its bytes. Several connections,
// one after the other, may write to the file; it belongs to one thread at a time.
typedef struct heirloom_written_pages heirloom_written_pages;

// Makes a record of no pages; 0 when there is no memory, or SQLite takes no layer. Release it by heirloom_written_pages_release.
heirloom_written_pages *heirloom_written_pages_create(uint32_t page_size);
void heirloom_written_pages_release(heirloom_written_pages *pages);

// The name of the layer, for the parameter `vfs` of a database's URI.
const char *heirloom_written_pages_layer(void);

// The record's number, for the parameter `written-pages` of a database's URI.
int64_t heirloom_written_pages_identifier(const heirloom_written_pages *pages);

// Returns 0 when the record missed a write for lack of memory.
int heirloom_written_pages_is_complete(const heirloom_written_pages *pages);

// Sets the bit of each page, up to a highest one, of which anything was written, or before which the file ended at some time. Page n has
// bit n % 64 of word n / 64; the first page is 1.
void heirloom_written_pages_mark(const heirloom_written_pages *pages, uint64_t *words, uint32_t highest);

// Returns 1 when the bytes of a whole page are what was last written there.
int heirloom_written_pages_match(const heirloom_written_pages *pages, uint32_t page, const void *bytes);

#endif
