import { type MonitorEvent, Paths, parseGraph, type SessionReport } from '@int/gpint';
import { describe, expect, test } from 'vitest';
import { LinkEvidence } from '../../src/monitor/evidence.js';
import { chooseFailures, linkNames } from '../../src/monitor/failures.js';
import { SEED } from '../seed.js';

const graph = parseGraph('ring:6');
const node = (name: string): number => graph.nodeOf(name);
const link = (a: string, b: string): number => graph.linkBetween(node(a), node(b));

const missed = (a: string, b: string, status: 'unavailable' | 'congested' = 'unavailable'): MonitorEvent => ({
  kind: 'link',
  from: node(a),
  to: node(b),
  status,
  timeNs: 0,
});
const home = (...names: readonly string[]): MonitorEvent => ({
  kind: 'home',
  path: 0,
  position: 0,
  requestId: 7,
  nodes: names.map(node),
  timeNs: 0,
});
const end: MonitorEvent = { kind: 'end', report: {} as SessionReport, timeNs: 0 };

function evidenceOf(...events: readonly MonitorEvent[]): LinkEvidence {
  const evidence = new LinkEvidence(graph);
  for (const event of events) evidence.observe(event);
  return evidence;
}

describe('evidence of links', () => {
  test('says nothing of links on which nothing was missed', () => {
    expect(evidenceOf(home('s1', 's2', 's3'), end).verdicts().size).toBe(0);
  });

  test('takes a link for unavailable as long as nothing has crossed it', () => {
    const once = evidenceOf(missed('s1', 's2'), end);
    expect([...once.verdicts()]).toEqual([[link('s1', 's2'), 'unavailable']]);
    const other = evidenceOf(missed('s1', 's2'), home('s2', 's3'), end);
    expect(other.verdicts().get(link('s1', 's2'))).toBe('unavailable');
  });

  test('takes a link for lossy that another probe has crossed, before or after', () => {
    for (const events of [
      [missed('s1', 's2'), end, home('s1', 's2'), end],
      [home('s2', 's1'), end, missed('s1', 's2'), end],
    ]) {
      expect(
        evidenceOf(...events)
          .verdicts()
          .get(link('s1', 's2')),
      ).toBe('lossy');
    }
  });

  test('goes by the last status of a session: what was late is congested', () => {
    const late = evidenceOf(missed('s1', 's2'), missed('s1', 's2', 'congested'), home('s1', 's2'), end);
    expect(late.verdicts().get(link('s1', 's2'))).toBe('congested');
  });

  test('counts the way to the first switch as crossed', () => {
    const sent: MonitorEvent = {
      kind: 'sent',
      path: 0,
      position: 0,
      requestId: 7,
      prefix: [node('s6'), node('s1')],
      recovery: false,
      bytes: 100,
      timeNs: 0,
    };
    const evidence = evidenceOf(missed('s6', 's1'), missed('s1', 's2'), sent, home('s2'), end);
    expect([...evidence.verdicts().values()]).toEqual(['lossy', 'lossy']);
  });

  test('suspects what two sessions have missed and none has heard of', () => {
    const silent: MonitorEvent = { kind: 'switch', node: node('s5'), reason: 'no-feedback', timeNs: 0 };
    const round = [missed('s1', 's2'), missed('s3', 's4'), silent, end];
    expect(evidenceOf(...round).suspects()).toEqual({ links: [], nodes: [] });
    expect(evidenceOf(...round, ...round, home('s4', 's3')).suspects()).toEqual({
      links: [link('s1', 's2')],
      nodes: [node('s5')],
    });
    expect(evidenceOf(...round, ...round, home('s5')).suspects().nodes).toEqual([]);
  });
});

describe('failures', () => {
  test('are drawn from links of paths, and leave the network in one piece', () => {
    const grid = parseGraph('grid:5x4');
    const paths = Paths.from([
      [0, 1, 2, 3, 4],
      [5, 6, 7, 8, 9],
    ]);
    for (let seed = SEED; seed < SEED + 20; seed++) {
      const { links, switches } = chooseFailures(grid, paths, [], 3, seed);
      expect(links.size).toBe(3);
      expect(switches.size).toBe(0);
      for (const name of linkNames(grid, links)) expect(name).toMatch(/^r[12]c\d-r[12]c\d$/);
    }
    // A ring stays in one piece without one link, but not without two.
    const whole = Paths.from([[0, 1, 2, 3, 4, 5]]);
    expect(chooseFailures(graph, whole, [], 4, SEED).links.size).toBe(1);
  });

  test('are found by names with hyphens in them', () => {
    const tree = parseGraph('fat-tree:4');
    const none = Paths.from([[0]]);
    const { links, switches } = chooseFailures(tree, none, ['edge-p0-1-agg-p0-2', 'core-3'], 0, SEED);
    expect(linkNames(tree, links)).toEqual(['edge-p0-1-agg-p0-2']);
    expect([...switches].map((each) => tree.names[each])).toEqual(['core-3']);
    expect(() => chooseFailures(tree, none, ['core-1-core-2'], 0, SEED)).toThrow(/neither a switch nor a link/);
  });
});
