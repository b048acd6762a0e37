/* The loop of KACA1; see `agglomeration.py`. */

enum { JOINED_INSERTED, JOINED_WAITING };
enum { JOINING = 500 };

typedef struct {
    Int64 head;
    Int64 tail;
    Int64 tuples;
    Int64 records;
    Int64 after;
    Int64 used;
} Chains;

typedef struct {
    Int64 numbers;
    Int64 place;
} Small;

typedef struct {
    Forest forest;
    i64 least_size;
    i64 looks;
    Classes classes;
    Chains members;
    Tree tree;
    Query query;
    Int64 found;
    Int64 far;
    Small small;
    UInt64 random;
    Int64 at;
} Clustering;

/* Put a class into the tree, and among the small ones if it is one. */
static void add_class(const Clustering *state, i64 number) {
    const Classes *classes = &state->classes;
    classes->key.at[number] = draw(state->random);
    insert(&state->tree, &state->forest, classes, number);
    if (*size_of(classes, number) < state->least_size) {
        const i64 waiting = state->at.at[JOINED_WAITING]++;
        state->small.numbers.at[waiting] = number;
        state->small.place.at[number] = waiting;
    }
}

static void forget(const Small *small, i64 number, i64 *at) {
    const i64 last = small->numbers.at[--at[JOINED_WAITING]];
    small->numbers.at[small->place.at[number]] = last;
    small->place.at[last] = small->place.at[number];
    small->place.at[number] = -1;
}

/* Move records from the front of one class's members to the end of another's. */
static void take_members(const Chains *members, i64 number, i64 other, i64 wanted) {
    while (wanted) {
        i64 entry = members->head.at[other];
        if (members->records.at[entry] <= wanted) {
            members->head.at[other] = members->after.at[entry];
        } else {
            const i64 rest = entry;
            entry = members->used.at[0]++;
            members->tuples.at[entry] = members->tuples.at[rest];
            members->records.at[entry] = wanted;
            members->records.at[rest] -= wanted;
        }
        members->after.at[entry] = -1;
        members->after.at[members->tail.at[number]] = entry;
        members->tail.at[number] = entry;
        wanted -= members->records.at[entry];
    }
}

/* One step of KACA1: a small class takes its nearest, or a stub of it. */
static void join_nearest(const Clustering *state) {
    const Classes *classes = &state->classes;
    const Small *small = &state->small;
    const i64 least_size = state->least_size, width = classes->rows.columns - 2;
    i64 *at = state->at.at;
    const i64 number = small->numbers.at[draw(state->random) % (u64)at[JOINED_WAITING]];
    forget(small, number, at);
    nearest(&state->tree, &state->forest, classes, &state->query, number, least_size, state->looks, state->found.at,
            state->far.at, 1);
    const i64 other = state->found.at[0];
    take_out(&state->tree, classes, number);
    i32 *size = size_of(classes, number), *its_size = size_of(classes, other);
    i64 taken = *its_size;
    if ((i64)*size + *its_size >= 2 * least_size) {
        taken = least_size - *size;
    } else {
        take_out(&state->tree, classes, other);
        if (small->place.at[other] >= 0) forget(small, other, at);
    }
    take_members(&state->members, number, other, taken);
    *size += (i32)taken;
    *its_size -= (i32)taken;
    i32 *row = ROW(classes->rows, number), *its_row = ROW(classes->rows, other);
    for (i64 a = 0; a < width; a++) row[a] = above(&state->forest, row[a], its_row[a]);
    add_class(state, number);
}

EXPORT i64 agglomerate_some(const Clustering *state, i64 amount) {
    i64 *at = state->at.at;
    const i64 classes = state->small.place.rows;
    for (; amount > 0 && at[JOINED_INSERTED] < classes; amount--) add_class(state, at[JOINED_INSERTED]++);
    for (; amount > 0 && at[JOINED_WAITING]; amount -= JOINING) join_nearest(state);
    return at[JOINED_INSERTED] == classes && at[JOINED_WAITING] == 0;
}

/* Tuple, class and records of each entry of some lists, class by class: 3 x entries; how many they are. */
EXPORT i64 list_members(
    const Int64 *heads, const Int64 *tuples, const Int64 *records, const Int64 *after, const Int64 *parts
) {
    i64 size = 0;
    for (i64 number = 0; number < heads->rows; number++)
        for (i64 entry = heads->at[number]; entry >= 0; entry = after->at[entry], size++) {
            ROW(*parts, 0)[size] = tuples->at[entry];
            ROW(*parts, 1)[size] = number;
            ROW(*parts, 2)[size] = records->at[entry];
        }
    return size;
}
