/** Measured loads beside those that the rehearsal and the traffic before an installation let expect. */
import { describe, expect, it } from 'vitest';
import { ALL_ACT, flow, linkFailure, SAFE, scan } from './scenes.js';
import { Surroundings } from './surroundings.js';

const one = flow({ sourcePort: 1001, mbps: 5 });
const other = flow({ sourcePort: 1002, mbps: 4.5 });
const moved = (each: typeof one, by: number): typeof one => ({ ...each, path: [1, by, 2] });

/** Two elephants on one path, one of which is moved; the minute before saw little of them. */
function colliding(): Surroundings {
  const world = new Surroundings(ALL_ACT);
  const minute = { ...one, bytes: one.bytes / 20 };
  world.rehearsal = { ...SAFE, moved: [{ flow: minute, from: [1, 101, 2], to: [1, 102, 2] }] };
  for (let k = 0; k < 10 && world.loop.proposals.length === 0; k++) world.measured([one, other]);
  expect(world.states()).toEqual(['path installed']);
  const [proposal] = world.loop.proposals;
  // The rehearsal is about what the loop has chosen to move.
  expect(proposal!.intents).toMatchObject([{ match: { sourcePort: [1001, 1001] } }]);
  return world;
}

describe('a moved flow', () => {
  it('is kept where loads are as predicted, and the record has both', () => {
    const world = colliding();
    for (let k = 0; k < 5; k++) world.measured([moved(one, 102), other]);
    expect(world.states()).toEqual(['path verified']);
    const { effects } = world.loop.proposals[0]!;
    expect(effects).toMatchObject({ verdict: 'as-predicted', achieved: 1 });
    expect(effects!.links.find(({ link }) => link === '1:2')).toEqual({
      ...{ link: '1:2', beforeBps: 0, predictedBps: 5e6, measuredBps: 5e6, capacityBps: 10e6 },
    });
    expect(effects!.links.find(({ link }) => link === '1:1')).toMatchObject({
      ...{ beforeBps: 9.5e6, predictedBps: 4.5e6, measuredBps: 4.5e6 },
    });
  });

  it('is moved back where the load fell for another cause, and the flow stayed', () => {
    const world = colliding();
    // The other flow has shrunk; nothing is on the new path.
    for (let k = 0; k < 5; k++) world.measured([one, { ...other, bytes: other.bytes * 0.55 }]);
    expect(world.states()).toEqual(['path rolled-back']);
    expect(world.reason).toContain('loads are not as predicted');
    expect(world.loop.proposals[0]!.effects!.verdict).not.toBe('as-predicted');
    expect(world.loop.intents).toEqual([]);
  });

  it('is moved back where a link fills that nobody expected to be full', () => {
    const world = colliding();
    const third = flow({ source: '10.0.2.9', destination: '10.0.1.9', sourcePort: 7, mbps: 9, path: [2, 102, 1] });
    for (let k = 0; k < 5; k++) world.measured([moved(one, 102), other, third]);
    expect(world.states()).toEqual(['path rolled-back']);
    expect(world.reason).toContain('it made things worse: load of link leaf2:2 90.0 %, 0.0 % predicted');
  });
});

describe('a block', () => {
  const scanner = flow({ source: '198.51.100.7', mbps: 2 });

  it('is judged by its flows, though other traffic comes and goes', () => {
    const world = new Surroundings(ALL_ACT);
    world.measured([scanner, one]);
    world.step({ kind: 'incident', incident: scan(world.nowMs) });
    for (let k = 0; k < 5; k++) world.measured([{ ...one, bytes: one.bytes / 3 }, flow({ sourcePort: 9, mbps: 2 })]);
    expect(world.states()).toEqual(['block verified']);
    expect(world.loop.proposals[0]!.effects!.links.find(({ link }) => link === '1:1')).toMatchObject({
      ...{ beforeBps: 7e6, predictedBps: 5e6 },
    });
  });
});

