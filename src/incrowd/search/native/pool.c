/* A pool of records that are gathered into classes anew: what is known of them; see `pool.py`. */

enum { PARTS, CLUSTERS, SHARES, LOOKS, START, WAITING, FRESH };
enum { QUARTERS = 4 }; /* of a whole, in which a growing cluster is thrifty */

typedef struct {
    Int64 row;
    Int64 detail;
} Meeting;

typedef struct {
    Int32 mark;
    Int64 tuples;
    Int64 records;
    Int64 left;
    Int64 order;
    Int64 held;
    Int64 worth;
    Int64 score;
    Int32 rows;
    Int32 columns;
    Int64 shared;
    Int32 nodes;
    Int64 size;
    Int64 detail;
    Int64 head;
    Int64 among;
    Int64 rank;
    Int64 share_part;
    Int64 share_records;
    Int64 share_after;
    Int32 trial;
    Int64 bases;
    Meeting meeting;
    Int64 at;
} Pool;

static inline i64 width_of(const Pool *pool) { return pool->rows.columns; }

static inline i32 *values_of(const Pool *pool, i64 share) { return ROW(pool->rows, pool->share_part.at[share]); }

static inline bool is_fresh(const Pool *pool, i64 cluster) { return pool->rank.at[cluster] < pool->at.at[FRESH]; }

static inline bool lies_below(const Forest *forest, i32 value, i32 node) {
    return node <= value && value < forest->end.at[node];
}

/* What all clusters cost: the detail that they hold less counts less, their sizes squared count more. */
EXPORT i64 pool_cost(const Pool *pool, i64 crowding) {
    i64 cost = 0;
    for (i64 c = 0; c < pool->at.at[CLUSTERS]; c++)
        cost += pool->size.at[c] * (crowding * pool->size.at[c] - pool->detail.at[c]);
    return cost;
}

static inline void hang(const Pool *pool, i64 cluster, i64 share) {
    pool->share_after.at[share] = pool->head.at[cluster];
    pool->head.at[cluster] = share;
}

/* Give a cluster some of the records that a part has left. */
EXPORT i64 give(const Pool *pool, i64 cluster, i64 part, i64 amount) {
    const i64 share = pool->at.at[SHARES]++;
    pool->share_part.at[share] = part;
    pool->share_records.at[share] = amount;
    hang(pool, cluster, share);
    pool->left.at[part] -= amount;
    pool->size.at[cluster] += amount;
    return share;
}

static i64 detail_of(const Pool *pool, const Forest *forest, const i32 *nodes) {
    i64 held = 0;
    for (i64 a = 0; a < width_of(pool); a++) held += forest->detail.at[nodes[a]];
    return held;
}

/* Note the detail that a cluster holds. */
EXPORT i64 weigh(const Pool *pool, const Forest *forest, i64 cluster) {
    return pool->detail.at[cluster] = detail_of(pool, forest, ROW(pool->nodes, cluster));
}

/* The cluster that records of a tuple join at the least cost, below a limit, and that cost; -1 if there is none.

   The first ones of `among` are looked at, except the cluster `but`. The cost is what the cluster loses of its detail,
   less the detail that the records keep, and what sizes cost. */
static i64 cheapest(
    const Pool *pool, const Forest *forest, const i32 *row, i64 amount, i64 crowding, i64 but, i64 limit, i64 among,
    i64 *cost
) {
    const i64 width = width_of(pool), *table = pool->meeting.detail.at;
    i64 *bases = pool->bases.at, chosen = -1;
    *cost = limit;
    for (i64 a = 0; a < width; a++) bases[a] = pool->meeting.row.at[row[a]];
    for (i64 i = 0; i < among; i++) {
        const i64 c = pool->among.at[i], size = pool->size.at[c];
        if (c == but || size == 0) continue;
        const i32 *nodes = ROW(pool->nodes, c);
        i64 held = 0;
        for (i64 a = 0; a < width; a++)
            held += bases[a] >= 0 ? table[bases[a] + nodes[a]] : forest->detail.at[above(forest, nodes[a], row[a])];
        const i64 its =
            size * (pool->detail.at[c] - held) - amount * held + crowding * amount * (2 * size + amount);
        if (its < *cost) {
            *cost = its;
            chosen = c;
        }
    }
    pool->at.at[LOOKS] += among * width;
    return chosen;
}

