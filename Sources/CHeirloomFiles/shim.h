#ifndef HEIRLOOM_FILES_SHIM_H
#define HEIRLOOM_FILES_SHIM_H

// Swift's modules of the C libraries of Linux leave extended attributes out.
#include <sys/xattr.h>

#endif
