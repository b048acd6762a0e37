/* The index of classes; `class_index.py` says what it is and what its tuples hold. */

enum { BELOW, AT, OTHER };
enum { ATTRIBUTE, SPLIT, KIND, VALUE, FILLED, SIBLING, FIRST, LINKS };

typedef struct {
    Int32 rows;
    UInt64 key;
} Classes;

typedef struct {
    i64 bucket;
    Int64 used;
    Int32 links;
    Int32 box;
    Int32 parent;
    Int64 room;
    Int32 before;
    Int32 home;
} Tree;

typedef struct {
    Int32 low;
    Int32 high;
    Int64 detail;
    Int64 shared;
    Int32 stack;
    Int64 bounds;
} Query;

static inline i32 *links_of(const Tree *tree, i64 place) { return tree->links.at + place * LINKS; }

/* The next class of its bucket, the last number of its row. */
static inline i32 *next_of(const Classes *classes, i64 number) { return ROW(classes->rows, number + 1) - 1; }

static inline i32 *size_of(const Classes *classes, i64 number) { return ROW(classes->rows, number + 1) - 2; }

static void clear(const Tree *tree, i64 place, i64 parent) {
    i32 *links = links_of(tree, place);
    links[ATTRIBUTE] = links[SIBLING] = links[FIRST] = -1;
    links[KIND] = OTHER;
    links[FILLED] = 0;
    tree->parent.at[place] = (i32)parent;
    tree->room.at[place] = tree->bucket;
}

static void reset(const Tree *tree) {
    tree->used.at[0] = 1;
    clear(tree, 0, -1);
}

/* The child of a split that a value belongs to, made if there is none yet. */
static i64 child_of(const Tree *tree, const Forest *forest, i64 place, i32 value) {
    i32 *links = links_of(tree, place);
    const i32 node = links[SPLIT], *end = forest->end.at;
    const i64 attribute = links[ATTRIBUTE], width = tree->box.columns;
    i32 kind = OTHER, box = ROW(tree->box, place)[attribute];
    if (value == node) {
        kind = AT;
        box = node;
    } else if (node < value && value < end[node]) {
        kind = BELOW;
    }
    for (i64 child = links[FIRST]; child >= 0; child = links_of(tree, child)[SIBLING]) {
        const i32 *other = links_of(tree, child);
        if (other[KIND] == kind && (kind != BELOW || (other[VALUE] <= value && value < end[other[VALUE]]))) return child;
    }
    if (kind == BELOW)
        for (box = value; forest->parent.at[box] != node;) box = forest->parent.at[box];
    const i64 child = tree->used.at[0]++;
    clear(tree, child, place);
    memcpy(ROW(tree->box, child), ROW(tree->box, place), width * sizeof(i32));
    ROW(tree->box, child)[attribute] = box;
    i32 *made = links_of(tree, child);
    made[KIND] = kind;
    made[VALUE] = box;
    made[SIBLING] = links[FIRST];
    links[FIRST] = (i32)child;
    return child;
}

static void put(const Tree *tree, const Classes *classes, i64 place, i64 number) {
    i32 *links = links_of(tree, place), head = links[FIRST];
    tree->home.at[number] = (i32)place;
    tree->before.at[number] = -1;
    *next_of(classes, number) = head;
    if (head >= 0) tree->before.at[head] = (i32)number;
    links[FIRST] = (i32)number;
}

/* The closest common ancestor of a bucket's classes in one attribute. */
static i32 common_of(const Classes *classes, const Forest *forest, i64 member, i64 attribute) {
    i32 node = ROW(classes->rows, member)[attribute];
    for (; member >= 0; member = *next_of(classes, member))
        node = above(forest, node, ROW(classes->rows, member)[attribute]);
    return node;
}

/* Share of pairs that a split would part, times the detail between its node and the children. */
static double separation(const Classes *classes, const Forest *forest, i64 head, i64 attribute, i32 node) {
    const i64 *detail = forest->detail.at;
    i64 members = 0, same = 0, gap = 0;
    for (i64 first = head; first >= 0; first = *next_of(classes, first)) {
        const i32 value = ROW(classes->rows, first)[attribute];
        i32 low = value, high = value;
        if (value != node) {
            while (forest->parent.at[low] != node) low = forest->parent.at[low];
            high = forest->end.at[low] - 1;
            gap += detail[low] - detail[node];
        }
        for (i64 other = head; other >= 0; other = *next_of(classes, other)) {
            const i32 its = ROW(classes->rows, other)[attribute];
            same += low <= its && its <= high;
        }
        members++;
    }
    return (1 - (double)same / (double)(members * members)) * (double)gap / (double)members;
}

