// parser_error as a key.
// p4c does not compile errors in entries for simple_switch.
#include "include/base.p4"

error { Odd }

PAIR_HEADERS
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        verify(hdr.h.a[0:0] == 0, error.Odd);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    table t {
        key = { SM.parser_error: exact; }
        actions = { to; }
        const default_action = to(9);
        const entries = {
            error.NoError: to(1);
            error.PacketTooShort: to(2);
            error.Odd: to(3);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
