/* What joins where protected values count; see `with_sensitive_values.py`. */

enum { MOST_MEMBERS = 256, LOOKING = 500 };
enum { NEAR_INSERTED, NEAR_ASKED };

typedef struct {
    Forest forest;
    Classes classes;
    Tree tree;
    Query query;
    Int64 asking;
    Int64 found;
    Int64 far;
    Int64 at;
} Neighbours;

EXPORT i64 ask_some(const Neighbours *state, i64 amount) {
    i64 *at = state->at.at;
    const i64 classes = state->classes.key.rows, asking = state->asking.rows, most = state->found.columns;
    for (; amount > 0 && at[NEAR_INSERTED] < classes; amount--)
        insert(&state->tree, &state->forest, &state->classes, at[NEAR_INSERTED]++);
    for (; amount > 0 && at[NEAR_ASKED] < asking; amount -= LOOKING) {
        const i64 place = at[NEAR_ASKED]++;
        nearest(&state->tree, &state->forest, &state->classes, &state->query, state->asking.at[place], (i64)1 << 40,
                FARTHEST, ROW(state->found, place), ROW(state->far, place), most);
    }
    return at[NEAR_INSERTED] == classes && at[NEAR_ASKED] == asking;
}

/* The tuple of each donor that costs least where it moves to the class that asks, and that cost: asking x donors.

   `order` has the tuples class by class, `first` says where those of each class begin; only classes that `lends` do. */
EXPORT i64 closest_members(
    const Forest *forest, const Int32 *tuples, const Int64 *counts, const Int32 *nodes, const Int64 *sizes,
    const Int64 *order, const Int64 *first, const Int64 *asking, const Int64 *donors, const Mask *lends,
    const Int64 *found, const Int64 *cost
) {
    const i64 *detail = forest->detail.at, width = nodes->columns;
    for (i64 i = 0; i < asking->rows; i++) {
        const i32 *own = ROW(*nodes, asking->at[i]);
        const i64 size = sizes->at[asking->at[i]];
        for (i64 j = 0; j < donors->columns; j++) {
            const i64 donor = ROW(*donors, i)[j];
            if (donor < 0 || !lends->at[donor]) continue;
            const i64 members = first->at[donor + 1] - first->at[donor];
            if (members <= 1 || members > MOST_MEMBERS) continue;
            const i32 *its = ROW(*nodes, donor);
            for (i64 place = first->at[donor]; place < first->at[donor + 1]; place++) {
                const i64 member = order->at[place];
                i64 lost = 0;
                for (i64 a = 0; a < width; a++) {
                    const i64 after = detail[above(forest, own[a], ROW(*tuples, member)[a])];
                    lost += size * (detail[own[a]] - after) + counts->at[member] * (detail[its[a]] - after);
                }
                if (ROW(*found, i)[j] < 0 || lost < ROW(*cost, i)[j]) {
                    ROW(*found, i)[j] = member;
                    ROW(*cost, i)[j] = lost;
                }
            }
        }
    }
    return 0;
}