/* Split a full bucket where most pairs of its classes get the largest bound between them. */
static void split(const Tree *tree, const Forest *forest, const Classes *classes, i64 place) {
    i32 *links = links_of(tree, place), member = links[FIRST], node = -1;
    double best = 0;
    i64 attribute = -1;
    for (i64 a = 0; a < classes->rows.columns - 2; a++) {
        const i32 common = common_of(classes, forest, member, a);
        const double score = separation(classes, forest, member, a, common);
        if (score > best) {
            best = score;
            attribute = a;
            node = common;
        }
    }
    if (attribute < 0) { /* all alike: try again when it has grown */
        tree->room.at[place] *= 2;
        return;
    }
    links[ATTRIBUTE] = (i32)attribute;
    links[SPLIT] = node;
    links[FIRST] = -1;
    while (member >= 0) {
        const i32 after = *next_of(classes, member);
        const i64 child = child_of(tree, forest, place, ROW(classes->rows, member)[attribute]);
        put(tree, classes, child, member);
        links_of(tree, child)[FILLED]++;
        member = after;
    }
}

static void insert(const Tree *tree, const Forest *forest, const Classes *classes, i64 number) {
    const i32 *row = ROW(classes->rows, number);
    i64 place = 0;
    links_of(tree, 0)[FILLED]++;
    while (links_of(tree, place)[ATTRIBUTE] >= 0) {
        place = child_of(tree, forest, place, row[links_of(tree, place)[ATTRIBUTE]]);
        links_of(tree, place)[FILLED]++;
    }
    put(tree, classes, place, number);
    if (links_of(tree, place)[FILLED] > tree->room.at[place]) split(tree, forest, classes, place);
}

/* A class of the tree with these very values, -1 if there is none. */
static i64 twin_of(const Tree *tree, const Forest *forest, const Classes *classes, const i32 *nodes) {
    const i64 width = classes->rows.columns - 2;
    i64 place = 0;
    while (links_of(tree, place)[ATTRIBUTE] >= 0)
        place = child_of(tree, forest, place, nodes[links_of(tree, place)[ATTRIBUTE]]);
    i64 other = links_of(tree, place)[FIRST];
    while (other >= 0 && memcmp(ROW(classes->rows, other), nodes, width * sizeof(i32)) != 0)
        other = *next_of(classes, other);
    return other;
}

static void take_out(const Tree *tree, const Classes *classes, i64 number) {
    i64 place = tree->home.at[number];
    const i32 before = tree->before.at[number], after = *next_of(classes, number);
    if (before >= 0)
        *next_of(classes, before) = after;
    else
        links_of(tree, place)[FIRST] = after;
    if (after >= 0) tree->before.at[after] = before;
    for (; place >= 0; place = tree->parent.at[place]) links_of(tree, place)[FILLED]--;
}

static void aim(const Query *query, const Forest *forest, const i32 *nodes, i64 width) {
    for (i64 a = 0; a < width; a++) {
        i32 *low = ROW(query->low, a), *high = ROW(query->high, a);
        i64 *detail = ROW(query->detail, a), level = 0;
        for (i32 node = nodes[a]; node >= 0; node = forest->parent.at[node], level++) {
            low[level] = node;
            high[level] = forest->end.at[node];
            detail[level] = forest->detail.at[node];
        }
        if (!query->shared.rows) continue;
        for (level--; level >= 0; level--) /* from the root down, so that the closest ancestor comes last */
            for (i32 below = low[level]; below < high[level]; below++) query->shared.at[below] = detail[level];
    }
}

/* What generalizing attribute a to the common ancestor costs `own` records here and `others` at or below node. */
static inline i64 term(const Query *query, const Forest *forest, i64 a, i32 node, i64 own, i64 others, bool exact) {
    const i64 *detail = ROW(query->detail, a);
    i64 common;
    if (query->shared.rows) {
        common = query->shared.at[node];
    } else {
        i64 level = 0;
        while (node < ROW(query->low, a)[level] || node >= ROW(query->high, a)[level]) level++;
        common = detail[level];
    }
    const i64 below = forest->detail.at[node] - common;
    if (!exact && below == 0) return 0; /* the value itself may lie below the node */
    return own * (detail[0] - common) + others * below;
}

