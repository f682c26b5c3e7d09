/*
** A VFS before the default one: writes down what reaches the files of a database, and fails or ends the process where it is told to.
** Loaded as an extension it becomes the default, so that every connection opened afterwards goes through it. The WAL index (shared
** memory) and locks go through untouched. Loaded again it reads its settings anew. All of it is for one thread.
**
**   FAULTVFS_TRACE   a file that every operation is appended to, as records (see trace.ts); unset for none
**   FAULTVFS_FAIL    write, sync or truncate: fails such an operation ...
**   FAULTVFS_AT      ... the so-many-th from now on, from 1 ...
**   FAULTVFS_ERROR   ... with full, ioerr_write, ioerr_fsync or ioerr_truncate ...
**   FAULTVFS_STICKY  ... and, set to 1, every one after it
**   FAULTVFS_CRASH   before or half: _exit(137) at the FAULTVFS_AT-th operation of any kind, before it or after half of a write
*/
#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT1
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define NAMES_MAX 64
enum { OPEN = 1, WRITE, TRUNCATE, SYNC, DELETE, FAILED };
enum { NO_CRASH, CRASH_BEFORE, CRASH_HALF };

typedef struct FaultFile {
  sqlite3_file base;
  int id; /* 0: not traced, as a temporary file */
  sqlite3_file *real;
} FaultFile;

/* As trace.ts reads it; little-endian, which all machines are that this runs on. */
typedef struct Record {
  uint8_t kind;
  uint8_t failed;
  uint16_t file;
  uint32_t length; /* of the bytes that follow */
  int64_t number;  /* offset, size or flags */
} Record;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs fault_vfs;
static sqlite3_io_methods methods[4];
static char *names[NAMES_MAX];
static int name_count;

static int trace = -1;
static int fail_kind;
static int fail_error;
static int sticky;
static int crash;
static long at;
static long count;

static void append(int kind, int file, int64_t number, const void *data, int length, int failed) {
  if (trace < 0) return;
  Record record = {(uint8_t)kind, (uint8_t)failed, (uint16_t)file, (uint32_t)length, number};
  struct iovec parts[2] = {{&record, sizeof record}, {(void *)data, (size_t)length}};
  /* A trace that is cut short proves nothing. */
  if (writev(trace, parts, length > 0 ? 2 : 1) != (ssize_t)sizeof record + length) _exit(99);
}

/* The error that an operation is to fail with, or SQLITE_OK; at a crash it does not return. */
static int meet(FaultFile *file, int kind, const void *data, int amount, sqlite3_int64 offset) {
  if (file->id == 0) return SQLITE_OK;
  if (crash != NO_CRASH && ++count == at) {
    if (crash == CRASH_HALF && kind == WRITE) {
      file->real->pMethods->xWrite(file->real, data, amount / 2, offset);
      append(WRITE, file->id, offset, data, amount / 2, 0);
    }
    _exit(137);
  }
  if (fail_kind != kind) return SQLITE_OK;
  count++;
  if (count != at && !(sticky && count > at)) return SQLITE_OK;
  append(FAILED, file->id, kind, 0, 0, 1);
  return fail_error;
}

static int fault_write(sqlite3_file *given, const void *data, int amount, sqlite3_int64 offset) {
  FaultFile *file = (FaultFile *)given;
  int rc = meet(file, WRITE, data, amount, offset);
  if (rc == SQLITE_OK) {
    rc = file->real->pMethods->xWrite(file->real, data, amount, offset);
    if (file->id) append(WRITE, file->id, offset, data, amount, rc != SQLITE_OK);
  }
  return rc;
}

static int fault_truncate(sqlite3_file *given, sqlite3_int64 size) {
  FaultFile *file = (FaultFile *)given;
  int rc = meet(file, TRUNCATE, 0, 0, 0);
  if (rc == SQLITE_OK) {
    rc = file->real->pMethods->xTruncate(file->real, size);
    if (file->id) append(TRUNCATE, file->id, size, 0, 0, rc != SQLITE_OK);
  }
  return rc;
}

static int fault_sync(sqlite3_file *given, int flags) {
  FaultFile *file = (FaultFile *)given;
  int rc = meet(file, SYNC, 0, 0, 0);
  if (rc == SQLITE_OK) {
    rc = file->real->pMethods->xSync(file->real, flags);
    if (file->id) append(SYNC, file->id, flags, 0, 0, rc != SQLITE_OK);
  }
  return rc;
}

#define REAL(call) \
  FaultFile *file = (FaultFile *)given; \
  return file->real->pMethods->call

static int fault_close(sqlite3_file *given) { REAL(xClose)(file->real); }
static int fault_read(sqlite3_file *given, void *data, int amount, sqlite3_int64 offset) { REAL(xRead)(file->real, data, amount, offset); }
static int fault_size(sqlite3_file *given, sqlite3_int64 *size) { REAL(xFileSize)(file->real, size); }
static int fault_lock(sqlite3_file *given, int lock) { REAL(xLock)(file->real, lock); }
static int fault_unlock(sqlite3_file *given, int lock) { REAL(xUnlock)(file->real, lock); }
static int fault_reserved(sqlite3_file *given, int *held) { REAL(xCheckReservedLock)(file->real, held); }
static int fault_control(sqlite3_file *given, int op, void *value) { REAL(xFileControl)(file->real, op, value); }
static int fault_sector(sqlite3_file *given) { REAL(xSectorSize)(file->real); }
static int fault_traits(sqlite3_file *given) { REAL(xDeviceCharacteristics)(file->real); }
static int fault_shm_map(sqlite3_file *given, int page, int size, int extend, void volatile **at_page) {
  REAL(xShmMap)(file->real, page, size, extend, at_page);
}
static int fault_shm_lock(sqlite3_file *given, int offset, int n, int flags) { REAL(xShmLock)(file->real, offset, n, flags); }
static void fault_shm_barrier(sqlite3_file *given) {
  FaultFile *file = (FaultFile *)given;
  file->real->pMethods->xShmBarrier(file->real);
}
static int fault_shm_unmap(sqlite3_file *given, int remove) { REAL(xShmUnmap)(file->real, remove); }
static int fault_fetch(sqlite3_file *given, sqlite3_int64 offset, int amount, void **data) { REAL(xFetch)(file->real, offset, amount, data); }
static int fault_unfetch(sqlite3_file *given, sqlite3_int64 offset, void *data) { REAL(xUnfetch)(file->real, offset, data); }