describe('flows of a failed link', () => {
  const over = (sourcePort: number): typeof one => flow({ sourcePort, mbps: 1 });

  it('are expected on the way that the rehearsal has found', () => {
    const world = new Surroundings(ALL_ACT);
    for (let k = 0; k < 5; k++) world.measured([over(1), over(2)]);
    world.rehearsal = {
      ...SAFE,
      moved: [over(1), over(2)].map((each) => ({
        flow: { ...each, bytes: 60 * each.bytes },
        ...{ from: [1], to: [1, 102, 2] },
      })),
    };
    world.measured([]);
    world.step({ kind: 'event', event: linkFailure(world.nowMs) });
    expect(world.states()).toEqual(['avoid installed']);
    for (let k = 0; k < 5; k++) world.measured([moved(over(1), 102), moved(over(2), 102)]);
    expect(world.states()).toEqual(['avoid verified']);
    expect(world.loop.proposals[0]!.effects).toMatchObject({ verdict: 'as-predicted' });
  });

  it('are not led around a link that carries nothing because they were sent another way', () => {
    const world = new Surroundings(ALL_ACT);
    const back = flow({ source: '10.0.2.1', destination: '10.0.1.1', path: [2, 101, 1] });
    for (let k = 0; k < 4; k++) world.measured([over(1), over(2), back]);
    // Packets of the other direction go on to cross it.
    world.measured([moved(over(1), 102), moved(over(2), 102), back]);
    world.step({ kind: 'event', event: linkFailure(world.nowMs) });
    expect(world.states()).toEqual([]);
    world.step({ kind: 'event', event: linkFailure(world.nowMs, 101, 1) });
    expect(world.states()).toEqual(['avoid installed']);
  });

  /** A link fails in the middle of a window, and the minute before has seen little of its flows. @param mbps of each, later */
  const cut = (mbps: number): Surroundings => {
    const world = new Surroundings(ALL_ACT);
    const flows = [over(1), over(2)];
    const share = (of: number): typeof flows => flows.map((each) => ({ ...each, bytes: of * each.bytes }));
    world.measured(share(0.3));
    for (let k = 0; k < 4; k++) world.measured(flows);
    world.measured(share(0.08));
    world.rehearsal = {
      ...SAFE,
      moved: share(5).map((each) => ({ flow: each, from: [1], to: [1, 102, 2] })),
    };
    world.step({ kind: 'event', event: linkFailure(world.nowMs) });
    expect(world.states()).toEqual(['avoid installed']);
    for (let k = 0; k < 5; k++) world.measured(share(mbps).map((each) => moved(each, 102)));
    return world;
  };

  it('are expected at the rate that they had, not at what was left of it in the window in which the link failed', () => {
    const world = cut(1);
    expect(world.states()).toEqual(['avoid verified']);
    const [proposal] = world.loop.proposals;
    expect(proposal).toMatchObject({ predicted: { after: 2e6 }, measured: { after: 2e6 } });
    expect(proposal!.effects).toMatchObject({ verdict: 'as-predicted', achieved: 1 });
    expect(proposal!.effects!.links.find(({ link }) => link === '1:2')).toMatchObject({
      ...{ beforeBps: 0, predictedBps: 2e6, measuredBps: 2e6 },
    });
  });

  it('are no longer led around it if much less of them comes back', () => {
    const world = cut(0.4);
    expect(world.states()).toEqual(['avoid rolled-back']);
    expect(world.reason).toContain('0.800 Mbit/s now, 2.000 Mbit/s predicted');
  });

  it('are told from those of another link that is avoided at the same time', () => {
    const world = new Surroundings(ALL_ACT);
    const there = [1, 2].map((sourcePort) => flow({ sourcePort, mbps: 3, path: [1, 101, 2] }));
    const back = [3, 4].map((sourcePort) =>
      flow({ source: '10.0.2.1', destination: '10.0.1.1', sourcePort, mbps: 2, path: [2, 102, 1] }),
    );
    for (let k = 0; k < 5; k++) world.measured([...there, ...back]);
    world.measured([]);
    const lead = (flows: typeof there, from: number, to: number, by: number): void => {
      const moves = flows.map((each) => ({ flow: each, from: [from], to: [from, by, to] }));
      world.rehearsal = { ...SAFE, moved: moves };
      world.step({ kind: 'event', event: linkFailure(world.nowMs, from, by === 101 ? 102 : 101) });
    };
    lead(there, 1, 2, 102);
    lead(back, 2, 1, 101);
    expect(world.states()).toEqual(['avoid installed', 'avoid installed']);
    const [thereNow, backNow] = [
      there.map((each) => ({ ...each, path: [1, 102, 2] })),
      back.map((each) => ({ ...each, path: [2, 101, 1] })),
    ];
    for (let k = 0; k < 5; k++) world.measured([...thereNow, ...backNow]);
    expect(world.states()).toEqual(['avoid verified', 'avoid verified']);
    for (const { effects } of world.loop.proposals) {
      expect(effects).toMatchObject({ verdict: 'as-predicted', achieved: 1 });
      expect(effects!.links.find(({ link }) => link === '1:2')).toMatchObject({ beforeBps: 0, predictedBps: 6e6 });
    }
  });
});
