/* A pool whose clusters improve; see `pool.py`.

   Where only some clusters have changed, the records of the others have nowhere new to go but to these. */

enum { PASSES = 2, MANY = 16 }; /* MANY shares of a cluster: one alone is not expected to hold it back */

/* The detail of a cluster without one of its shares; its nodes are in `trial` then.

   Of a cluster with many shares it is not worth the work: the others hold it where it is. */
static i64 without(const Pool *pool, const Forest *forest, i64 cluster, i64 share) {
    i64 many = 0;
    for (i64 one = pool->head.at[cluster]; one >= 0 && many < MANY; one = pool->share_after.at[one]) many++;
    if (many < MANY) return draw_together(pool, forest, cluster, pool->trial.at, share);
    memcpy(pool->trial.at, ROW(pool->nodes, cluster), width_of(pool) * sizeof(i32));
    return pool->detail.at[cluster];
}

/* Let a cluster have a share no more, or only the records of it that do not move; the share that moves. */
static i64 parted(const Pool *pool, i64 cluster, i64 before, i64 share, i64 amount) {
    pool->size.at[cluster] -= amount;
    if (amount < pool->share_records.at[share]) {
        const i64 some = pool->at.at[SHARES]++;
        pool->share_part.at[some] = pool->share_part.at[share];
        pool->share_records.at[some] = amount;
        pool->share_records.at[share] -= amount;
        return some;
    }
    if (before >= 0)
        pool->share_after.at[before] = pool->share_after.at[share];
    else
        pool->head.at[cluster] = pool->share_after.at[share];
    return share;
}

/* Move what clusters can spare of their shares to where it costs least; how many moved. */
EXPORT i64 relocate(const Pool *pool, const Forest *forest, i64 least_size, i64 crowding) {
    i64 *at = pool->at.at, moved = 0, cost;
    for (i64 cluster = 0; cluster < at[CLUSTERS]; cluster++) {
        i64 before = -1, after;
        for (i64 share = pool->head.at[cluster]; share >= 0; share = after) {
            after = pool->share_after.at[share];
            const i64 among = is_fresh(pool, cluster) ? at[CLUSTERS] : at[FRESH];
            const i64 size = pool->size.at[cluster], records = pool->share_records.at[share];
            const i64 amount = smaller(records, size - least_size), rest = size - amount;
            const bool whole = amount == records;
            i64 held = pool->detail.at[cluster], target = -1;
            if (amount > 0 && (whole || at[SHARES] < pool->share_part.rows)) {
                if (whole) held = without(pool, forest, cluster, share);
                const i64 saved =
                    rest * held - size * pool->detail.at[cluster] + crowding * (size * size - rest * rest);
                const i32 *row = values_of(pool, share);
                target = cheapest(pool, forest, row, amount, crowding, cluster, saved, among, &cost);
            }
            if (target < 0) {
                before = share;
                continue;
            }
            moved++;
            freshen(pool, cluster);
            if (whole) {
                memcpy(ROW(pool->nodes, cluster), pool->trial.at, width_of(pool) * sizeof(i32));
                pool->detail.at[cluster] = held;
            }
            put_share(pool, forest, parted(pool, cluster, before, share, amount), target);
            if (!whole) before = share;
        }
    }
    return moved;
}

/* The child of a cluster's value that more than half of its records lie below, if there is one; else any, or -1. */
static i32 leading(const Pool *pool, const Forest *forest, i64 cluster, i64 a) {
    const i32 node = ROW(pool->nodes, cluster)[a];
    i64 lead = 0;
    i32 child = -1;
    /* each record votes for its child, or against the one that leads */
    for (i64 share = pool->head.at[cluster]; share >= 0; share = pool->share_after.at[share]) {
        const i32 value = values_of(pool, share)[a];
        const i64 amount = pool->share_records.at[share];
        if (child >= 0 && lies_below(forest, value, child)) {
            lead += amount;
        } else if (lead >= amount) {
            lead -= amount;
        } else if (value != node) {
            lead = amount - lead;
            for (child = value; forest->parent.at[child] != node;) child = forest->parent.at[child];
        }
        pool->at.at[LOOKS]++;
    }
    return child;
}

