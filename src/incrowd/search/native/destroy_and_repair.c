/* Destroy and repair; see `destroy_and_repair.py`. */

enum { LIVE, CLASSES_LEFT, ENTRIES_LEFT, TRIES, KEPT, IDLE, BEGUN, LOOKED };
enum { SPARE_NODES = 4096, MOST_RECORDS = 4096 };
enum { GATHERED = 9, GATHERED_PARTS = 200 }; /* classes that are gathered anew at most, and their parts */
enum { AROUND = 32, AROUND_PARTS = 1200 }; /* the same where one is opened among them */
enum { DRAWS = 3 };                        /* classes drawn for a try; it begins in the one that has lost most */
enum { AGAIN = 2 };                        /* how often the records of a try are gathered, until that is better */
enum { COOLING = 400 };                    /* tries per class until it may not cost more any longer */
enum { LEAST_COOLING = 5000 };             /* tries that there are before in any case */
enum { WARMER = 25 }; /* it may cost what one record lost more at first, and again per this many that a class needs */
enum { SHARE = 1024, PATIENCE = 10 }; /* tries per class without success before it ends */
enum { WORK_OF_QUERY = 9000, WORK_OF_FOUND = 100 }; /* what a query counts, and each class that it finds */
enum { USUAL = 10000, WORK_OF_MORE = 5 }; /* values a query looks at for that at most, and what each more counts */

typedef struct {
    Int64 head;
    Int64 length;
    Int64 tuples;
    Int64 records;
    Int64 after;
} Members;

typedef struct {
    Forest forest;
    i64 least_size;
    i64 crowding;
    i64 everything;
    Int32 tuples;
    Classes classes;
    Tree tree;
    Query query;
    Int64 size;
    Int64 detail;
    Members members;
    Int64 live;
    Int64 place;
    Int64 free_classes;
    Int64 free_entries;
    Int64 near;
    Int64 found;
    Int64 far;
    Pool pool;
    UInt64 random;
    Int64 at;
} Recovery;

/* A random number from 0 up to a limit. */
static inline i64 draw_below(const Recovery *state, i64 limit) { return (i64)(draw(state->random) % (u64)limit); }

/* The classes of a try */

/* Put a class into the pool, as a cluster; equal tuples are one part there, and one share of the cluster. */
static void pour(const Recovery *state, i64 number) {
    const Pool *pool = &state->pool;
    const Members *members = &state->members;
    i64 *latest = pool->left.at;
    const i64 cluster = pool->at.at[CLUSTERS]++, first = pool->at.at[SHARES];
    pool->size.at[cluster] = state->size.at[number];
    pool->detail.at[cluster] = state->detail.at[number];
    pool->head.at[cluster] = -1;
    pool->among.at[cluster] = pool->rank.at[cluster] = cluster;
    memcpy(ROW(pool->nodes, cluster), ROW(state->classes.rows, number), state->tuples.columns * sizeof(i32));
    for (i64 entry = members->head.at[number]; entry >= 0; entry = members->after.at[entry]) {
        const i64 one = members->tuples.at[entry], records = members->records.at[entry];
        i64 part = pool->mark.at[one];
        if (part < 0) {
            part = pool->at.at[PARTS]++;
            pool->mark.at[one] = (i32)part;
            pool->tuples.at[part] = one;
            pool->records.at[part] = 0;
            latest[part] = -1;
        }
        pool->records.at[part] += records;
        if (latest[part] < first) {
            const i64 share = pool->at.at[SHARES]++;
            pool->share_part.at[share] = part;
            pool->share_records.at[share] = 0;
            latest[part] = share;
            hang(pool, cluster, share);
        }
        pool->share_records.at[latest[part]] += records;
    }
}