/* The same name is the same number: files are told apart by their names, as the replay's folder does. */
static int id_of(const char *name) {
  const char *slash = strrchr(name, '/');
  const char *base = slash ? slash + 1 : name;
  for (int id = 0; id < name_count; id++)
    if (strcmp(names[id], base) == 0) return id + 1;
  if (name_count == NAMES_MAX) _exit(98);
  names[name_count++] = strdup(base);
  return name_count;
}

static void append_name(int kind, const char *name, int64_t number) {
  int id = id_of(name);
  append(kind, id, number, names[id - 1], (int)strlen(names[id - 1]), 0);
}

static int fault_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *given, int flags, int *out) {
  (void)vfs;
  FaultFile *file = (FaultFile *)given;
  file->base.pMethods = 0;
  file->real = (sqlite3_file *)(file + 1);
  file->id = 0;
  int rc = real_vfs->xOpen(real_vfs, name, file->real, flags, out);
  if (rc != SQLITE_OK || file->real->pMethods == 0) return rc;
  /* Of version 1 to 3, as the real one. */
  file->base.pMethods = &methods[file->real->pMethods->iVersion];
  if (name && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) && !(flags & SQLITE_OPEN_DELETEONCLOSE)) {
    file->id = id_of(name);
    append_name(OPEN, name, flags);
  }
  return rc;
}

static int fault_delete(sqlite3_vfs *vfs, const char *name, int sync_folder) {
  (void)vfs;
  int rc = real_vfs->xDelete(real_vfs, name, sync_folder);
  if (rc == SQLITE_OK) append_name(DELETE, name, sync_folder);
  return rc;
}

/* The salts of journals and logs: the same in every run, so that a run can be had again. */
static int fault_randomness(sqlite3_vfs *vfs, int amount, char *out) {
  (void)vfs;
  memset(out, 0x5a, (size_t)amount);
  return amount;
}

static int numbered(const char *name, const char *const *choices, const int *values) {
  const char *set = getenv(name);
  for (int n = 0; set && choices[n]; n++)
    if (strcmp(set, choices[n]) == 0) return values[n];
  return 0;
}

static void configure(void) {
  static const char *const kinds[] = {"write", "sync", "truncate", 0};
  static const int kind_values[] = {WRITE, SYNC, TRUNCATE};
  static const char *const errors[] = {"full", "ioerr_write", "ioerr_fsync", "ioerr_truncate", 0};
  static const int error_values[] = {SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE};
  static const char *const crashes[] = {"before", "half", 0};
  static const int crash_values[] = {CRASH_BEFORE, CRASH_HALF};
  const char *path = getenv("FAULTVFS_TRACE");
  const char *number = getenv("FAULTVFS_AT");
  if (trace >= 0) close(trace);
  trace = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (path && *path && trace < 0) _exit(97);
  fail_kind = numbered("FAULTVFS_FAIL", kinds, kind_values);
  fail_error = numbered("FAULTVFS_ERROR", errors, error_values);
  sticky = getenv("FAULTVFS_STICKY") && atoi(getenv("FAULTVFS_STICKY"));
  crash = numbered("FAULTVFS_CRASH", crashes, crash_values);
  at = number ? atol(number) : 0;
  count = 0;
}

static void prepare_methods(void) {
  for (int version = 1; version <= 3; version++) {
    sqlite3_io_methods io = {
      version,       fault_close,    fault_read,    fault_write,     fault_truncate, fault_sync,    fault_size,
      fault_lock,    fault_unlock,   fault_reserved, fault_control,  fault_sector,   fault_traits,  fault_shm_map,
      fault_shm_lock, fault_shm_barrier, fault_shm_unmap, fault_fetch, fault_unfetch,
    };
    methods[version] = io;
  }
}

int sqlite3_faultvfs_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  (void)db;
  (void)error;
  SQLITE_EXTENSION_INIT2(api);
  configure();
  if (real_vfs == 0) {
    real_vfs = sqlite3_vfs_find(0);
    prepare_methods();
    fault_vfs = *real_vfs;
    fault_vfs.zName = "fault";
    fault_vfs.szOsFile += (int)sizeof(FaultFile);
    fault_vfs.pNext = 0;
    fault_vfs.xOpen = fault_open;
    fault_vfs.xDelete = fault_delete;
    fault_vfs.xRandomness = fault_randomness;
    int rc = sqlite3_vfs_register(&fault_vfs, 1);
    if (rc != SQLITE_OK) return rc;
  }
  /* Begins anew, from the above. */
  sqlite3_randomness(0, 0);
  return SQLITE_OK_LOAD_PERMANENTLY;
}