/* Make room in a cluster for the values of a tuple. */
static void make_room(const Pool *pool, const Forest *forest, const i32 *row, i64 cluster) {
    i32 *nodes = ROW(pool->nodes, cluster);
    for (i64 a = 0; a < width_of(pool); a++) nodes[a] = above(forest, nodes[a], row[a]);
    weigh(pool, forest, cluster);
}

/* Note that a cluster has changed. */
static void freshen(const Pool *pool, i64 cluster) {
    const i64 place = pool->rank.at[cluster], fresh = pool->at.at[FRESH];
    if (place < fresh) return;
    const i64 other = pool->among.at[fresh];
    pool->among.at[fresh] = cluster;
    pool->among.at[place] = other;
    pool->rank.at[cluster] = fresh;
    pool->rank.at[other] = place;
    pool->at.at[FRESH]++;
}

/* Let a share that is in no cluster any more join one. */
static void put_share(const Pool *pool, const Forest *forest, i64 share, i64 target) {
    hang(pool, target, share);
    pool->size.at[target] += pool->share_records.at[share];
    freshen(pool, target);
    make_room(pool, forest, values_of(pool, share), target);
}

/* Let a list of shares that are in no cluster any more join where each costs least, except one cluster. */
static void put_shares(const Pool *pool, const Forest *forest, i64 share, i64 crowding, i64 but) {
    while (share >= 0) {
        const i64 after = pool->share_after.at[share], amount = pool->share_records.at[share];
        i64 cost;
        const i64 target = cheapest(
            pool, forest, values_of(pool, share), amount, crowding, but, FARTHEST, pool->at.at[CLUSTERS], &cost
        );
        put_share(pool, forest, share, target);
        share = after;
    }
}

/* The closest common generalization of a cluster's shares, except one; its detail. */
static i64 draw_together(const Pool *pool, const Forest *forest, i64 cluster, i32 *nodes, i64 but) {
    const i64 width = width_of(pool);
    bool first = true;
    for (i64 one = pool->head.at[cluster]; one >= 0; one = pool->share_after.at[one]) {
        if (one == but) continue;
        const i32 *row = values_of(pool, one);
        for (i64 a = 0; a < width; a++) nodes[a] = first ? row[a] : above(forest, nodes[a], row[a]);
        first = false;
        pool->at.at[LOOKS] += width;
    }
    return detail_of(pool, forest, nodes);
}

/* Growing */

/* Look up the values of all parts, which wait to be taken; what they have does not count. */
static void list_parts(const Pool *pool, const Int32 *tuples) {
    for (i64 i = 0; i < pool->at.at[PARTS]; i++) {
        const i32 *row = ROW(*tuples, pool->tuples.at[i]);
        pool->order.at[i] = i;
        pool->left.at[i] = pool->records.at[i];
        pool->worth.at[i] = 0;
        for (i64 a = 0; a < width_of(pool); a++) {
            ROW(pool->rows, i)[a] = row[a];
            ROW(pool->columns, a)[i] = row[a];
        }
    }
    pool->at.at[WAITING] = pool->at.at[PARTS];
}

/* Compare what parts would keep with what they have; the best score. */
static i64 scored(const Pool *pool, i64 factor) {
    const i64 *held = pool->held.at, *worth = pool->worth.at;
    i64 *score = pool->score.at, best = -FARTHEST;
    for (i64 i = 0; i < pool->at.at[WAITING]; i++) {
        score[i] = factor * held[i] - worth[i];
        best = larger(best, score[i]);
    }
    return best;
}

