// Five exact keys of different widths, and booleans among them.
#include "include/base.p4"

header data_h { bit<16> x; bit<8> y; bit<40> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    table t {
        key = {
            hdr.d.x: exact;
            hdr.d.y[3:0]: exact @name("low");
            hdr.d.y > 7: exact @name("large");
            hdr.d.z: exact;
            hdr.d.isValid(): exact @name("there");
        }
        actions = { to; }
        const default_action = to(9);
        const entries = {
            (1, 2, false, 0x123456789a, true): to(1);
            (1, 2, true, 0x123456789a, true): to(2);
            (1, 2, true, 0x123456789a, false): to(3);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
