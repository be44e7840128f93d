// Fields and table keys of a type made by type.
#include "include/base.p4"

type bit<16> place_t;

header named_h { place_t where; }
struct headers_t { named_h n; }
NO_METADATA

PARSER { state start { packet.extract(hdr.n); transition accept; } }
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    table t {
        key = { hdr.n.where: exact; }
        actions = { to; }
        const default_action = to(9);
        const entries = {
            (place_t) 0x0102: to(1);
            (place_t) 0x0103: to(2);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
