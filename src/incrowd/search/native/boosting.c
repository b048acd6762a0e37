/* What gradient boosting does most; see `boosting.py`. */

/* Add the figure of each entry's row to the sum of its node and bin: sums are outputs x nodes x bins. */
EXPORT i64 add_to_bins(
    const Int64 *rows, const Int64 *bins, const Int64 *nodes, const Float64 *figures, i64 size, const Float64 *sums
) {
    const i64 width = sums->columns / size;
    for (i64 output = 0; output < nodes->rows; output++) {
        const i64 *node = ROW(*nodes, output);
        const double *figure = ROW(*figures, output);
        double *sum = ROW(*sums, output);
        for (i64 i = 0; i < rows->rows; i++) {
            const i64 row = rows->at[i];
            sum[node[row] * width + bins->at[i]] += figure[row];
        }
    }
    return 0;
}

/* Take each row to the next level of its output's tree: right if its bin of the column tested there is above. */
EXPORT i64 go_down(const Int64 *binned, const Int64 *columns, const Int64 *bins, const Int64 *nodes) {
    for (i64 output = 0; output < nodes->rows; output++) {
        const i64 *column = ROW(*columns, output), *bin = ROW(*bins, output);
        i64 *node = ROW(*nodes, output);
        for (i64 row = 0; row < nodes->columns; row++) {
            const i64 here = node[row];
            node[row] = 2 * here + (ROW(*binned, row)[column[here]] > bin[here]);
        }
    }
    return 0;
}
