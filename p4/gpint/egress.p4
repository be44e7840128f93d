// Clones packets and recirculates them. Packets that leave by a link are cut to their length.
#ifndef INT_GPINT_EGRESS_P4
#define INT_GPINT_EGRESS_P4

#include "headers.p4"
#include "registers.p4"

control GpintEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type != INSTANCE_NORMAL) {
            // It has no clone.
            meta.is_rewritten = 0;
        }
        if (standard_metadata.instance_type == INSTANCE_INGRESS_CLONE) {
            meta.stage = STAGE_FEEDBACK;
            recirculate_preserving_field_list(KEPT_METADATA);
        } else if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            // Ingress has no clock for recirculated packets, so egress times the clones.
            meta.stage = STAGE_KEEP;
            meta.kept_at = standard_metadata.egress_global_timestamp;
            clone_kept.write((bit<32>)meta.cell, meta.ticket ++ meta.kept_at);
            recirculate_preserving_field_list(KEPT_METADATA);
        } else if (standard_metadata.egress_port == RECIRCULATION_PORT) {
            if (meta.stage == STAGE_KEEP
                && standard_metadata.egress_global_timestamp - meta.kept_at >= meta.timeout) {
                meta.stage = STAGE_EXPIRED;
            }
            // A clone made here has the probe as it is sent on, and exists even if the queue of its port is full.
            if (meta.has_clone == 1) {
                clone_preserving_field_list(CloneType.E2E, CLONE_SESSION, KEPT_METADATA);
            }
            recirculate_preserving_field_list(KEPT_METADATA);
        } else {
            queue_depth.write((bit<32>)standard_metadata.egress_port, (bit<32>)standard_metadata.enq_qdepth);
            if ((meta.stage == STAGE_SEND || meta.stage == STAGE_FEEDBACK) && hdr.ipv4.isValid()) {
                truncate(14 + (bit<32>)hdr.ipv4.total_length);
            }
        }
    }
}

#endif
