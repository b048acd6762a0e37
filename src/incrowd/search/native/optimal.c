/* The inner loops of the optimal searches: classes of a recoded table, and what they cost; see `kernels.py`. */

enum { DONE, MORE };
enum { REDUCING = 6 }; /* rounds of taking shares off the costs of blocks */
enum { COST_PARTS = 3 };

/* Number the classes of rows by hashing; labels are compared one by one, so no number of attributes is too large. */
EXPORT i64 group_rows(
    const Int64 *rows, const Int64 *weights, const Int64 *labels, const Int64 *offsets, const Int64 *of_row,
    const Int64 *firsts, const Int64 *sizes, const Int64 *slots
) {
    const i64 attributes = rows->columns, last = slots->rows - 1;
    i64 classes = 0;
    for (i64 row = 0; row < rows->rows; row++) {
        const i64 *values = ROW(*rows, row);
        u64 code = 0;
        for (i64 a = 0; a < attributes; a++)
            code = code * 0x9E3779B97F4A7C15u + (u64)(labels->at[offsets->at[a] + values[a]] + 1);
        code ^= code >> 29;
        code *= 0xBF58476D1CE4E5B9u;
        for (i64 slot = (i64)(code >> 32) & last;; slot = (slot + 1) & last) {
            const i64 found = slots->at[slot];
            if (found < 0) {
                slots->at[slot] = of_row->at[row] = classes;
                firsts->at[classes] = row;
                sizes->at[classes++] = weights->at[row];
                break;
            }
            const i64 *other = ROW(*rows, firsts->at[found]);
            i64 a = 0;
            while (a < attributes && labels->at[offsets->at[a] + values[a]] == labels->at[offsets->at[a] + other[a]]) a++;
            if (a == attributes) {
                sizes->at[found] += weights->at[row];
                of_row->at[row] = found;
                break;
            }
        }
    }
    memset(slots->at, 0xFF, slots->rows * sizeof(i64)); /* -1 everywhere */
    return classes;
}

/* Sum of penalties (attributes x positions) over the cells of records in released classes, 1 for the others.

   Returns how many others there are. */
EXPORT i64 cost_rows(
    const Int64 *rows, const Int64 *weights, const Int64 *of_row, const Mask *released, const Float64 *penalties,
    const Float64 *total
) {
    double cost = 0;
    i64 suppressed = 0;
    for (i64 row = 0; row < rows->rows; row++) {
        const double weight = (double)weights->at[row];
        double lost = 0;
        if (released->at[of_row->at[row]]) {
            for (i64 a = 0; a < rows->columns; a++) lost += ROW(*penalties, a)[ROW(*rows, row)[a]];
            cost += weight * lost;
        } else {
            suppressed += weights->at[row];
            cost += weight;
        }
    }
    total->at[0] = cost;
    return suppressed;
}

/* Add the columns of a matrix that go to the same column; -1 goes nowhere. */
EXPORT i64 collect_counts(const Int64 *amounts, const Int64 *column_of, const Int64 *sums) {
    for (i64 row = 0; row < amounts->rows; row++)
        for (i64 column = 0; column < column_of->rows; column++)
            if (column_of->at[column] >= 0)
                ROW(*sums, row)[column_of->at[column]] += ROW(*amounts, row)[column];
    return 0;
}

EXPORT i64 collect_costs(const Float64 *amounts, const Int64 *column_of, const Float64 *sums) {
    for (i64 row = 0; row < amounts->rows; row++)
        for (i64 column = 0; column < column_of->rows; column++)
            if (column_of->at[column] >= 0)
                ROW(*sums, row)[column_of->at[column]] += ROW(*amounts, row)[column];
    return 0;
}

typedef struct {
    Int64 walk;
    Int64 masks;
    Int64 apart;
    Float64 spans;
    i64 by_size;
    Int64 records;
    Int64 crowds;
    Float64 cells;
    Float64 totals;
    Float64 joined;
    i64 least;
    Float64 limits; /* what a suppressed record costs, and the slack */
    Int64 sizes;
    Int64 crowd;
    Float64 sums;
    Float64 paid;
    Int64 lines;
    Float64 costs;
    Int64 losses;
    Int64 place;
} Blocks;

/* Add up the sizes of classes, and to a cost what that adds for DM, as long as it is below slack. */
static double merge(const Blocks *state, i64 depth, i64 node, double cost, double slack) {
    const i64 *sizes = ROW(state->sizes, depth), *more = ROW(state->records, node), least = state->least;
    i64 *merged = ROW(state->sizes, depth + 1);
    for (i64 column = 0; column < state->records.columns && cost < slack; column++) {
        const i64 one = sizes[column], two = more[column], both = one + two;
        merged[column] = both;
        if (one && two)
            cost += (double)(both * larger(both, least) - one * larger(one, least) - two * larger(two, least));
    }
    return cost;
}

