/* All kernels, as one unit: what is small is inlined where it is used. */

#include "arrays.h"

#include "class_index.c"

#include "agglomeration.c"
#include "exchange.c"
#include "rounds.c"
#include "with_sensitive_values.c"

#include "pool.c"

#include "boosting.c"
#include "improve.c"

#include "destroy_and_repair.c"
#include "optimal.c"
