// Ranges of 16 and 32 bits, entered one by one.
#include "include/base.p4"

header data_h { bit<16> low; bit<32> high; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = {
            hdr.d.low: range;
            hdr.d.high: range;
        }
        actions = { to; drop; }
        default_action = drop();
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
