/* A round of the method "cover"; see `rounds.py`. */

typedef struct {
    UInt64 hashes;
    Int64 first;
    Int64 rounds;
    Int64 heights;
} Levels;

typedef struct {
    Levels levels;
    UInt32 codes;
    UInt64 base;
    UInt64 raised;
    Int64 counts;
    i64 least_size;
    Int64 buckets;
    Int64 left;
    UInt64 keys;
    Int64 picked;
    Int64 groups;
    Int64 sizes;
    UInt64 key;
    Int64 number;
    Int64 seen;
} Covering;

/* The keys of the tuples that are left: what the attributes above their lowest level add to those at the lowest. */
static void find_keys(const Covering *state, i64 number, i64 waiting) {
    const i64 *choice = ROW(state->levels.rounds, number), *left = state->left.at;
    u64 *keys = state->keys.at;
    for (i64 i = 0; i < waiting; i++) keys[i] = state->base.at[left[i]];
    for (i64 a = 0; a < state->levels.rounds.columns; a++) {
        if (!choice[a]) continue;
        const u64 *above_it = state->raised.at + ROW(state->levels.first, a)[choice[a]];
        const uint32_t *column = ROW(state->codes, a);
        for (i64 i = 0; i < waiting; i++) keys[i] += above_it[column[left[i]]];
    }
}

/* Pick the tuples that are left whose group may be good in a round, and count these groups; how many tuples. */
EXPORT i64 pick_groups(const Covering *state, i64 number, i64 waiting) {
    const i64 *counts = state->counts.at, *left = state->left.at, least_size = state->least_size;
    const u64 *keys = state->keys.at;
    i64 *buckets = state->buckets.at, *seen = state->seen.at, *number_of = state->number.at, *sizes = state->sizes.at;
    u64 *key_of = state->key.at;
    find_keys(state, number, waiting);
    int shift = 60;
    while ((u64)1 << (64 - shift) < (u64)(2 * waiting)) shift--;
    memset(buckets, 0, ((u64)1 << (64 - shift)) * sizeof(i64));
    for (i64 i = 0; i < waiting; i++) buckets[keys[i] >> shift] += counts[left[i]];
    const u64 last = (u64)state->seen.rows - 1;
    i64 picked = 0, groups = 0;
    for (i64 i = 0; i < waiting; i++) {
        const u64 key = keys[i];
        if (buckets[key >> shift] < least_size) continue;
        u64 place = key & last;
        while (seen[place] == number && key_of[place] != key) place = (place + 1) & last;
        if (seen[place] != number) {
            seen[place] = number;
            key_of[place] = key;
            number_of[place] = groups;
            sizes[groups++] = 0;
        }
        sizes[number_of[place]] += counts[left[i]];
        state->picked.at[picked] = left[i];
        state->groups.at[picked++] = number_of[place];
    }
    return picked;
}
