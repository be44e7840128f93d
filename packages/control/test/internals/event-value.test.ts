/** What the host makes of reports, and what the program in the switch decides. */
import { BatchDecoder, source, TelemetryBatch, transit } from '@int/codec';
import { udpFrame } from '@int/netsim';
import { createSwitch } from '@int/p4vm';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { EventValue } from '../../src/adaptation/event-value.js';
import { ReportMark } from '../../src/adaptation/report-mark.js';
import { program } from '../fabric.js';

const [IN, OUT, COLLECTOR] = [1, 2, 7];
const LOCATE = { intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f } } as const;
const NODE_AND_LATENCY = 0xa000;
const THRESHOLD = 300;
const PACKETS = 150;
/** As in p4/README.md. */
const [ALGORITHMS, SCOPES] = [
  { perHop: 1, perFlow: 2, threshold: 4 },
  { hop: 0, endToEnd: 2 },
];

describe('the value of an event', () => {
  const machine = createSwitch(program);
  for (const command of [
    'table_set_default IntEgress.node IntEgress.set_node 5',
    `table_set_default IntIngress.forward_ipv4 IntIngress.forward ${OUT}`,
    `table_add IntEgress.port IntEgress.set_port ${OUT} => 1 0 0xffffff 0 0xffffffff`,
    `mirroring_add 99 ${COLLECTOR}`,
    'table_set_default IntEgress.reports IntEgress.set_session 99',
    `table_add IntReport.collector IntReport.send ${COLLECTOR} => 0 1 2 10.0.9.5 10.0.9.9 50000 32766 3 600`,
    'table_set_default IntSink.regular IntSink.set_regular 1',
  ]) {
    expect(machine.command(command)).toMatchObject({ status: 'done' });
  }
  const batch = new TelemetryBatch({ frames: 1 });
  const decoder = new BatchDecoder({ linkType: 'report', ...LOCATE });
  const mark = new ReportMark();

  it.each([
    ['threshold', 'hop'],
    ['threshold', 'endToEnd'],
    ['perHop', 'hop'],
    ['perFlow', 'hop'],
  ] as const)('%s of %s is above the threshold exactly where the switch finds an event', (algorithm, scope) => {
    const rule = `3 ${ALGORITHMS[algorithm]} 0 ${SCOPES[scope]} ${THRESHOLD} 0 0 0`;
    machine.command(`table_set_default IntSink.algorithm_ipv4_a IntSink.fast_detection ${rule}`);
    const value = new EventValue({ metric: 'hopLatency', algorithm, scope });
    const random = new Random(3);
    let events = 0;
    for (let k = 0; k < PACKETS; k++) {
      const addresses = { source: 0x0a000101, destination: 0x0a000202, sourcePort: 5000 + random.integer(4) };
      const hops = Array.from({ length: 3 }, (_, hop) => ({
        nodeId: 10 + ((hop + random.integer(2)) % 4),
        hopLatency: random.integer(400),
      }));
      const frame = udpFrame({ ...addresses, destinationPort: 80 }, new Uint8Array(20));
      const config = { ...LOCATE, instructions: NODE_AND_LATENCY, maxHops: 3, encapsulation: 'new-udp' } as const;
      let { packet } = source(frame, config, hops[0]!);
      for (const hop of hops.slice(1)) packet = transit(packet, LOCATE, hop).packet;
      const report = machine.process(IN, packet).find(({ port }) => port === COLLECTOR)!;
      const bytes = report.frame.slice(42);
      batch.clear();
      decoder.decode(batch, { bytes, offsets: Uint32Array.of(0), lengths: Uint32Array.of(bytes.length) });
      mark.begin();
      expect([mark.read(batch, 0), mark.rule, mark.isRegular]).toEqual([true, 3, true]);
      expect(value.of(batch, 0, mark.isEvent, THRESHOLD) > THRESHOLD).toBe(mark.isEvent);
      if (mark.isEvent) events++;
    }
    expect(events).toBeGreaterThan(PACKETS / 20);
    expect(events).toBeLessThan(PACKETS);
  });
});
