import {
  FlowSide,
  type FlowSideOptions,
  type FlowWindow,
  type NetworkPartial,
  NetworkSide,
  type NetworkWindow,
  type WindowCorrection,
} from '@int/stream';
import { describe, expect, it } from 'vitest';
import { batchOf, pathReport, START_US, type TestReport } from './reports.js';
import { SMALL } from './run.js';

const START_MS = START_US / 1000;

/** A side that is told the time, and what it has given out. */
function told(options: FlowSideOptions = {}) {
  const windows: FlowWindow[] = [];
  const partials: NetworkPartial[] = [];
  const corrections: WindowCorrection[] = [];
  const side = new FlowSide(
    { ...SMALL, clock: 'told', ...options },
    {
      flowWindow: (window) => windows.push(window),
      correction: (correction) => corrections.push(correction),
      partial: (partial) => partials.push(partial),
    },
  );
  const observe = (...reports: TestReport[]): void => {
    const batch = batchOf(reports);
    side.observe(batch);
  };
  const second = (ns: string): number => (Number(ns) / 1000 - START_US) / 1e6;
  const shown = (): unknown[] =>
    windows
      .splice(0)
      .map(({ flow, startNs, revision, reports, late, complete }) => [
        flow.sourcePort - 5000,
        second(startNs),
        { revision, reports, late, complete },
      ]);
  const corrected = (): unknown[] =>
    corrections.splice(0).map((one) => {
      const name = 'flow' in one ? one.flow.sourcePort - 5000 : 'none';
      return [name, second(one.startNs), one.late, one.complete];
    });
  return { side, observe, shown, corrected, partials, at: (second: number): number => START_MS + second * 1000 };
}

const report = (second: number, flow = 1): TestReport => pathReport(START_US + second * 1e6, flow, [1, 2]);

