/* The exchange of the method "cover"; see `exchange.py`. */

enum { SWEPT_INSERTED, SWEPT_PART, SWEPT_USED, SWEPT_LOOKED };

typedef struct {
    Forest forest;
    i64 least_size;
    i64 crowding;
    i64 moves;
    i64 leaves;
    Int32 tuples;
    Classes classes;
    Tree tree;
    Int64 size;
    Int64 detail;
    Int64 parts;
    Int64 targets;
    Int32 stack;
    Int64 at;
} Sweep;

/* Whether every value of a tuple lies at or below that of a class. */
static bool has_values(const i32 *row, const i32 *end, const i32 *values, i64 width) {
    for (i64 a = 0; a < width; a++)
        if (values[a] < row[a] || values[a] >= end[row[a]]) return false;
    return true;
}

/* The class with all of a tuple's values that records should move to, -1 if no move improves the objective. */
static i64 best_class(const Sweep *state, const i32 *values, i64 home, i64 records) {
    const i64 *size = state->size.at, *detail = state->detail.at, own = state->leaves ? -1 : detail[home];
    const i32 *end = state->forest.end.at;
    i32 *stack = state->stack.at;
    i64 best = 0, chosen = -1, looked = 0, height = 1;
    stack[0] = 0;
    while (height) {
        const i32 *links = links_of(&state->tree, stack[--height]);
        const i32 a = links[ATTRIBUTE];
        looked++;
        if (a >= 0) {
            for (i32 child = links[FIRST]; child >= 0; child = links_of(&state->tree, child)[SIBLING]) {
                const i32 *its = links_of(&state->tree, child), value = its[VALUE];
                if (its[FILLED] && (its[KIND] == OTHER || (value <= values[a] && values[a] < end[value])))
                    stack[height++] = child;
            }
            continue;
        }
        looked += links[FILLED];
        for (i64 other = links[FIRST]; other >= 0; other = *next_of(&state->classes, other)) {
            const i64 gain = records * (detail[other] - own) -
                             2 * state->crowding * records * (size[other] + records - size[home]);
            const bool better = gain > best || (gain == best && other < chosen); /* of equally good ones the first */
            if (better && other != home &&
                has_values(ROW(state->classes.rows, other), end, values, state->tuples.columns)) {
                best = gain;
                chosen = other;
            }
        }
    }
    state->at.at[SWEPT_LOOKED] += looked;
    return chosen;
}

/* Move records of a part to its target. */
static void move_records(const Sweep *state, i64 part, i64 records) {
    i64 *row = ROW(state->parts, part), target = state->targets.at[part];
    state->size.at[row[1]] -= records;
    state->size.at[target] += records;
    if (records == row[2]) {
        row[1] = target;
        return;
    }
    i64 *more = ROW(state->parts, state->at.at[SWEPT_USED]++);
    row[2] -= records;
    more[0] = row[0];
    more[1] = target;
    more[2] = records;
}

EXPORT i64 sweep_some(const Sweep *state, i64 amount) {
    i64 *at = state->at.at;
    const i64 until = at[SWEPT_LOOKED] + amount;
    while (at[SWEPT_LOOKED] < until) {
        at[SWEPT_LOOKED]++;
        if (at[SWEPT_INSERTED] < state->size.rows) {
            insert(&state->tree, &state->forest, &state->classes, at[SWEPT_INSERTED]++);
            continue;
        }
        const i64 part = at[SWEPT_PART];
        if (part == state->targets.rows) return true;
        const i64 *row = ROW(state->parts, part);
        i64 records = row[2];
        if (state->moves) records = smaller(records, state->size.at[row[1]] - state->least_size);
        if (records > 0) {
            state->targets.at[part] = best_class(state, ROW(state->tuples, row[0]), row[1], records);
            if (state->moves && state->targets.at[part] >= 0) move_records(state, part, records);
        }
        at[SWEPT_PART]++;
    }
    return false;
}
