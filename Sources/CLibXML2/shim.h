/* libxml2: its push parser and SAX, for SOAPBridge. */
#include <libxml/parser.h>
#include <libxml/SAX2.h>
#include <libxml/tree.h>
