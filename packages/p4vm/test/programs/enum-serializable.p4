// A serializable enum has the value in the packet, named or not: unknown values stay as they are.
#include "include/base.p4"

enum bit<8> kind_t { four = 4, six = 6 }

header typed_h { kind_t kind; bit<16> note; }
struct headers_t { typed_h t; }
NO_METADATA

PARSER { state start { packet.extract(hdr.t); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> r = 0;
        if (hdr.t.kind == kind_t.four) r = 1;
        if (hdr.t.kind != kind_t.six && hdr.t.kind != kind_t.four) r = 2;
        bit<8> number = hdr.t.kind;
        hdr.t.note = r ++ number;
        hdr.t.kind = r == 1 ? kind_t.six : (r == 2 ? (kind_t) (number + 1) : hdr.t.kind);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
