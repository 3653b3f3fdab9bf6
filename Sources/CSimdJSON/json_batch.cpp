#include "bmo_batch.h"