/* What a block costs besides: records that it suppresses because too few are alike, which are counted in `lost`. */
static double suppressing(const Blocks *state, i64 depth, i64 node, double span, double cost, i64 *lost) {
    const double penalty = state->limits.at[0];
    const i64 *before = ROW(state->crowd, depth), *more = ROW(state->crowds, node), least = state->least;
    i64 *crowd = ROW(state->crowd, depth + 1);
    const double *cells = ROW(state->cells, node), *up = ROW(state->sums, depth);
    double *sums = ROW(state->sums, depth + 1);
    for (i64 column = 0; column < state->crowds.columns; column++) {
        const i64 size = crowd[column] = before[column] + more[column];
        double *sum = sums + COST_PARTS * column;
        if (!state->by_size)
            for (i64 part = 0; part < COST_PARTS; part++)
                sum[part] = up[COST_PARTS * column + part] + cells[COST_PARTS * column + part];
        if (size <= 0 || size >= least) continue;
        *lost += size;
        if (state->by_size)
            cost += (double)size * (penalty - (double)larger(size, least));
        else
            cost += (double)size * penalty - sum[0] - (sum[1] * span - sum[2]);
    }
    return cost;
}

/* The blocks of one attribute that cost less than slack over what their values cost at least: DONE, or MORE if it is to
   be called again. */
EXPORT i64 cheap_blocks(const Blocks *state, i64 amount) {
    const double slack = state->limits.at[1];
    i64 line = state->place.at[0], count = state->place.at[1], answer = DONE;
    while (line < state->masks.rows) {
        if (amount <= 0) {
            answer = MORE;
            break;
        }
        const i64 *step = ROW(state->walk, line), depth = step[0], node = step[1];
        amount--;
        if (state->apart.at[node] & state->masks.at[line]) {
            line = step[2];
            continue;
        }
        const double *paid = ROW(state->paid, depth), span = state->spans.at[line];
        double *deeper = ROW(state->paid, depth + 1), cost;
        if (state->by_size) {
            amount -= state->records.columns;
            deeper[0] = cost = merge(state, depth, node, paid[0] + state->joined.at[node], slack);
        } else {
            deeper[0] = paid[0] + ROW(state->totals, node)[0];
            deeper[1] = paid[1] + ROW(state->totals, node)[1];
            cost = deeper[0] * span - deeper[1];
        }
        if (cost >= slack) {
            line = step[2];
            continue;
        }
        amount -= (state->by_size ? 1 : 4) * state->crowds.columns;
        i64 lost = 0;
        cost = suppressing(state, depth, node, span, cost, &lost);
        if (step[3] && cost < slack) {
            state->lines.at[count] = line;
            state->costs.at[count] = cost;
            state->losses.at[count++] = lost;
        }
        line++;
    }
    state->place.at[0] = line;
    state->place.at[1] = count;
    return answer;
}

/* Take off the costs of blocks what every partition pays, and leave out the blocks that are too expensive; how many
   blocks remain. `taken` has what a partition must cost less than, and gets what was taken off. */
EXPORT i64 reduce_blocks(
    const Int64 *lines, const Float64 *costs, const Int64 *starts, const Int64 *members, const Int64 *places,
    const Float64 *prices, const Float64 *shares, const Float64 *taken
) {
    const double endless = INFINITY, slack = taken->at[1];
    i64 count = lines->rows;
    for (i64 place = 0; place < count; place++) {
        places->at[place] = place;
        prices->at[place] = costs->at[place];
    }
    for (i64 round = 0; round < REDUCING; round++) {
        double sum = 0;
        for (i64 position = 0; position < shares->rows; position++) shares->at[position] = endless;
        for (i64 place = 0; place < count; place++) {
            const i64 line = lines->at[places->at[place]], end = starts->at[line + 1];
            const double share = prices->at[place] / (double)(end - starts->at[line]);
            for (i64 i = starts->at[line]; i < end; i++) {
                double *least = shares->at + members->at[i];
                if (share < *least) *least = share;
            }
        }
        for (i64 position = 0; position < shares->rows; position++) sum += shares->at[position];
        taken->at[0] += sum;
        if (taken->at[0] >= slack || taken->at[0] == endless) return 0;
        const i64 before = count;
        count = 0;
        for (i64 place = 0; place < before; place++) {
            const i64 line = lines->at[places->at[place]];
            double price = prices->at[place];
            for (i64 i = starts->at[line]; i < starts->at[line + 1]; i++) price -= shares->at[members->at[i]];
            if (taken->at[0] + price < slack) {
                places->at[count] = places->at[place];
                prices->at[count++] = price > 0 ? price : 0;
            }
        }
        if (count == before) break;
    }
    return count;
}
