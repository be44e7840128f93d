// Exports of a flow cache to hosts over UDP: `flowcache_export_t`, then records of one kind. Records are the 32-bit
// words of @int/flowcache (packages/flowcache/src/layout.ts) in the same order, each word big-endian. As there, the
// lower word of a 64-bit number comes first.
#ifndef INT_HEADERS_FLOWCACHE_P4
#define INT_HEADERS_FLOWCACHE_P4

const bit<8> FLOWCACHE_VERSION = 1;

const bit<8> FLOWCACHE_ENTRIES = 1;
const bit<8> FLOWCACHE_EVENTS = 2;

// Reasons why an entry left the cache.
const bit<8> FLOWCACHE_EVICTED = 1;
const bit<8> FLOWCACHE_RETIRED = 3;

// Kinds of events: bits.
const bit<8> FLOWCACHE_EVENT_THRESHOLD = 0x01;
const bit<8> FLOWCACHE_EVENT_CHANGE = 0x02;
const bit<8> FLOWCACHE_EVENT_PATH = 0x04;
const bit<8> FLOWCACHE_EVENT_END_TO_END = 0x10;
const bit<8> FLOWCACHE_EVENT_IPV6 = 0x20;

header flowcache_export_t {
    bit<8> version;
    bit<8> kind;        // of the records
    bit<8> hops;        // that an entry follows
    bit<8> records;
    bit<32> node_id;    // the switch whose cache it is
    bit<32> sequence;   // of packets to this collector
}

// An entry, 22 words; then its hops. An IPv4 address is in the first word of four, the others are 0.
header flowcache_entry_t {
    bit<128> source;
    bit<128> destination;
    bit<16> source_port;
    bit<16> destination_port;
    bit<8> reason;
    bit<8> path_length;
    bit<7> seen;                // hops seen at any time
    bit<1> ipv6;
    bit<8> protocol;
    bit<32> packets;
    bit<32> path_changes;
    bit<32> first_low;          // nanoseconds on the switch's clock
    bit<32> first_high;
    bit<32> last_low;
    bit<32> last_high;
    bit<32> path_tail;
    bit<32> hops_beyond;
    bit<32> end_to_end_last;
    bit<32> end_to_end_count;
    bit<32> end_to_end_sum_low;
    bit<32> end_to_end_sum_high;
}

// One hop of an entry, 13 words, INT source first. All ones: not known.
header flowcache_hop_t {
    bit<32> node_id;
    bit<32> hop_latency_last;
    bit<32> queue_occupancy_last;
    bit<32> egress_utilization_last;
    bit<32> hop_latency_count;
    bit<32> queue_occupancy_count;
    bit<32> egress_utilization_count;
    bit<32> hop_latency_sum_low;
    bit<32> hop_latency_sum_high;
    bit<32> queue_occupancy_sum_low;
    bit<32> queue_occupancy_sum_high;
    bit<32> egress_utilization_sum_low;
    bit<32> egress_utilization_sum_high;
}

// An event, 16 words.
header flowcache_event_t {
    bit<8> protocol;
    bit<8> hop;                 // position on the path; 0 for the whole path
    bit<8> metric;              // 0 hop latency, 1 queue occupancy, 2 egress utilization; 0 for the whole path
    bit<8> kind;
    bit<32> node_id;            // all ones: not named, or the whole path
    bit<32> value;
    bit<32> previous;           // all ones: none
    bit<32> time_low;           // nanoseconds on the switch's clock
    bit<32> time_high;
    bit<16> source_port;
    bit<16> destination_port;
    bit<32> threshold;          // that of T if it was exceeded, else that of C; 0 for a path change
    bit<128> source;
    bit<128> destination;
}

#endif
