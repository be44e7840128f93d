import { describe, expect, it } from 'vitest';
import { eventKey, flowKey, windowKey } from '../../src/message-key.js';
import { ReportWriter, START_MS } from './reports.js';

const flow = {
  source: '10.0.1.3',
  destination: '10.0.2.2',
  protocol: 17,
  sourcePort: 5003,
  destinationPort: 80,
};

describe('the keys of results', () => {
  it('are those of the reports about the same flow', () => {
    const [message] = new ReportWriter().messages([{ timeMs: START_MS, flow: 3, path: [1, 2], sequence: 0 }]);
    expect(flowKey(flow)).toEqual(message!.key);
    expect(flowKey({ ...flow, source: 'fd00::1', destination: 'fd00::2' })).toHaveLength(37);
  });

  it('are the node where there is no flow', () => {
    const times = {
      ...{ id: 'x', revision: 0, startNs: '0', endNs: '1', complete: true, late: 0 },
      ...{ lastSeenNs: '0', reports: 1 },
    };
    expect(windowKey({ ...times, type: 'switchWindow', nodeId: 258, latency: null, queues: [] })).toEqual(
      Uint8Array.of(0, 0, 1, 2),
    );
    expect(windowKey({ ...times, type: 'linkWindow', link: [7, 8], packets: 1, flows: 1 })).toEqual(
      Uint8Array.of(0, 0, 0, 7),
    );
    const event = { type: 'immediate', id: 'x', timeNs: '0', sinceNs: '0' } as const;
    expect(eventKey({ ...event, kind: 'linkFailure', link: [9, 1], flows: 3 })).toEqual(Uint8Array.of(0, 0, 0, 9));
    expect(eventKey({ ...event, kind: 'loop', flow: null, nodeId: 4, path: [4, 4] })).toEqual(
      Uint8Array.of(0, 0, 0, 4),
    );
    expect(eventKey({ ...event, kind: 'pathChange', flow: null, path: [null, 2], previous: [1] })).toEqual(
      Uint8Array.of(255, 255, 255, 255),
    );
    expect(eventKey({ ...event, kind: 'pathChange', flow, path: [2], previous: [1] })).toEqual(flowKey(flow));
  });
});
