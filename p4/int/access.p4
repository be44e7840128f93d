// Which packets may enter: permitted, denied, or bounded in their rate. What is dropped is counted, and a sample of it
// reported, so that a blocked attack stays visible.
#ifndef INT_INT_ACCESS_P4
#define INT_INT_ACCESS_P4

#include "headers.p4"

// The reason for drops of packets above a rate.
const bit<8> DROP_LIMITED = 4;

// Whether a packet may enter, and if not whether it is one of the sample that is reported.
const bit<8> ACCESS_GRANTED = 0;
const bit<8> ACCESS_REFUSED = 1;
const bit<8> ACCESS_SAMPLED = 2;

// Red, of a meter's colors.
const bit<2> COLOR_RED = 2;

control IntAccess(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t standard_metadata) {
    bit<2> color;
    bit<1> limited;
    bit<10> cell;
    bit<32> one_in;
    bit<32> count;

    // By cell: dropped packets since the last one reported, that one included.
    @name(".IntIngress.access_sample")
    @id(0x1670c050)
    register<bit<32>>(1024) sample;

    @name(".IntIngress.access_drops")
    @brief("Dropped packets, by the cell of the entry that dropped them")
    @id(0x12ab4cdc)
    counter(1024, CounterType.packets_and_bytes) drops;

    @name(".IntIngress.access_ipv4_hits")
    @id(0x133227ac)
    direct_counter(CounterType.packets_and_bytes) hits_ipv4;
    @name(".IntIngress.access_ipv6_hits")
    @id(0x13485a1c)
    direct_counter(CounterType.packets_and_bytes) hits_ipv6;

    @name(".IntIngress.access_ipv4_rate")
    @id(0x15026ab1)
    direct_meter<bit<2>>(MeterType.bytes) rate_ipv4;
    @name(".IntIngress.access_ipv6_rate")
    @id(0x153fd38b)
    direct_meter<bit<2>>(MeterType.bytes) rate_ipv6;

    @name(".IntIngress.permit")
    @id(0x01938d65)
    action permit() {
    }

    // `reported`: one dropped packet of this number is reported, 0: none. `place`: cell of the counters; entries that
    // share one count together.
    @name(".IntIngress.deny")
    @id(0x0137c729)
    action deny(bit<8> reason, bit<32> reported, bit<10> place) {
        meta.report.access = ACCESS_REFUSED;
        meta.report.drop_reason = reason;
        one_in = reported;
        cell = place;
    }

    // Drops what the entry's meter has as red. Without rates every packet is green.
    @name(".IntIngress.limit_ipv4")
    @id(0x0148b1af)
    action limit_ipv4(bit<32> reported, bit<10> place) {
        rate_ipv4.read(color);
        limited = 1;
        one_in = reported;
        cell = place;
    }

    @name(".IntIngress.limit_ipv6")
    @id(0x01ba4e92)
    action limit_ipv6(bit<32> reported, bit<10> place) {
        rate_ipv6.read(color);
        limited = 1;
        one_in = reported;
        cell = place;
    }

    @name(".IntIngress.access_ipv4")
    @brief("Which packets may pass")
    // The smaller priority wins.
    @id(0x022814bc)
    table access_ipv4 {
        key = {
            standard_metadata.ingress_port: ternary @name("ingress_port");
            hdr.ipv4.source: ternary @name("source_address");
            hdr.ipv4.destination: ternary @name("destination_address");
            meta.flow.protocol: ternary @name("protocol");
            meta.flow.source_port: range @name("source_port");
            meta.flow.destination_port: range @name("destination_port");
        }
        actions = { permit; deny; limit_ipv4; }
        size = 4096;
        default_action = permit();
        counters = hits_ipv4;
        meters = rate_ipv4;
    }

    @name(".IntIngress.access_ipv6")
    @brief("Which IPv6 packets may pass")
    @id(0x02aebdcb)
    table access_ipv6 {
        key = {
            standard_metadata.ingress_port: ternary @name("ingress_port");
            hdr.ipv6.source: ternary @name("source_address");
            hdr.ipv6.destination: ternary @name("destination_address");
            meta.flow.protocol: ternary @name("protocol");
            meta.flow.source_port: range @name("source_port");
            meta.flow.destination_port: range @name("destination_port");
        }
        actions = { permit; deny; limit_ipv6; }
        size = 4096;
        default_action = permit();
        counters = hits_ipv6;
        meters = rate_ipv6;
    }

    apply {
        meta.report.access = ACCESS_GRANTED;
        color = 0;
        limited = 0;
        cell = 0;
        one_in = 0;
        if (hdr.ipv4.isValid()) {
            access_ipv4.apply();
        } else if (hdr.ipv6.isValid()) {
            access_ipv6.apply();
        }
        if (limited == 1 && color == COLOR_RED) {
            meta.report.access = ACCESS_REFUSED;
            meta.report.drop_reason = DROP_LIMITED;
        }
        if (meta.report.access == ACCESS_REFUSED) {
            meta.report.dropped = 1;
            drops.count((bit<32>)cell);
            if (one_in != 0) {
                sample.read(count, (bit<32>)cell);
                if (count == 0 || count >= one_in) {
                    count = 1;
                    meta.report.access = ACCESS_SAMPLED;
                } else {
                    count = count + 1;
                }
                sample.write((bit<32>)cell, count);
            }
        }
    }
}

#endif
