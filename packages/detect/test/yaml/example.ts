/** A rules file with everything in it that rules can have, in most ways that YAML can write it. */
export const EXAMPLE = `# Rules of a small network.
version: 1
default: report            # report | drop
units: { hopLatency: ns, queueOccupancy: { cell: 80B }, egressUtilization: { full: 10000 } }
adapt: { target: 5000/s }
rules:
  - name: web-latency
    priority: 100          # higher wins
    match: { protocol: tcp, source: 10.0.0.0/8, destination: 10.1.2.3, sourcePort: any, destinationPort: 80-443 }
    detect: { perHop: { metric: hopLatency, threshold: 10us } }
    sample: { oneIn: 10 }
    adapt: { target: 1000/s, min: 1us, max: 1ms }
  - name: 'smooth'
    priority: 50
    match: any
    detect:
      movingAverage:
        metric: queueOccupancy
        threshold: 64KiB
        weight: 3
    sample:
      every: "1ms"
  - name: both
    priority: 40
    match: { destination: 2001:db8::/32, sourceMac: 02:00:00:00:00:01 }
    detect: { complex: "sum(hopLatency) > 10us and max(queueOccupancy) > 100" }
  - name: long
    priority: 39
    match: &tcp { protocol: 6 }
    detect:
      complex: |
        sum(hopLatency) > 10us
        and not (max(queueOccupancy) > 100cells
          or any(egressUtilization) >= 90%)
  - name: folded
    priority: -5
    match: *tcp
    detect:
      complex: >-
        delta(hopLatency) > 1us
        or count() == 1
  - { name: all, priority: 0x10, match: {}, detect: { noop: {} } }
`;
