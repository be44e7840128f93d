import type { Flow } from '@int/codec';
import type { Label } from '@int/netsim';
import type { ImmediateEvent } from '@int/stream';
import { describe, expect, test } from 'vitest';
import { quantile, type Score, scoreOf, sumOf } from '../../src/study/score.js';

const flow: Flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 17, sourcePort: 1, destinationPort: 2 };
const other: Flow = { ...flow, sourcePort: 3 };
const SECOND = 1e9;

function times(at: number): { type: 'immediate'; id: string; timeNs: string; sinceNs: string } {
  const timeNs = String(at * SECOND);
  return { type: 'immediate', id: `id ${at}`, timeNs, sinceNs: timeNs };
}

function linkFailure(at: number, link: readonly [number, number]): ImmediateEvent {
  return { ...times(at), kind: 'linkFailure', link, flows: 3 };
}

function blackHole(at: number, of: Flow | null, ended?: true): ImmediateEvent {
  const event = { ...times(at), kind: 'blackHole', flow: of, nodeId: 9, seenBy: 1, lastSinkNs: null } as const;
  return ended === undefined ? event : { ...event, ended };
}

function loss(at: number, nodeId: number, hwId: number): ImmediateEvent {
  return { ...times(at), kind: 'reportLoss', nodeId, hwId, lost: 1, firstSequence: 1, lastSequence: 1 };
}

function score(labels: readonly Label[], events: readonly ImmediateEvent[], kind: Label['kind']): Score {
  return scoreOf({ labels, events, drained: [{ fromNs: 2 * SECOND, link: [7, 8] }] }).get(kind)!;
}

describe('a score', () => {
  const failed: Label = { kind: 'linkFailure', fromNs: 3 * SECOND, toNs: 10 * SECOND, link: [4, 5] };
  const hole: Label = { kind: 'blackHole', fromNs: SECOND, toNs: 2 * SECOND, flow };

  test('has a label found by an event about it, either way round, and how long it took', () => {
    const found = score([failed], [linkFailure(4.5, [5, 4]), linkFailure(4.6, [4, 5])], 'linkFailure');
    expect(found).toMatchObject({ labels: 1, found: 1, falseAlarms: 0, repeats: 1, delaysMs: [1500] });
  });

  test('has a false alarm for an event about something else, too early, or much too late', () => {
    const events = [linkFailure(4, [4, 6]), linkFailure(2.9, [4, 5]), linkFailure(14.1, [4, 5])];
    expect(score([failed], events, 'linkFailure')).toMatchObject({
      found: 0,
      falseAlarms: 3,
      drained: 0,
      delaysMs: [],
    });
  });

  test('says which false alarms are about links that flows were moved off', () => {
    const events = [linkFailure(3, [7, 8]), linkFailure(3, [8, 7]), linkFailure(1.5, [7, 8])];
    expect(score([failed], events, 'linkFailure')).toMatchObject({ falseAlarms: 3, drained: 1 });
  });

  test('takes flows by their five fields, and an event without a flow for none', () => {
    const events = [blackHole(2, other), blackHole(2, null), blackHole(2.5, { ...flow })];
    expect(score([hole], events, 'blackHole')).toMatchObject({ found: 1, falseAlarms: 2, delaysMs: [1500] });
  });

  test('does not count ends of events', () => {
    expect(score([hole], [blackHole(2, flow, true)], 'blackHole')).toMatchObject({ found: 0, falseAlarms: 0 });
  });

  test('takes an event for the latest label that it fits', () => {
    const again: Label = { ...hole, fromNs: 3 * SECOND, toNs: 4 * SECOND };
    const events = [blackHole(2, flow), blackHole(3.25, flow)];
    expect(score([hole, again], events, 'blackHole')).toMatchObject({ labels: 2, found: 2, delaysMs: [250, 1000] });
  });

  test('tells reporters apart by node and hardware id', () => {
    const label: Label = { kind: 'reportLoss', fromNs: 0, toNs: SECOND, nodeId: 1, hwId: 0, lost: 2 };
    expect(score([label], [loss(1, 1, 1), loss(1, 2, 0)], 'reportLoss')).toMatchObject({ found: 0, falseAlarms: 2 });
    expect(score([label], [loss(1, 1, 0)], 'reportLoss')).toMatchObject({ found: 1, falseAlarms: 0 });
  });

  test('can be added up', () => {
    const one = score([hole], [blackHole(2, flow), blackHole(2, other)], 'blackHole');
    const two = score([hole], [blackHole(1.5, flow), blackHole(1.75, flow)], 'blackHole');
    expect(sumOf([one, two], 'blackHole')).toEqual({
      kind: 'blackHole',
      labels: 2,
      found: 2,
      falseAlarms: 1,
      drained: 0,
      repeats: 1,
      delaysMs: [500, 1000],
    });
  });

  test('has no quantile of nothing', () => {
    expect(quantile([], 0.5)).toBeNull();
    expect([0, 0.5, 0.9, 1].map((share) => quantile([1, 2, 3, 4], share))).toEqual([1, 3, 4, 4]);
  });
});
