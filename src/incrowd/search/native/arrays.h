/* Arrays and hierarchies as Python hands them over (see `native.py`).

   An array is its first number and its shape; a named tuple is a struct of the same name with the same fields in the
   same order. Numbers and booleans are 64-bit integers. */

#ifndef INCROWD_ARRAYS
#define INCROWD_ARRAYS

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef int64_t i64;
typedef int32_t i32;
typedef uint64_t u64;

#define ARRAY(name, type) \
    typedef struct { \
        type *at; \
        i64 rows, columns; /* a list has one column */ \
    } name

ARRAY(Int32, int32_t);
ARRAY(UInt32, uint32_t);
ARRAY(Int64, int64_t);
ARRAY(UInt64, uint64_t);
ARRAY(Float64, double);
ARRAY(Mask, uint8_t);

#define ROW(array, row) ((array).at + (i64)(row) * (array).columns)

#define FARTHEST ((i64)1 << 62)

static inline i64 smaller(i64 one, i64 other) { return one < other ? one : other; }

static inline i64 larger(i64 one, i64 other) { return one > other ? one : other; }

/* What Python calls `//`, for a positive divisor. */
static inline i64 floored(i64 number, i64 divisor) {
    return number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor);
}

/* The hierarchies of all attributes: parent (-1 at roots), end of the descendants, and detail of each node. */
typedef struct {
    Int32 parent;
    Int32 end;
    Int64 detail;
} Forest;

/* The closest common ancestor of two nodes. */
static inline i32 above(const Forest *forest, i32 node, i32 other) {
    while (other < node || other >= forest->end.at[node]) node = forest->parent.at[node];
    return node;
}

/* The next number of SplitMix64. */
static inline u64 draw(UInt64 random) {
    u64 z = random.at[0] += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

#endif
