// place: what runs on which unit of a machine of bundles, and where every tile of a tensor lies meanwhile.
//
// A leaf whose equations can be done one after the other on blocks becomes operations of the units that are made for them
// (block.h). The scalar unit takes all others, and the shapes whose blocks do not fit. Test: tests/golden/model
#include "bundles/place.h"

#include "passes/explain.h"
#include "passes/tile_size.h"

void place_kernel(Plan *p, TileKernel *t)
{
    if (!p->machine->emits_bundles)
        return;
    for (int i = 0; i < p->leaves.n; i++) {
        Leaf *leaf = p->leaves.at[i];
        BundleProgram *task = place_task(p->a, leaf->node);
        if (!block_leaf(p, t, leaf)) {
            leaf->node->program = task;
            tile_size_ask(p, leaf);
            explain_say(p, &leaf->why, "it runs on the scalar unit: %s.", leaf->node->refusal);
        } else if (leaf->node->fits) {
            leaf->node->otherwise = task;
        }
    }
    storage_resize(p, t);
    layout_report(p, t);
}
