// A switch for In-band Network Telemetry, version 2.1: source, transit and sink at once, as its tables say.
#include <core.p4>
#include <v1model.p4>

#include "int/headers.p4"
#include "int/parser.p4"
#include "int/ingress.p4"
#include "int/egress.p4"
#include "int/deparser.p4"

// Checksums are updated where something changes, never computed anew, so that one which was wrong stays wrong.
control IntVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control IntComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

V1Switch(
    IntParser(), IntVerifyChecksum(), IntIngress(), IntEgress(), IntComputeChecksum(), IntDeparser()) main;