/* Choose the classes of a try, and put them into the pool; how many. They are the first of `near`. */
static i64 take_classes(const Recovery *state, i64 classes_at_most, i64 parts_at_most) {
    const Members *members = &state->members;
    const Classes *classes = &state->classes;
    const Pool *pool = &state->pool;
    i64 *at = state->at.at, *near = state->near.at, *found = state->found.at;
    i64 home = state->live.at[draw_below(state, at[LIVE])];
    for (i64 i = 1; i < DRAWS; i++) { /* where most is lost there is most to gain */
        const i64 other = state->live.at[draw_below(state, at[LIVE])];
        if (state->detail.at[other] < state->detail.at[home]) home = other;
    }
    if (members->length.at[home] > parts_at_most) return 0;
    i64 entry = members->head.at[home];
    for (i64 steps = draw_below(state, members->length.at[home]); steps; steps--) entry = members->after.at[entry];
    const i64 tuple = members->tuples.at[entry], last = classes->rows.rows - 1;
    memcpy(ROW(classes->rows, last), ROW(state->tuples, tuple), state->tuples.columns * sizeof(i32));
    const i64 most = 2 + draw_below(state, classes_at_most - 2);
    const i64 looked = nearest(&state->tree, &state->forest, classes, &state->query, last, (i64)1 << 40, FARTHEST,
                               found, state->far.at, most);
    at[LOOKED] += WORK_OF_QUERY + WORK_OF_FOUND * most + WORK_OF_MORE * larger(0, looked - USUAL);
    memset(pool->at.at, 0, pool->at.rows * sizeof(i64));
    pour(state, home);
    pool->at.at[START] = pool->mark.at[tuple];
    i64 number = 1, records = state->size.at[home];
    near[0] = home;
    for (i64 i = 0; i < most && found[i] >= 0; i++) {
        const i64 other = found[i], many = members->length.at[other];
        if (other == home || pool->at.at[PARTS] + many > parts_at_most) continue;
        if (pool->at.at[SHARES] + many > 2 * parts_at_most || records + state->size.at[other] > MOST_RECORDS) continue;
        pour(state, other);
        records += state->size.at[other];
        near[number++] = other;
    }
    for (i64 i = 0; i < pool->at.at[PARTS]; i++) pool->mark.at[pool->tuples.at[i]] = -1;
    return number;
}

/* Gathering */

/* Gather all parts of the pool into good clusters; whether that is of any use, otherwise it is left unfinished.

   It is not if all clusters cost more than `most` before they are improved. */
static bool gather(const Recovery *state, i64 most) {
    const Pool *pool = &state->pool;
    const Forest *forest = &state->forest;
    const i64 least_size = state->least_size, parts = pool->at.at[PARTS];
    i64 *at = pool->at.at, total = 0;
    memset(at + CLUSTERS, 0, (pool->at.rows - CLUSTERS) * sizeof(i64));
    list_parts(pool, &state->tuples);
    for (i64 i = 0; i < parts; i++) total += pool->records.at[i];
    while (total >= least_size && at[CLUSTERS] < pool->size.rows && at[SHARES] + 2 * parts < pool->share_part.rows) {
        i64 start = draw_below(state, parts);
        while (pool->left.at[start] == 0) start = start + 1 < parts ? start + 1 : 0;
        total -= grow(pool, forest, least_size, start, 0);
    }
    for (i64 i = 0; i < parts; i++) {
        const i64 amount = pool->left.at[i];
        if (!amount) continue;
        const i32 *row = ROW(pool->rows, i);
        i64 cost;
        const i64 cluster = cheapest(pool, forest, row, amount, state->crowding, -1, FARTHEST, at[CLUSTERS], &cost);
        give(pool, cluster, i, amount);
        make_room(pool, forest, row, cluster);
    }
    if (pool_cost(pool, state->crowding) > most) return false;
    improve(pool, forest, least_size, state->crowding);
    return true;
}

/* Opening */

/* Take what the new cluster has from the others, from those that have lost most first. */
static void take_records(const Pool *pool, i64 clusters) {
    i64 last = -1, last_detail = -FARTHEST;
    for (i64 i = 0; i < clusters; i++) {
        i64 chosen = -1, least = FARTHEST;
        for (i64 c = 0; c < clusters; c++) {
            const i64 detail = pool->detail.at[c];
            if ((detail > last_detail || (detail == last_detail && c > last)) && detail < least) {
                chosen = c;
                least = detail;
            }
        }
        last = chosen;
        last_detail = least;
        const i64 size = pool->size.at[chosen];
        i64 before = -1, after;
        for (i64 share = pool->head.at[chosen]; share >= 0; share = after) {
            const i64 part = pool->share_part.at[share];
            const i64 amount = smaller(pool->left.at[part], pool->share_records.at[share]);
            after = pool->share_after.at[share];
            pool->left.at[part] -= amount;
            pool->share_records.at[share] -= amount;
            pool->size.at[chosen] -= amount;
            if (pool->share_records.at[share] > 0)
                before = share;
            else if (before >= 0)
                pool->share_after.at[before] = after;
            else
                pool->head.at[chosen] = after;
        }
        if (pool->size.at[chosen] < size) freshen(pool, chosen);
    }
}

/* Whether the new cluster only took the place of another. */
static bool is_the_same(const Pool *pool, i64 clusters) {
    if (pool->at.at[FRESH] > 2) return false;
    for (i64 i = 0; i < pool->at.at[FRESH]; i++) {
        const i64 c = pool->among.at[i];
        if (c != clusters && pool->size.at[c] > 0) return false;
    }
    return true;
}