/* Whether the records of a cluster that are not below a node cost less elsewhere than what the others gain. */
static bool pays(
    const Pool *pool, const Forest *forest, i64 least_size, i64 crowding, i64 cluster, i64 a, i32 child
) {
    const i64 size = pool->size.at[cluster], before = pool->detail.at[cluster], *detail = forest->detail.at;
    i64 out = 0;
    for (i64 share = pool->head.at[cluster]; share >= 0; share = pool->share_after.at[share])
        if (!lies_below(forest, values_of(pool, share)[a], child)) out += pool->share_records.at[share];
    if (out > size - least_size) return false;
    const i64 rest = size - out, held = before - detail[ROW(pool->nodes, cluster)[a]] + detail[child];
    i64 saved = rest * held - size * before + crowding * (size * size - rest * rest);
    for (i64 share = pool->head.at[cluster]; share >= 0; share = pool->share_after.at[share]) {
        const i32 *row = values_of(pool, share);
        const i64 amount = pool->share_records.at[share];
        if (lies_below(forest, row[a], child)) continue;
        i64 rise;
        if (cheapest(pool, forest, row, amount, crowding, cluster, FARTHEST, pool->at.at[CLUSTERS], &rise) < 0)
            return false;
        saved -= rise;
    }
    return saved > 0;
}

/* Let the records of a cluster that are not below a node join others, and draw it together. */
static void split_off(const Pool *pool, const Forest *forest, i64 crowding, i64 cluster, i64 a, i32 child) {
    i64 share = pool->head.at[cluster], away = -1;
    pool->head.at[cluster] = -1;
    pool->size.at[cluster] = 0;
    while (share >= 0) {
        const i64 after = pool->share_after.at[share];
        if (lies_below(forest, values_of(pool, share)[a], child)) {
            hang(pool, cluster, share);
            pool->size.at[cluster] += pool->share_records.at[share];
        } else {
            pool->share_after.at[share] = away;
            away = share;
        }
        share = after;
    }
    pool->detail.at[cluster] = draw_together(pool, forest, cluster, ROW(pool->nodes, cluster), -1);
    put_shares(pool, forest, away, crowding, cluster);
}

/* Keep the records below one child of a cluster's value only, where the others cost less elsewhere; how often. */
EXPORT i64 specialize(const Pool *pool, const Forest *forest, i64 least_size, i64 crowding) {
    i64 changed = 0;
    for (i64 cluster = 0; cluster < pool->at.at[CLUSTERS]; cluster++) {
        if (!is_fresh(pool, cluster)) continue;
        for (i64 a = 0; a < width_of(pool); a++) {
            const i32 node = ROW(pool->nodes, cluster)[a];
            if (pool->size.at[cluster] <= least_size || forest->end.at[node] <= node + 1) continue;
            const i32 child = leading(pool, forest, cluster, a);
            if (child >= 0 && pays(pool, forest, least_size, crowding, cluster, a, child)) {
                split_off(pool, forest, crowding, cluster, a, child);
                changed++;
            }
        }
    }
    return changed;
}

/* Clusters with the same values are one. */
static void unite(const Pool *pool) {
    for (i64 c = 0; c < pool->at.at[CLUSTERS]; c++) {
        if (pool->size.at[c] == 0) continue;
        for (i64 other = c + 1; other < pool->at.at[CLUSTERS]; other++) {
            if (pool->size.at[other] == 0 || pool->detail.at[other] != pool->detail.at[c]) continue;
            if (memcmp(ROW(pool->nodes, c), ROW(pool->nodes, other), width_of(pool) * sizeof(i32)) != 0) continue;
            i64 share = pool->head.at[other];
            while (pool->share_after.at[share] >= 0) share = pool->share_after.at[share];
            hang(pool, c, share);
            pool->head.at[c] = pool->head.at[other];
            pool->size.at[c] += pool->size.at[other];
            freshen(pool, c);
            freshen(pool, other);
            pool->size.at[other] = pool->detail.at[other] = 0;
            pool->head.at[other] = -1;
        }
    }
}

/* Improve the clusters that have changed, and what can be better in them than before. */
static void improve(const Pool *pool, const Forest *forest, i64 least_size, i64 crowding) {
    for (i64 pass = 0; pass < PASSES; pass++) {
        const i64 moved = relocate(pool, forest, least_size, crowding);
        if (!(moved + specialize(pool, forest, least_size, crowding))) break;
    }
    unite(pool);
}
