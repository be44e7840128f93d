// A flow cache in the sink: int.p4 with an entry per flow, which every INT packet updates. Evicted entries and events
// go to hosts.
#include <core.p4>
#include <v1model.p4>

#include "flowcache/headers.p4"
#include "flowcache/update.p4"
#include "flowcache/export.p4"
#define INT_SINK_STAGE FlowCache
#define INT_SINK_STAGE_SESSION meta.flowcache.session
#define INT_REPORT FlowCacheExport
#include "int/parser.p4"
#include "int/ingress.p4"
#include "int/egress.p4"
#include "int/deparser.p4"

control FlowCacheVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FlowCacheComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

@pkginfo(name = "flowcache.p4", version = "1")
@brief("int.p4 with a cache of flows in registers")
V1Switch(
    IntParser(), FlowCacheVerifyChecksum(), IntIngress(), IntEgress(), FlowCacheComputeChecksum(), IntDeparser()) main;
