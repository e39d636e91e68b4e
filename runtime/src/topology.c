#include "ptort.h"
int pto_topology_place(struct hwloc_topology *topology, pto_bind bind, int worker, int workers, int *pus, int max) { return 0; }
