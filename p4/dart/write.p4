// Turns a clone into an RDMA WRITE to a slot of a collector's memory, in place of a telemetry report. Each copy is a
// packet. Either all N copies are sent, each cloned from the one before, or one random copy per report.
#ifndef INT_DART_WRITE_P4
#define INT_DART_WRITE_P4

#include "../int/headers.p4"
#include "../int/sink.p4"
#include "../headers/sums.p4"

// IPv4 20, UDP 8, BTH 12, RETH 16, slot 24, invariant CRC 4.
#define DART_IP_LENGTH 84
#define DART_SLOT_BYTES 24

/*
 * The key as input of the hashes. A CRC register that begins with ones is 0 after four bytes of ones, and zeros keep it
 * 0. Four bytes `fill`, which depend on the polynomial, make it all ones again. So ones, zeros and `fill` in front of a
 * key do not change its CRC. If there is room for four bytes only, the complement of `fill` does the same.
 */
#define DART_KEY(fill) \
    { \
        hdr.dart_key.word_0 ^ (hdr.dart_key.fill_0 & fill), hdr.dart_key.word_1, hdr.dart_key.word_2, \
        hdr.dart_key.word_3, hdr.dart_key.word_4, hdr.dart_key.word_5 ^ (hdr.dart_key.fill_5 & fill), \
        hdr.dart_key.word_6 ^ (hdr.dart_key.fill_6 & fill), hdr.dart_key.word_7, hdr.dart_key.word_8, \
        hdr.dart_key.word_9 \
    }

// Hop `i` of the path: its node id, 0 after the last hop.
#define PATH(i) \
    if (meta.hops > i && hdr.words[0].isValid()) { \
        hdr.dart_slot.value_##i = hdr.words[at].value; \
        at = at - (bit<32>)hdr.md.hop_ml; \
    } else if (meta.hops == i && hdr.own_node_id.isValid()) { \
        hdr.dart_slot.value_##i = hdr.own_node_id.id; \
    }

