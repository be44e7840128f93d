// A serializable enum as a key; its names stand in the entries.
#include "include/base.p4"

enum bit<8> kind_t { four = 4, six = 6 }

header typed_h { kind_t kind; }
struct headers_t { typed_h t; }
NO_METADATA

PARSER { state start { packet.extract(hdr.t); transition accept; } }
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    table t {
        key = { hdr.t.kind: exact; }
        actions = { to; }
        const default_action = to(9);
        const entries = {
            kind_t.four: to(4);
            kind_t.six: to(6);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
