// What the programs of this folder share: a small header with its parser, and the parts they have no use for.
#include <core.p4>
#include <v1model.p4>

#define SM standard_metadata

#define PARSER parser MyParse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t SM)
#define VERIFY control MyVerify(inout headers_t hdr, inout metadata_t meta)
#define INGRESS control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t SM)
#define EGRESS control MyEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t SM)
#define COMPUTE control MyCompute(inout headers_t hdr, inout metadata_t meta)
#define DEPARSER control MyDeparse(packet_out packet, in headers_t hdr)

// Two bytes in front of every packet.
header pair_h {
    bit<8> a;
    bit<8> b;
}

#define PAIR_HEADERS struct headers_t { pair_h h; }
#define NO_METADATA struct metadata_t { }
#define PARSE_PAIR PARSER { state start { packet.extract(hdr.h); transition accept; } }
#define NO_VERIFY VERIFY { apply { } }
#define NO_EGRESS EGRESS { apply { } }
#define NO_COMPUTE COMPUTE { apply { } }
#define EMIT_ALL DEPARSER { apply { packet.emit(hdr); } }
#define SWITCH V1Switch(MyParse(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparse()) main;