/* Draw clusters that gave something together, and dissolve those that are not good any more. */
static void mend(const Pool *pool, const Forest *forest, i64 least_size, i64 crowding, i64 clusters) {
    i64 away = -1;
    for (i64 i = 0; i < pool->at.at[FRESH]; i++) {
        const i64 c = pool->among.at[i];
        if (c == clusters) continue;
        if (pool->size.at[c] >= least_size) {
            pool->detail.at[c] = draw_together(pool, forest, c, ROW(pool->nodes, c), -1);
            continue;
        }
        i64 share = pool->head.at[c];
        pool->head.at[c] = -1;
        pool->size.at[c] = pool->detail.at[c] = 0;
        while (share >= 0) {
            const i64 after = pool->share_after.at[share];
            pool->share_after.at[share] = away;
            away = share;
            share = after;
        }
    }
    put_shares(pool, forest, away, crowding, -1);
}

/* Open one cluster more; whether that is of any use, otherwise the pool is left unfinished. `thrift` is that of `grow`. */
EXPORT i64 open_cluster(
    const Pool *pool, const Forest *forest, const Int32 *tuples, i64 least_size, i64 crowding, i64 thrift, i64 most
) {
    const i64 clusters = pool->at.at[CLUSTERS], parts = pool->at.at[PARTS];
    list_parts(pool, tuples);
    for (i64 i = 0; i < parts; i++) pool->worth.at[i] = FARTHEST;
    for (i64 c = 0; c < clusters; c++) /* what each part has, in the cluster where it has least */
        for (i64 share = pool->head.at[c]; share >= 0; share = pool->share_after.at[share]) {
            i64 *worth = pool->worth.at + pool->share_part.at[share];
            *worth = smaller(*worth, QUARTERS * pool->detail.at[c]);
        }
    pool->at.at[LOOKS] += parts * tuples->columns;
    grow(pool, forest, least_size, pool->at.at[START], thrift);
    for (i64 i = 0; i < parts; i++) /* what the others have to give */
        pool->left.at[i] = pool->records.at[i] - pool->left.at[i];
    take_records(pool, clusters);
    if (is_the_same(pool, clusters) || pool_cost(pool, crowding) > most) return false;
    mend(pool, forest, least_size, crowding, clusters);
    if (pool_cost(pool, crowding) > most) return false;
    improve(pool, forest, least_size, crowding);
    return true;
}

/* Keeping */

/* What it costs that clusters of the pool are one with classes outside of it. */
static i64 crowded(const Recovery *state, i64 taken) {
    const Pool *pool = &state->pool;
    i64 cost = 0;
    for (i64 i = 0; i < (state->crowding ? pool->at.at[FRESH] : 0); i++) {
        const i64 cluster = pool->among.at[i];
        if (pool->size.at[cluster] == 0) continue;
        i64 other = twin_of(&state->tree, &state->forest, &state->classes, ROW(pool->nodes, cluster));
        for (i64 j = 0; j < taken; j++)
            if (other == state->near.at[j]) other = -1;
        if (other >= 0) cost += 2 * state->crowding * pool->size.at[cluster] * state->size.at[other];
    }
    return cost;
}

/* A class out of a cluster of the pool; where sizes count, it is one with the class that has the same values. */
static void create(const Recovery *state, i64 cluster) {
    const Members *members = &state->members;
    const Pool *pool = &state->pool;
    const i32 *nodes = ROW(pool->nodes, cluster);
    i64 *at = state->at.at;
    i64 number = state->crowding ? twin_of(&state->tree, &state->forest, &state->classes, nodes) : -1;
    if (number < 0) {
        number = state->free_classes.at[--at[CLASSES_LEFT]];
        state->live.at[at[LIVE]] = number;
        state->place.at[number] = at[LIVE]++;
        state->size.at[number] = 0;
        state->detail.at[number] = pool->detail.at[cluster];
        memcpy(ROW(state->classes.rows, number), nodes, state->tuples.columns * sizeof(i32));
        insert(&state->tree, &state->forest, &state->classes, number);
        members->head.at[number] = -1;
        members->length.at[number] = 0;
    }
    state->size.at[number] += pool->size.at[cluster];
    for (i64 share = pool->head.at[cluster]; share >= 0; share = pool->share_after.at[share]) {
        const i64 entry = state->free_entries.at[--at[ENTRIES_LEFT]];
        members->tuples.at[entry] = pool->tuples.at[pool->share_part.at[share]];
        members->records.at[entry] = pool->share_records.at[share];
        members->after.at[entry] = members->head.at[number];
        members->head.at[number] = entry;
        members->length.at[number]++;
    }
}