/* List the parts that have records left, and the detail that each would keep in a cluster. */
static void compare(const Pool *pool, const Forest *forest, const i32 *nodes) {
    const i64 width = width_of(pool), *table = pool->meeting.detail.at;
    i64 *held = pool->held.at, some = 0;
    for (i64 i = 0; i < pool->at.at[WAITING]; i++) {
        const i64 part = pool->order.at[i];
        if (pool->left.at[part] <= 0) continue;
        pool->order.at[some] = part;
        pool->worth.at[some] = pool->worth.at[i];
        for (i64 a = 0; a < width; a++) ROW(pool->columns, a)[some] = ROW(pool->columns, a)[i];
        some++;
    }
    pool->at.at[WAITING] = some;
    memset(held, 0, some * sizeof(i64));
    for (i64 a = 0; a < width; a++) {
        const i64 base = pool->meeting.row.at[nodes[a]];
        const i32 *column = ROW(pool->columns, a);
        i64 *shared = ROW(pool->shared, a);
        for (i64 i = 0; i < some; i++) {
            const i64 common =
                base >= 0 ? table[base + column[i]] : forest->detail.at[above(forest, nodes[a], column[i])];
            shared[i] = common;
            held[i] += common;
        }
    }
    pool->at.at[LOOKS] += some * width;
}

/* The same after the cluster was generalized to a node: what lies outside of it shares as much as before. */
static void widen(const Pool *pool, const Forest *forest, i64 a, i32 node) {
    const i32 end = forest->end.at[node], *column = ROW(pool->columns, a);
    const i64 detail = forest->detail.at[node], waiting = pool->at.at[WAITING];
    i64 *shared = ROW(pool->shared, a), *held = pool->held.at;
    for (i64 i = 0; i < waiting; i++) {
        const i64 common = node <= column[i] && column[i] < end ? detail : shared[i];
        held[i] += common - shared[i];
        shared[i] = common;
    }
    pool->at.at[LOOKS] += waiting;
}

/* A new cluster around a part, with the best parts until it is good; how many records it has.

   The best are those that keep most detail compared to what they have. With `thrift`, in quarters, counts also what the
   records lose that are in the cluster already. */
static i64 grow(const Pool *pool, const Forest *forest, i64 least_size, i64 start, i64 thrift) {
    i64 *at = pool->at.at;
    const i64 cluster = at[CLUSTERS]++, width = width_of(pool);
    i32 *nodes = ROW(pool->nodes, cluster);
    i64 *size = pool->size.at + cluster;
    *size = 0;
    pool->head.at[cluster] = -1;
    pool->among.at[cluster] = pool->rank.at[cluster] = cluster;
    freshen(pool, cluster);
    memcpy(nodes, ROW(pool->rows, start), width * sizeof(i32));
    give(pool, cluster, start, smaller(pool->left.at[start], least_size));
    if (*size < least_size) compare(pool, forest, nodes);
    const i64 waiting = at[WAITING];
    i64 best = -FARTHEST, place = waiting;
    while (*size < least_size) {
        while (place < waiting && pool->score.at[place] != best) place++; /* the next one that is as good */
        if (place == waiting) {
            best = scored(pool, QUARTERS + thrift * *size);
            place = 0;
            continue;
        }
        const i64 chosen = pool->order.at[place];
        bool widened = false;
        for (i64 a = 0; a < width; a++) {
            const i32 node = above(forest, nodes[a], ROW(pool->rows, chosen)[a]);
            if (node == nodes[a]) continue;
            nodes[a] = node;
            widened = true;
            widen(pool, forest, a, node);
        }
        give(pool, cluster, chosen, smaller(pool->left.at[chosen], least_size - *size));
        if (pool->left.at[chosen] == 0) pool->worth.at[place] = FARTHEST;
        place = widened ? waiting : place + 1;
    }
    weigh(pool, forest, cluster);
    return *size;
}
