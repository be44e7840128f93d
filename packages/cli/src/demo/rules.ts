/**
 * The rules of the demo. The generated fabric's units: hop latency in nanoseconds, queues in cells of 80 bytes (64 ns
 * at its 10 Gbit/s), utilization in hundredths of a percent.
 */
export const DEMO_RULES = `version: 1
default: drop
units: { hopLatency: ns, queueOccupancy: { cell: 80B }, egressUtilization: { full: 10000 } }
rules:
  - name: tcp-congested     # a TCP packet that waited behind a deep queue
    priority: 20
    match: { protocol: tcp }
    detect: { complex: "sum(hopLatency) > 100us and max(queueOccupancy) >= 64KiB" }
  - name: latency-step      # a switch whose latency is not what it was
    priority: 10
    match: any
    detect: { perHop: { metric: hopLatency, threshold: 20us } }
`;