/* Put what was made in the place of the classes that were taken, if there is room. */
static void replace(const Recovery *state, i64 taken, bool opens) {
    const Members *members = &state->members;
    const Pool *pool = &state->pool;
    i64 *at = state->at.at;
    if (pool->at.at[CLUSTERS] > at[CLASSES_LEFT] || pool->at.at[SHARES] > at[ENTRIES_LEFT]) return;
    for (i64 i = 0; i < taken; i++) {
        const i64 number = state->near.at[i];
        if (opens && !is_fresh(pool, i)) continue; /* it is still there as it was */
        at[KEPT]++;
        take_out(&state->tree, &state->classes, number);
        for (i64 entry = members->head.at[number]; entry >= 0; entry = members->after.at[entry])
            state->free_entries.at[at[ENTRIES_LEFT]++] = entry;
        const i64 moved = state->live.at[--at[LIVE]];
        state->live.at[state->place.at[number]] = moved;
        state->place.at[moved] = state->place.at[number];
        state->free_classes.at[at[CLASSES_LEFT]++] = number;
    }
    for (i64 cluster = 0; cluster < pool->at.at[CLUSTERS]; cluster++)
        if (pool->size.at[cluster] > 0 && is_fresh(pool, cluster)) create(state, cluster);
}

/* Take some classes, make them anew, and keep that if it costs less, or little more. */
static void try_once(const Recovery *state, i64 allowed) {
    const Pool *pool = &state->pool;
    const i64 needed = state->least_size;
    i64 *at = state->at.at;
    at[IDLE]++;
    const bool opens = draw_below(state, 2) == 1;
    const i64 number = take_classes(state, opens ? AROUND : GATHERED, opens ? AROUND_PARTS : GATHERED_PARTS);
    if (number < 2) return;
    i64 before = 0, records = 0;
    for (i64 i = 0; i < number; i++) {
        const i64 size = state->size.at[state->near.at[i]];
        before += size * (state->crowding * size - state->detail.at[state->near.at[i]]);
        records += size;
    }
    const i64 lost = larger(0, floored(before, records) + state->everything); /* by one of the records */
    const i64 limit = before + floored(lost * allowed, SHARE) * (1 + needed / WARMER);
    const i64 hopeless = before + floored(lost * needed * (opens ? 1 : 3), 2);
    for (i64 i = 0; i < (opens ? 1 : AGAIN); i++) {
        const bool useful = opens ? open_cluster(pool, &state->forest, &state->tuples, needed, state->crowding,
                                                 draw_below(state, QUARTERS + 1), hopeless)
                                  : gather(state, hopeless);
        at[LOOKED] += pool->at.at[LOOKS];
        const i64 after = pool_cost(pool, state->crowding) + crowded(state, number);
        if (useful && after <= limit) { /* an equal one too: it may lead on */
            if (after < before) at[IDLE] = 0;
            replace(state, number, opens);
            break;
        }
    }
}

/* Go on until this many more values were looked at; whether all is done. */
EXPORT i64 recover_some(const Recovery *state, i64 work, i64 amount) {
    const Tree *tree = &state->tree;
    i64 *at = state->at.at;
    const i64 until = at[LOOKED] + amount;
    for (; !at[BEGUN]; at[BEGUN] = true)
        for (i64 i = 0; i < at[LIVE]; i++) insert(tree, &state->forest, &state->classes, state->live.at[i]);
    while (at[LOOKED] < until) {
        const i64 tries = LEAST_COOLING + COOLING * at[LIVE];
        /* how much more than before a try may cost, in 1024ths of what it may at first */
        const i64 by_work = SHARE - floored(SHARE * at[LOOKED], work), by_tries = SHARE - SHARE * at[TRIES] / tries;
        const i64 allowed = larger(0, smaller(by_work, by_tries));
        if (at[LOOKED] >= work || at[LIVE] < 2 || (allowed == 0 && at[IDLE] > PATIENCE * at[LIVE])) return true;
        if (tree->used.at[0] + SPARE_NODES > tree->links.rows) { /* its nodes are never given back one by one */
            reset(tree);
            for (i64 i = 0; i < at[LIVE]; i++) insert(tree, &state->forest, &state->classes, state->live.at[i]);
            at[LOOKED] += 100 * at[LIVE];
        }
        try_once(state, allowed);
        at[TRIES]++;
    }
    return false;
}
