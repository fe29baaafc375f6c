/* A habit of Apple's SQLite: a file that gets another name while it is open, or loses its own, can't be used through the
** same connection any more (SQLITE_IOERR_VNODE): https://github.com/stephencelis/SQLite.swift/issues/795,
** https://github.com/groue/GRDB.swift/issues/1693. Apple's hears of it from the kernel, this one from the calls of the
** same process. (SQLite removes its own files by unlink(2), which is no such case.) .ci/apple-sqlite puts it behind
** Debian's source, where the functions below are called for each file that is opened and closed. */
#include <dlfcn.h>
#include <pthread.h>

static pthread_mutex_t appleMutex = PTHREAD_MUTEX_INITIALIZER;
static unixFile *appleFiles = 0;

static void appleOpened(unixFile *p){
  struct stat s;
  if( fstat(p->h, &s) ) return;
  p->device = s.st_dev;
  p->inode = s.st_ino;
  pthread_mutex_lock(&appleMutex);
  p->pNextOpen = appleFiles;
  appleFiles = p;
  pthread_mutex_unlock(&appleMutex);
}

static void appleClosed(unixFile *p){
  unixFile **pp;
  pthread_mutex_lock(&appleMutex);
  for(pp=&appleFiles; *pp && *pp!=p; pp=&(*pp)->pNextOpen);
  if( *pp ) *pp = p->pNextOpen;
  pthread_mutex_unlock(&appleMutex);
}

static void appleInvalidate(const struct stat *s){
  unixFile *p;
  pthread_mutex_lock(&appleMutex);
  for(p=appleFiles; p; p=p->pNextOpen){
    if( p->device==s->st_dev && p->inode==s->st_ino ) p->isInvalid = 1;
  }
  pthread_mutex_unlock(&appleMutex);
}

int linkat(int from, const char *old, int to, const char *new, int flags){
  int (*next)(int, const char*, int, const char*, int) = dlsym(RTLD_NEXT, "linkat");
  struct stat s;
  int known = fstatat(from, old, &s, AT_SYMLINK_NOFOLLOW)==0;
  int code = next(from, old, to, new, flags);
  if( code==0 && known ) appleInvalidate(&s);
  return code;
}

int renameat(int from, const char *old, int to, const char *new){
  int (*next)(int, const char*, int, const char*) = dlsym(RTLD_NEXT, "renameat");
  struct stat moved, gone;
  int knowsMoved = fstatat(from, old, &moved, AT_SYMLINK_NOFOLLOW)==0;
  int knowsGone = fstatat(to, new, &gone, AT_SYMLINK_NOFOLLOW)==0;
  int code = next(from, old, to, new);
  if( code==0 && knowsMoved ) appleInvalidate(&moved);
  if( code==0 && knowsGone ) appleInvalidate(&gone);
  return code;
}

int unlinkat(int folder, const char *name, int flags){
  int (*next)(int, const char*, int) = dlsym(RTLD_NEXT, "unlinkat");
  struct stat s;
  int known = fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW)==0;
  int code = next(folder, name, flags);
  if( code==0 && known ) appleInvalidate(&s);
  return code;
}
