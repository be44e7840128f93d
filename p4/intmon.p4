// A switch for INT over UDP with the IntMon header: source, transit and sink at once, as its tables say.
#include <core.p4>
#include <v1model.p4>

#include "intmon/headers.p4"
#include "intmon/parser.p4"
#include "intmon/ingress.p4"
#include "intmon/egress.p4"
#include "intmon/deparser.p4"

// Checksums are updated where something changes, never computed anew, so that one which was wrong stays wrong.
control IntmonVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control IntmonComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

V1Switch(
    IntmonParser(), IntmonVerifyChecksum(), IntmonIngress(), IntmonEgress(), IntmonComputeChecksum(),
    IntmonDeparser()) main;
