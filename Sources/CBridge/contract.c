/* The contract is header only; this file gives the target something to compile. */
#include "bmo_batch.h"
#include "bmo_bridge.h"
