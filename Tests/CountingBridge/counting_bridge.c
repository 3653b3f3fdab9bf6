#include "bmo_bridge.h"
