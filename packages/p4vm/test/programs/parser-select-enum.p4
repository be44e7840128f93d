// select on a serializable enum and on a bool.
#include "include/base.p4"

enum bit<8> kind_t { four = 4, six = 6 }

header typed_h { kind_t kind; bool flag; bit<7> rest; }
struct headers_t { typed_h t; }
struct metadata_t { bit<9> port; }

PARSER {
    state start {
        packet.extract(hdr.t);
        transition select(hdr.t.kind) {
            kind_t.four: one;
            kind_t.six: more;
            default: four;
        }
    }
    state more {
        transition select(hdr.t.flag) {
            true: three;
            false: two;
        }
    }
    state one { meta.port = 1; transition accept; }
    state two { meta.port = 2; transition accept; }
    state three { meta.port = 3; transition accept; }
    state four { meta.port = 4; transition accept; }
}
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = meta.port; }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
