/* libcsv: RFC 4180 rows, pushed. */
#include <csv.h>