/* Push the children of a split that may hold the nearest, the one around the class itself on top. */
static i64 descend(
    const Tree *tree, const Forest *forest, const Query *query, i64 place, i64 bound, i64 best, i64 own, i64 height
) {
    const i64 a = links_of(tree, place)[ATTRIBUTE];
    const i64 rest = bound - term(query, forest, a, ROW(tree->box, place)[a], own, 1, false);
    i32 around = -1;
    for (i32 child = links_of(tree, place)[FIRST]; child >= 0; child = links_of(tree, child)[SIBLING]) {
        const i32 *links = links_of(tree, child);
        if (!links[FILLED]) continue;
        i64 below = bound;
        if (links[KIND] != OTHER) below = rest + term(query, forest, a, links[VALUE], own, 1, links[KIND] == AT);
        if (below == rest && links[KIND] != OTHER) { /* more than one, where a node has no more detail than its parent */
            if (around >= 0) {
                query->stack.at[height] = around;
                query->bounds.at[height++] = rest;
            }
            around = child;
        } else if (below <= best) {
            query->stack.at[height] = child;
            query->bounds.at[height++] = below;
        }
    }
    if (around >= 0) {
        query->stack.at[height] = around;
        query->bounds.at[height++] = rest;
    }
    return height;
}

/* Put a class among the nearest, if it is one of them. */
static void note(i64 *found, i64 *far, i64 most, const u64 *keys, i64 other, i64 distance) {
    i64 at = most;
    while (at && (distance < far[at - 1] ||
                  (distance == far[at - 1] && (found[at - 1] < 0 || keys[other] < keys[found[at - 1]])))) {
        if (at < most) {
            found[at] = found[at - 1];
            far[at] = far[at - 1];
        }
        at--;
    }
    if (at < most) {
        found[at] = other;
        far[at] = distance;
    }
}

/* Find the `most` classes with the smallest distances to a class; how many values were looked at.

   `found` and `far` get the nearest and their distances, in order; of equals the one with the smallest key comes first;
   -1 where there are no more. If two classes together have at least 2 x `stub` records, only as many records of the
   other take part as the class lacks to `stub`; otherwise all. After this many `looks` at classes the nearest of these
   are taken; the search begins where near ones are. */
static i64 nearest(
    const Tree *tree, const Forest *forest, const Classes *classes, const Query *query, i64 number, i64 stub, i64 looks,
    i64 *found, i64 *far, i64 most
) {
    const i64 width = classes->rows.columns - 2, own = *size_of(classes, number);
    const i32 *low = query->low.at;
    const i64 levels = query->low.columns;
    aim(query, forest, ROW(classes->rows, number), width);
    for (i64 i = 0; i < most; i++) {
        found[i] = -1;
        far[i] = FARTHEST;
    }
    i64 looked = 0, height = 1;
    query->stack.at[0] = 0;
    query->bounds.at[0] = 0;
    while (height) {
        const i64 place = query->stack.at[--height], bound = query->bounds.at[height];
        const i32 *links = links_of(tree, place);
        looked++;
        if (bound > far[most - 1]) continue;
        if (links[ATTRIBUTE] >= 0) {
            height = descend(tree, forest, query, place, bound, far[most - 1], own, height);
            continue;
        }
        if (looks <= 0 && found[most - 1] >= 0) break;
        looks -= links[FILLED];
        for (i64 other = links[FIRST]; other >= 0; other = *next_of(classes, other)) {
            const i32 *row = ROW(classes->rows, other);
            const i64 worst = far[most - 1], size = row[width];
            const i64 others = own + size >= 2 * stub ? stub - own : size;
            i64 distance = 0;
            for (i64 a = 0; a < width; a++) {
                looked++;
                if (row[a] == low[a * levels]) continue;
                distance += term(query, forest, a, row[a], own, others, true);
                if (distance > worst) break;
            }
            if (other != number && distance <= worst) note(found, far, most, classes->key.at, other, distance);
        }
    }
    return looked;
}
