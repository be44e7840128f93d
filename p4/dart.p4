// Direct telemetry access (DART): int.p4, with RDMA writes into the memory of collectors in place of reports.
#include <core.p4>
#include <v1model.p4>

#include "dart/headers.p4"
#include "dart/write.p4"
#define INT_REPORT DartWrite
#include "int/parser.p4"
#include "int/ingress.p4"
#include "int/egress.p4"
#include "int/deparser.p4"

control DartVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control DartComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

@pkginfo(name = "dart.p4", version = "1")
@brief("int.p4 with RDMA writes in place of reports")
V1Switch(
    IntParser(), DartVerifyChecksum(), IntIngress(), IntEgress(), DartComputeChecksum(), IntDeparser()) main;
