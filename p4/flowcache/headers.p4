// Headers and metadata of flowcache.p4 in addition to those of int.p4, and the dimensions of its cache.
#ifndef INT_FLOWCACHE_HEADERS_P4
#define INT_FLOWCACHE_HEADERS_P4

#include "../headers/flowcache.p4"

// Any number of rows; 1 to 8 buckets in each; 1 to 7 hops that an entry follows.
#ifndef FLOWCACHE_ROWS
#define FLOWCACHE_ROWS 1024
#endif
#ifndef FLOWCACHE_BUCKETS
#define FLOWCACHE_BUCKETS 4
#endif
#ifndef FLOWCACHE_HOPS
#define FLOWCACHE_HOPS 5
#endif

#define FLOWCACHE_METRICS 3
#define FLOWCACHE_CELLS (FLOWCACHE_ROWS * FLOWCACHE_BUCKETS)
#define FLOWCACHE_HOP_CELLS (FLOWCACHE_CELLS * FLOWCACHE_HOPS)
// Every metric at every hop, the whole path's latency, and the path.
#define FLOWCACHE_EVENTS_MOST (FLOWCACHE_HOPS * FLOWCACHE_METRICS + 2)

// Held data for the clones. It is never emitted, so the monitored packet goes on without it. Clones of the egress
// pipeline still get it.
#define INT_EXTRA_HEADERS \
    ethernet_t flowcache_ethernet; \
    ipv4_t flowcache_ipv4; \
    udp_t flowcache_udp; \
    flowcache_export_t flowcache_export; \
    flowcache_entry_t flowcache_entry; \
    flowcache_hop_t[FLOWCACHE_HOPS] flowcache_hops; \
    flowcache_event_t[7] flowcache_events; \
    flowcache_entry_t flowcache_held_entry; \
    flowcache_hop_t[FLOWCACHE_HOPS] flowcache_held_hops; \
    flowcache_event_t[28] flowcache_held_events;

#define INT_EXTRA_EMITS \
    packet.emit(hdr.flowcache_ethernet); \
    packet.emit(hdr.flowcache_ipv4); \
    packet.emit(hdr.flowcache_udp); \
    packet.emit(hdr.flowcache_export); \
    packet.emit(hdr.flowcache_entry); \
    packet.emit(hdr.flowcache_hops); \
    packet.emit(hdr.flowcache_events);

struct flowcache_t {
    // Not sent yet.
    @field_list(1)
    bit<1> has_entry;
    @field_list(1)
    bit<8> events;
    // Mirror session of the next clone; of entries, and of events.
    bit<32> session;
    @field_list(1)
    bit<32> entries_session;
    @field_list(1)
    bit<32> events_session;
}

#define INT_EXTRA_METADATA flowcache_t flowcache;

#define INT_EXTRA_BEGIN \
    meta.flowcache.has_entry = 0; \
    meta.flowcache.events = 0; \
    meta.flowcache.session = 0; \
    meta.flowcache.entries_session = 0; \
    meta.flowcache.events_session = 0;

#endif
