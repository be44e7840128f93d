// Of the prefixes that match the longest wins; a prefix of length 0 matches everything.
#include "include/base.p4"

header addr_h { bit<32> ip; }
struct headers_t { addr_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = { hdr.h.ip: lpm; }
        actions = { to; drop; }
        default_action = drop();
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