control DartWrite(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata)
{
    IntRemove() remove;
    bit<8> copies;
    bit<1> one_at_random;
    bit<32> collectors;
    bit<32> collector;
    bit<32> slots;
    bit<32> slot;
    bit<64> base;
    bit<32> at;
    bit<32> key_checksum;
    bit<32> crc;
    bit<16> sum;
    bit<24> sequence;
    bit<24> next_sequence;
    bit<1> is_known;

    // Packet sequence numbers, by collector.
    @name(".DartWrite.sequence")
    @id(0x1646e830)
    register<bit<24>>(256) sequences;

    // `number`: N, 1 to 8. `random`: one copy per report. `of`: number of collectors.
    @name(".DartWrite.set_copies")
    @id(0x01040f2d)
    action set_copies(bit<8> number, bit<1> at_random, bit<32> of) {
        copies = number;
        one_at_random = at_random;
        collectors = of;
    }

    @name(".DartWrite.copies")
    @brief("How many copies of a value are written")
    @id(0x02b8e32d)
    table copies_written {
        actions = { set_copies; }
        default_action = set_copies(1, 0, 1);
    }

    // `memory`: address of slot 0; `slot_count`: M.
    @name(".DartWrite.write")
    @id(0x01731eea)
    action write(
        bit<48> source_mac, bit<48> destination_mac, bit<32> source_address, bit<32> destination_address,
        bit<16> source_port, bit<24> queue_pair, bit<32> remote_key, bit<64> memory, bit<32> slot_count)
    {
        is_known = 1;
        base = memory;
        slots = slot_count;
        hdr.dart_ethernet.setValid();
        hdr.dart_ethernet.destination = destination_mac;
        hdr.dart_ethernet.source = source_mac;
        hdr.dart_ethernet.ether_type = ETHERTYPE_IPV4;
        hdr.dart_ipv4.setValid();
        hdr.dart_ipv4.version = 4;
        hdr.dart_ipv4.ihl = 5;
        hdr.dart_ipv4.dscp = 0;
        hdr.dart_ipv4.ecn = 0;
        hdr.dart_ipv4.total_length = DART_IP_LENGTH;
        hdr.dart_ipv4.identification = 0;
        hdr.dart_ipv4.flags = 2;
        hdr.dart_ipv4.fragment_offset = 0;
        hdr.dart_ipv4.ttl = 64;
        hdr.dart_ipv4.protocol = PROTOCOL_UDP;
        hdr.dart_ipv4.source = source_address;
        hdr.dart_ipv4.destination = destination_address;
        hdr.dart_udp.setValid();
        hdr.dart_udp.source_port = source_port;
        hdr.dart_udp.destination_port = ROCE_PORT;
        hdr.dart_udp.length = DART_IP_LENGTH - 20;
        hdr.dart_udp.checksum = 0;
        hdr.dart_bth.setValid();
        hdr.dart_bth.opcode = ROCE_UC_WRITE_ONLY;
        hdr.dart_bth.solicited = 0;
        hdr.dart_bth.migration = 1;
        hdr.dart_bth.pad = 0;
        hdr.dart_bth.version = 0;
        hdr.dart_bth.partition_key = 0xffff;
        hdr.dart_bth.congestion = 0;
        hdr.dart_bth.queue_pair = queue_pair;
        hdr.dart_bth.acknowledge = 0;
        hdr.dart_bth.reserved = 0;
        hdr.dart_reth.setValid();
        hdr.dart_reth.remote_key = remote_key;
        hdr.dart_reth.length = DART_SLOT_BYTES;
    }

    @name(".DartWrite.collector")
    @brief("Where the memory of each collector is, and the queue pair that writes it")
    @id(0x0282a8d7)
    table collector_memory {
        key = { collector: exact @name("collector"); }
        actions = { write; NoAction; }
        size = 256;
        default_action = NoAction();
    }

    @brief("The key is the monitored packet's flow, with the node id for reports of a single switch")
    // The value is the path, or this switch's measurements.
    @id(0x0103bef2)
    action begin() {
        hdr.dart_slot.setValid();
        hdr.dart_slot.value_0 = 0;
        hdr.dart_slot.value_1 = 0;
        hdr.dart_slot.value_2 = 0;
        hdr.dart_slot.value_3 = 0;
        hdr.dart_slot.value_4 = 0;
        hdr.dart_key.setValid();
        hdr.dart_key.word_0 = 0xffffffff;
        hdr.dart_key.word_1 = 0;
        hdr.dart_key.word_2 = 0;
        hdr.dart_key.word_3 = 0;
        hdr.dart_key.word_4 = 0;
        hdr.dart_key.word_5 = 0;
        hdr.dart_key.word_6 = 0;
        hdr.dart_key.word_7 = 0;
        hdr.dart_key.word_8 = 0;
        hdr.dart_key.word_9 = 0;
        hdr.dart_key.fill_0 = 0;
        hdr.dart_key.fill_5 = 0;
        hdr.dart_key.fill_6 = 0;
    }

    @id(0x0128eb46)
    action key_ipv4() {
        hdr.dart_key.fill_6 = 0xffffffff;
        hdr.dart_key.word_7 = hdr.ipv4.source;
        hdr.dart_key.word_8 = hdr.ipv4.destination ++ meta.flow.protocol;
        hdr.dart_key.word_9 = meta.flow.source_port ++ meta.flow.destination_port;
    }

    @id(0x01899007)
    action key_ipv6() {
        hdr.dart_key.fill_0 = 0xffffffff;
        hdr.dart_key.word_1 = hdr.ipv6.source[127:96];
        hdr.dart_key.word_2 = hdr.ipv6.source[95:64];
        hdr.dart_key.word_3 = hdr.ipv6.source[63:32];
        hdr.dart_key.word_4 = hdr.ipv6.source[31:0];
        hdr.dart_key.word_5 = hdr.ipv6.destination[127:96];
        hdr.dart_key.word_6 = hdr.ipv6.destination[95:64];
        hdr.dart_key.word_7 = hdr.ipv6.destination[63:32];
        hdr.dart_key.word_8 = hdr.ipv6.destination[31:0] ++ meta.flow.protocol;
        hdr.dart_key.word_9 = meta.flow.source_port ++ meta.flow.destination_port;
    }

    @id(0x01b993fa)
    action key_ipv4_node() {
        hdr.dart_key.fill_5 = 0xffffffff;
        hdr.dart_key.word_6 = hdr.ipv4.source;
        hdr.dart_key.word_7 = hdr.ipv4.destination;
        hdr.dart_key.word_8 = meta.flow.protocol ++ meta.flow.source_port ++ meta.flow.destination_port;
        hdr.dart_key.word_9 = meta.node.id;
    }

    @id(0x01393c3f)
    action key_ipv6_node() {
        hdr.dart_key.word_0 = hdr.ipv6.source[127:96];
        hdr.dart_key.word_1 = hdr.ipv6.source[95:64];
        hdr.dart_key.word_2 = hdr.ipv6.source[63:32];
        hdr.dart_key.word_3 = hdr.ipv6.source[31:0];
        hdr.dart_key.word_4 = hdr.ipv6.destination[127:96];
        hdr.dart_key.word_5 = hdr.ipv6.destination[95:64];
        hdr.dart_key.word_6 = hdr.ipv6.destination[63:32];
        hdr.dart_key.word_7 = hdr.ipv6.destination[31:0];
        hdr.dart_key.word_8 = meta.flow.protocol ++ meta.flow.source_port ++ meta.flow.destination_port;
        hdr.dart_key.word_9 = meta.node.id;
    }

    // Remove all headers of the monitored packet: the clone is a separate packet.
    @id(0x01c7ab2f)
    action drop_headers() {
        hdr.ethernet.setInvalid();
        hdr.ipv4.setInvalid();
        hdr.ipv4_options.setInvalid();
        hdr.ipv6.setInvalid();
        hdr.tcp.setInvalid();
        hdr.tcp_options.setInvalid();
        hdr.udp.setInvalid();
        hdr.inner_tcp.setInvalid();
        hdr.inner_tcp_options.setInvalid();
        hdr.inner_udp.setInvalid();
        hdr.inner_ports.setInvalid();
    }

    apply {
        copies_written.apply();
        if (meta.dart.is_begun == 0) {
            meta.dart.is_begun = 1;
            meta.report.was_kept = 0;
            begin();
            if (meta.has_md == 1 && hdr.md.isValid()) {
                if (hdr.ipv4.isValid()) {
                    key_ipv4();
                } else if (hdr.ipv6.isValid()) {
                    key_ipv6();
                }
                // Bit 0 of the bitmap: the node id is the first word of each hop. The source's block is the last one.
                if (hdr.md.instructions[15:15] == 1) {
                    at = (bit<32>)(meta.stack_words - (bit<8>)hdr.md.hop_ml);
                    PATH(0)
                    PATH(1)
                    PATH(2)
                    PATH(3)
                    PATH(4)
                }
            } else {
                if (hdr.ipv4.isValid()) {
                    key_ipv4_node();
                } else if (hdr.ipv6.isValid()) {
                    key_ipv6_node();
                }
                hdr.dart_slot.value_0 = meta.node.ingress ++ meta.node.egress;
                hdr.dart_slot.value_1 = meta.node.latency;
                hdr.dart_slot.value_2 = meta.node.queue_id ++ meta.node.queue_occupancy;
                hdr.dart_slot.value_3 = meta.node.egress_time[63:32];
                hdr.dart_slot.value_4 = meta.node.egress_time[31:0];
            }
            remove.apply(hdr);
            drop_headers();
            if (one_at_random == 1) {
                random(meta.dart.copy, 8w0, copies - 1);
            }
        }

        // CRC-32 with a separate polynomial for each use. p4/README.md lists them, and the commands set them.
        hash(collector, HashAlgorithm.crc32_custom, 32w0, DART_KEY(0x9bbf7444), collectors);
        hash(key_checksum, HashAlgorithm.crc32, 32w0, DART_KEY(0x62f52692), 64w0x100000000);
        if (key_checksum == 0) {
            // A checksum of 0 would match an empty slot.
            key_checksum = 1;
        }
        is_known = 0;
        base = 0;
        slots = 0;
        collector_memory.apply();
        // Refuse copies without a polynomial, and collectors without a sequence number.
        if (is_known == 0 || copies == 0 || copies > 8 || collector > 255) {
            mark_to_drop(standard_metadata);
        } else {
            if (meta.dart.copy == 0) {
                hash(slot, HashAlgorithm.crc32_custom, 32w0, DART_KEY(0x54641f64), slots);
            } else if (meta.dart.copy == 1) {
                hash(slot, HashAlgorithm.crc32_custom, 32w0, DART_KEY(0xd337a7ec), slots);
            } else if (meta.dart.copy == 2) {
                hash(slot, HashAlgorithm.crc32_custom, 32w0, DART_KEY(0x83940416), slots);
            } else if (meta.dart.copy == 3) {
                hash(slot, HashAlgorithm.crc32_custom, 32w0, DART_KEY(0xa2e4a08a), slots);
            } else if (meta.dart.copy == 4) {
                hash(slot, HashAlgorithm.crc32_custom, 32w0, DART_KEY(0x768db5aa), slots);
            } else if (meta.dart.copy == 5) {
                hash(slot, HashAlgorithm.crc32_custom, 32w0, DART_KEY(0x31f482e8), slots);
            } else if (meta.dart.copy == 6) {
                hash(slot, HashAlgorithm.crc32_custom, 32w0, DART_KEY(0x66c94f9d), slots);
            } else {
                hash(slot, HashAlgorithm.crc32_custom, 32w0, DART_KEY(0x27f0df9b), slots);
            }
            hdr.dart_slot.checksum = key_checksum;
            // 24 bytes a slot.
            hdr.dart_reth.address = base + ((bit<64>)slot << 4) + ((bit<64>)slot << 3);
            sequences.read(sequence, collector);
            next_sequence = sequence + 1;
            sequences.write(collector, next_sequence);
            hdr.dart_bth.sequence = sequence;

            hash(sum, HashAlgorithm.csum16, 16w0,
                {
                    hdr.dart_ipv4.version, hdr.dart_ipv4.ihl, hdr.dart_ipv4.dscp, hdr.dart_ipv4.ecn,
                    hdr.dart_ipv4.total_length, hdr.dart_ipv4.identification, hdr.dart_ipv4.flags,
                    hdr.dart_ipv4.fragment_offset, hdr.dart_ipv4.ttl, hdr.dart_ipv4.protocol,
                    hdr.dart_ipv4.source, hdr.dart_ipv4.destination
                },
                32w65536);
            hdr.dart_ipv4.checksum = sum;

            // Over eight bytes of ones and the packet from its IP header, with ones for fields that may change on the
            // way.
            hash(crc, HashAlgorithm.crc32, 32w0,
                {
                    ~64w0,
                    hdr.dart_ipv4.version, hdr.dart_ipv4.ihl, 8w0xff,
                    hdr.dart_ipv4.total_length, hdr.dart_ipv4.identification, hdr.dart_ipv4.flags,
                    hdr.dart_ipv4.fragment_offset, 8w0xff, hdr.dart_ipv4.protocol, 16w0xffff,
                    hdr.dart_ipv4.source, hdr.dart_ipv4.destination,
                    hdr.dart_udp.source_port, hdr.dart_udp.destination_port, hdr.dart_udp.length, 16w0xffff,
                    hdr.dart_bth.opcode, hdr.dart_bth.solicited, hdr.dart_bth.migration, hdr.dart_bth.pad,
                    hdr.dart_bth.version, hdr.dart_bth.partition_key, 8w0xff, hdr.dart_bth.queue_pair,
                    hdr.dart_bth.acknowledge, hdr.dart_bth.reserved, hdr.dart_bth.sequence,
                    hdr.dart_reth.address, hdr.dart_reth.remote_key, hdr.dart_reth.length,
                    hdr.dart_slot.checksum, hdr.dart_slot.value_0, hdr.dart_slot.value_1, hdr.dart_slot.value_2,
                    hdr.dart_slot.value_3, hdr.dart_slot.value_4
                },
                64w0x100000000);
            hdr.dart_icrc.setValid();
            hdr.dart_icrc.value = crc[7:0] ++ crc[15:8] ++ crc[23:16] ++ crc[31:24];
            // The monitored packet's payload is cut off.
            truncate(14 + DART_IP_LENGTH);

            if (one_at_random == 0 && meta.dart.copy + 1 < copies) {
                meta.dart.copy = meta.dart.copy + 1;
                clone_preserving_field_list(CloneType.E2E, meta.report.session, 1);
            }
        }
    }
}

#endif
