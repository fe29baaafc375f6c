#ifndef HEIRLOOM_ZLIB_SHIM_H
#define HEIRLOOM_ZLIB_SHIM_H

#include <zlib.h>

// Swift can't import the macros inflateInit2() and deflateInit2(), which pass the size of z_stream.
static inline int heirloom_inflate_init(z_stream *stream, int windowBits) {
  return inflateInit2(stream, windowBits);
}

static inline int heirloom_deflate_init(z_stream *stream, int level, int windowBits) {
  return deflateInit2(stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY);
}

#endif
