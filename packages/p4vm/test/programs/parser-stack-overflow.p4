// One element too many for the stack: StackOutOfBounds; the elements before stay.
#include "include/base.p4"

header code_h { bit<8> code; }
header item_h {
    bit<1> last;
    bit<7> value;
}
struct headers_t {
    code_h status;
    item_h[2] items;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.items.next);
        transition select(hdr.items.last.last) {
            0: start;
            1: accept;
        }
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.status.setValid();
        if (SM.parser_error == error.NoError) hdr.status.code = 0;
        else if (SM.parser_error == error.PacketTooShort) hdr.status.code = 1;
        else if (SM.parser_error == error.StackOutOfBounds) hdr.status.code = 3;
        else if (SM.parser_error == error.HeaderTooShort) hdr.status.code = 4;
        else hdr.status.code = 0xff;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