describe('a flow side that is told the time', () => {
  it('keeps windows open for reports that lie behind others, however far', () => {
    const { side, observe, shown, at } = told();
    observe(report(0.1), report(50.1), report(0.2), report(7.3), report(50.2), report(0.3));
    expect(shown()).toEqual([]);
    side.advance(at(8));
    expect(shown()).toEqual([[1, 0, { revision: 0, reports: 3, late: 0, complete: true }]]);
    side.advance(at(9));
    side.advance(at(60));
    expect(shown()).toEqual([
      [1, 7, { revision: 0, reports: 1, late: 0, complete: true }],
      [1, 50, { revision: 0, reports: 2, late: 0, complete: true }],
    ]);
    expect(side.totals()).toMatchObject({ late: 0, corrected: 0, incompleteWindows: 0 });
  });

  it('gives a window out again for what comes late, as a whole, and counts what comes later still', () => {
    const { side, observe, shown, corrected, at } = told({ latenessMs: 3000 });
    observe(report(0.1), report(1.1));
    side.advance(at(2.5));
    expect(shown()).toHaveLength(2);
    observe(report(0.2), report(0.3, 2));
    side.revise();
    expect(shown()).toEqual([
      [1, 0, { revision: 1, reports: 2, late: 0, complete: true }],
      [2, 0, { revision: 0, reports: 1, late: 0, complete: true }],
    ]);
    side.revise();
    expect(shown()).toEqual([]);
    side.advance(at(5.5));
    observe(report(0.4), report(3.5));
    expect(corrected()).toEqual([]);
    side.revise();
    expect(corrected()).toEqual([[1, 0, 1, false]]);
    side.advance(at(8));
    expect(shown()).toEqual([
      [1, 3, { revision: 0, reports: 1, late: 0, complete: true }],
      [1, 5, { revision: 0, reports: 0, late: 1, complete: true }],
    ]);
    expect(corrected()).toEqual([]);
    expect(side.totals()).toMatchObject({ late: 1, corrected: 3 });
  });

  it('calls windows not complete where something may be missing, also to the network side, and no others', () => {
    const { side, observe, shown, partials, at } = told();
    observe(report(0.1), report(1.1), report(2.1));
    side.missing(at(0.9), at(1.2));
    side.advance(at(4));
    expect(shown().map((one) => (one as [number, number, { complete: boolean }])[2].complete)).toEqual([
      false,
      false,
      true,
    ]);
    const broken = partials.filter(({ whole }) => !whole).map(({ closed }) => closed - START_US / 250_000);
    // Slices 3 and 4, and what is before them is told of by itself.
    expect(broken).toEqual([5]);
    expect(partials.filter(({ whole }) => whole).map(({ closed }) => closed - START_US / 250_000)).toContain(3);
    expect(partials.at(-1)).toMatchObject({ whole: true });
  });

  it('gives a window out again when it turns out not to be complete, and has the network side do so', () => {
    const networkWindows: NetworkWindow[] = [];
    const network = new NetworkSide({ latenessMs: 60_000 }, { networkWindow: (window) => networkWindows.push(window) });
    const { side, observe, shown, partials, at } = told({ latenessMs: 60_000 });
    observe(report(0.1), report(1.1), report(2.1));
    side.advance(at(4));
    shown();
    for (const partial of partials.splice(0)) network.merge(partial);
    expect(networkWindows.every(({ complete }) => complete)).toBe(true);
    networkWindows.length = 0;
    for (let time = 0; time < 2; time++) side.missing(at(1.5), at(1.6));
    side.revise();
    expect(shown()).toEqual([[1, 1, { revision: 1, reports: 1, late: 0, complete: false }]]);
    expect(partials).toHaveLength(1);
    network.merge(partials[0]!);
    network.revise();
    const second = String(BigInt(START_US + 1_000_000) * 1000n);
    expect(networkWindows.map(({ type, startNs, revision, complete }) => [type, startNs, revision, complete])).toEqual([
      ['switchWindow', second, 1, false],
      ['switchWindow', second, 1, false],
      ['linkWindow', second, 1, false],
    ]);
  });

  it('closes the earliest windows when there is room for no more, and says so', () => {
    const { side, observe, shown, at } = told({ windows: 4 });
    for (let second = 0; second < 10; second++) observe(report(second + 0.5));
    expect(shown()).toEqual(
      Array.from({ length: 6 }, (_, second) => [1, second, { revision: 0, reports: 1, late: 0, complete: false }]),
    );
    observe(report(0.7));
    side.advance(at(20));
    const last = shown();
    expect(last).toHaveLength(4);
    expect(last[0]).toEqual([1, 6, { revision: 0, reports: 1, late: 1, complete: true }]);
    expect(side.totals()).toMatchObject({ late: 1, untracked: 0, incompleteWindows: 6 });
  });

  it('gives out what is open when it ends, says so, and goes on if something comes again', () => {
    const { side, observe, shown, partials, at } = told();
    observe(report(0.1), report(3.1));
    side.advance(at(2));
    shown();
    side.end();
    expect(shown()).toEqual([[1, 3, { revision: 0, reports: 1, late: 0, complete: true }]]);
    expect(partials.at(-1)).toMatchObject({ ended: true, switches: [] });
    observe(report(10.1));
    side.advance(at(20));
    expect(shown()).toEqual([[1, 10, { revision: 0, reports: 1, late: 0, complete: true }]]);
    expect(partials.at(-1)).toMatchObject({ ended: false });
    expect(partials.map(({ number }) => number)).toEqual([...new Set(partials.map(({ number }) => number))]);
    const nothing = told();
    nothing.side.end();
    expect(nothing.partials).toEqual([]);
  });

  it('corrects the window of a flow that it has forgotten and has no room for', () => {
    const { side, observe, shown, corrected, at } = told({ flows: 2, idleMs: 5000 });
    observe(report(0.5, 1));
    side.advance(at(20));
    expect(shown()).toEqual([[1, 0, { revision: 0, reports: 1, late: 0, complete: true }]]);
    // Others have taken its place.
    observe(report(21, 2), report(21, 3));
    observe(report(0.6, 1), report(0.7, 1), report(21.1, 1));
    side.revise();
    expect(corrected()).toEqual([[1, 0, 2, false]]);
    expect(side.totals()).toMatchObject({ untracked: 3, late: 0, flows: 2 });
  });

  it('tells of a slice in pieces when many are open, and of each report once', () => {
    const { side, observe, partials, at } = told();
    const times = Array.from({ length: 200 }, (_, index) => ((index * 7919) % 600) / 10);
    for (const time of times) observe(report(time));
    side.advance(at(70));
    const reports = partials.flatMap(({ switches }) => switches.filter(({ nodeId }) => nodeId === 1));
    expect(reports.reduce((sum, one) => sum + one.reports, 0)).toBe(200);
    expect(partials.map(({ number }) => number)).toEqual(
      [...partials.map(({ number }) => number)].sort((a, b) => a - b),
    );
    const closed = partials.map((one) => one.closed);
    expect(closed).toEqual([...closed].sort((a, b) => a - b));
  });

  it('has its windows back from its state, but for those that were given out: these it corrects without their contents', () => {
    const before = told({ latenessMs: 60_000 });
    before.observe(report(0.1), report(5.1));
    before.side.advance(before.at(2));
    before.side.revise();
    const changes = before.side.changes();
    const after = told({ latenessMs: 60_000 });
    for (const { key, value } of changes) if (value !== null) after.side.restore(key, value);
    after.observe(report(0.2), report(0.3), report(0.3, 2), report(5.2));
    after.side.revise();
    after.observe(report(0.4));
    after.side.advance(after.at(7));
    expect(after.shown()).toEqual([
      [1, 1, { revision: 0, reports: 0, late: 3, complete: true }],
      [2, 1, { revision: 0, reports: 0, late: 1, complete: true }],
      [1, 5, { revision: 0, reports: 2, late: 0, complete: true }],
    ]);
    expect(after.corrected()).toEqual([
      [1, 0, 2, false],
      [2, 0, 1, false],
      [1, 0, 1, false],
    ]);
  });

  it('has the network side correct windows of switches and links, each correction with a larger number', () => {
    const corrections: WindowCorrection[] = [];
    const network = (): NetworkSide =>
      new NetworkSide({ latenessMs: 60_000 }, { correction: (correction) => corrections.push(correction) });
    const { side, observe, partials, at } = told({ latenessMs: 60_000 });
    observe(report(0.1), report(1.1), report(2.1));
    side.advance(at(4));
    const before = network();
    for (const partial of partials.splice(0)) before.merge(partial);
    before.revise();
    const after = network();
    for (const { key, value } of before.changes()) if (value !== null) after.restore(key, value);
    for (const seconds of [[0.2, 0.3], [0.4]]) {
      observe(...seconds.map((second) => report(second)));
      side.revise();
      for (const partial of partials.splice(0)) after.merge(partial);
      after.revise();
    }
    const startNs = String(BigInt(START_US) * 1000n);
    const shown = corrections.map((one) => [
      one.of,
      'link' in one ? one.link : 'nodeId' in one && one.nodeId,
      one.late,
    ]);
    expect(shown).toEqual([
      ['switchWindow', 1, 2],
      ['switchWindow', 2, 2],
      ['linkWindow', [1, 2], 2],
      ['switchWindow', 1, 1],
      ['switchWindow', 2, 1],
      ['linkWindow', [1, 2], 1],
    ]);
    expect(corrections.map((one) => one.startNs)).toEqual(corrections.map(() => startNs));
    expect(new Set(corrections.map(({ id, number }) => `${id} ${number}`)).size).toBe(6);
    expect(corrections[0]!.id).toBe(`switch-1-${START_US}`);
    expect(corrections[3]!.number).toBeGreaterThan(corrections[0]!.number);
  });
});

describe('a flow side whose reports are its clock', () => {
  it('does not call a window complete that lacks a report which came late, whether it is open or out', () => {
    const windows: FlowWindow[] = [];
    const corrections: WindowCorrection[] = [];
    const output = {
      flowWindow: (window: FlowWindow) => windows.push(window),
      correction: (correction: WindowCorrection) => corrections.push(correction),
    };
    const side = new FlowSide(SMALL, output);
    const batch = batchOf([report(0.1), report(0.9), report(0.2), report(2.5), report(0.3)]);
    side.observe(batch);
    side.flush();
    expect(windows.map(({ reports, late, complete }) => ({ reports, late, complete }))).toEqual([
      { reports: 2, late: 1, complete: false },
      { reports: 1, late: 1, complete: true },
    ]);
    expect(corrections.map(({ id, late }) => ({ id, late }))).toEqual([{ id: windows[0]!.id, late: 1 }]);
  });
});
