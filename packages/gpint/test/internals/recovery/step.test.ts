import {
  FINE_TUNED,
  type RecoveryAction,
  type RecoveryConfig,
  type RecoveryEvent,
  type RecoveryState,
  recoveryStep,
  type SessionProbe,
} from '@int/gpint';
import { describe, expect, it } from 'vitest';
import { recoveryConfig, sessionBoundNs } from '../../../src/recovery/config.js';
import { initialRecovery } from '../../../src/recovery/step.js';

const T = 400_000_000;

function line(...switches: number[]): SessionProbe {
  return { path: 0, position: 0, switches };
}

/** A state machine in the hands of a test. */
class Machine {
  state: RecoveryState;
  readonly config: RecoveryConfig;

  constructor(overrides: Partial<RecoveryConfig> = {}, firstId = 0) {
    this.state = initialRecovery(firstId);
    this.config = recoveryConfig({ ...FINE_TUNED, ...overrides });
  }

  on(event: RecoveryEvent, nowNs = this.state.nowNs): readonly RecoveryAction[] {
    const { state, actions } = recoveryStep(this.state, event, nowNs, this.config);
    this.state = state;
    return actions;
  }

  start(...probes: SessionProbe[]): RecoveryAction[] {
    return this.on({ kind: 'start', probes }).filter(({ kind }) => kind === 'send');
  }

  /** Ticks as they fall due, up to a time. */
  until(nowNs: number): RecoveryAction[] {
    const actions: RecoveryAction[] = [];
    while (this.state.running && this.state.nextTickNs <= nowNs) {
      actions.push(...this.on({ kind: 'tick' }, this.state.nextTickNs));
    }
    return actions.filter(({ kind }) => kind !== 'wake');
  }

  end(actions: readonly RecoveryAction[]): (RecoveryAction & { kind: 'end' })['result'] {
    const end = actions.find((each) => each.kind === 'end');
    if (end?.kind !== 'end') throw new Error('the session has not ended');
    return end.result;
  }
}

const sends = (actions: readonly RecoveryAction[]): unknown[] =>
  actions.flatMap((each) => (each.kind === 'send' ? [[each.start, each.requestId]] : []));

describe('a session without losses', () => {
  it('ends with the probe that comes home last, and says how long that took', () => {
    const machine = new Machine();
    expect(sends(machine.start(line(4, 5), line(6)))).toEqual([
      [0, 0],
      [0, 1],
    ]);
    machine.on({ kind: 'feedback', requestId: 0 }, 10);
    expect(machine.on({ kind: 'probe', requestId: 1, switches: [6] }, 20)).toEqual([
      { kind: 'data', probe: 1, start: 0, count: 1, skip: 0, sequence: 1 },
      { kind: 'done', probe: 1, outcome: 'finished' },
    ]);
    const result = machine.end(machine.on({ kind: 'probe', requestId: 0, switches: [4, 5] }, 30));
    expect(result).toMatchObject({ complete: true, collected: 3, elapsedNs: 30, sentRecovery: 0, failedProbes: 0 });
    expect(result.counters).toMatchObject({ feedback: 1, home: 2 });
  });

  it('keeps no more probes in flight than it may, and sends the next as one comes home', () => {
    const machine = new Machine({ maxInFlight: 2 });
    expect(machine.start(line(0), line(1), line(2))).toHaveLength(2);
    expect(sends(machine.on({ kind: 'probe', requestId: 1, switches: [1] }, 5))).toEqual([[0, 2]]);
  });

  it('is over at once if there is nothing to collect', () => {
    expect(new Machine().on({ kind: 'start', probes: [] })[0]).toMatchObject({
      kind: 'end',
      result: { complete: true },
    });
  });
});

describe('recovery from the paper', () => {
  it('goes on from the switch after the one that noticed, at the next tick, and records the link', () => {
    const machine = new Machine();
    machine.start(line(1, 2, 3, 4));
    machine.on({ kind: 'feedback', requestId: 0 }, 10);
    expect(machine.on({ kind: 'notice', requestId: 0, switches: [1, 2] }, T + 20)).toEqual([
      { kind: 'data', probe: 0, start: 0, count: 2, skip: 0, sequence: 0 },
      { kind: 'link', from: 2, to: 3, status: 'unavailable' },
    ]);
    expect(sends(machine.until(T + 20 + T / 2))).toEqual([[2, 1]]);
    const result = machine.end(machine.on({ kind: 'probe', requestId: 1, switches: [3, 4] }));
    expect(result).toMatchObject({ complete: true, sentInitial: 1, sentRecovery: 1, failedProbes: 1, switches: [] });
    expect(result.links).toEqual([{ from: 2, to: 3, status: 'unavailable', notices: 1 }]);
  });

  it('calls the link congested if the first probe still comes home', () => {
    const machine = new Machine();
    machine.start(line(1, 2, 3, 4));
    machine.on({ kind: 'feedback', requestId: 0 }, 10);
    machine.on({ kind: 'notice', requestId: 0, switches: [1, 2] }, T + 20);
    machine.until(2 * T);
    const actions = machine.on({ kind: 'probe', requestId: 0, switches: [1, 2, 3, 4] }, 2 * T + 1);
    expect(actions).toContainEqual({ kind: 'link', from: 2, to: 3, status: 'congested' });
    const result = machine.end(actions);
    expect(result).toMatchObject({ complete: true, sentRecovery: 1, failedProbes: 1 });
    expect(result.links[0]).toMatchObject({ status: 'congested' });
    expect(result.counters).toMatchObject({ lateHome: 1, home: 0 });
  });

  it('waits for the old deadline after a notice, if it is told to', () => {
    const machine = new Machine({ keepDeadlineOnNotice: true });
    machine.start(line(1, 2, 3, 4));
    machine.until(T);
    machine.on({ kind: 'notice', requestId: 0, switches: [1, 2] }, T + 20);
    expect(sends(machine.until(4 * T - 1))).toEqual([]);
    expect(sends(machine.until(4 * T))).toEqual([[2, 1]]);
  });

  it('gives a switch up after r_a + 2 sends without feedback, each until its deadline, and goes on with the next', () => {
    const machine = new Machine();
    machine.start(line(7, 8));
    const actions = machine.until(100 * T);
    const records = actions.filter(({ kind }) => kind === 'switch');
    expect(records).toEqual([
      { kind: 'switch', node: 7, reason: 'no-feedback' },
      { kind: 'switch', node: 8, reason: 'no-feedback' },
    ]);
    // Three more from the first switch. The try that gave it up counts for the next one already, as in Algorithm 1.
    expect(sends(actions).map((each) => (each as number[])[0])).toEqual([0, 0, 0, 1, 1, 1]);
    const result = machine.end(actions);
    expect(result).toMatchObject({ complete: false, collected: 0, abandoned: 1, elapsedNs: 0, failedProbes: 7 });
    expect(result.uncollected).toEqual([
      { node: 7, reason: 'no-feedback' },
      { node: 8, reason: 'no-feedback' },
    ]);
    expect(result.endedNs).toBeLessThanOrEqual(sessionBoundNs([line(7, 8)], machine.config));
  });

  it('gives up a switch as well that feeds back but from which nothing ever comes', () => {
    const machine = new Machine();
    machine.start(line(7));
    let sent = 0;
    const actions: RecoveryAction[] = [];
    for (let tries = 0; machine.state.running && tries < 100; tries++) {
      machine.on({ kind: 'feedback', requestId: sent });
      const more = machine.on({ kind: 'tick' }, machine.state.nextTickNs);
      sent += sends(more).length;
      actions.push(...more);
    }
    expect(machine.end(actions).switches).toEqual([{ node: 7, reason: 'no-data' }]);
    expect(sent).toBe(3);
  });

  it('does not call a switch unavailable whose data comes after it was given up', () => {
    const machine = new Machine({ maxAttempts: 0 });
    machine.start(line(7, 8));
    machine.until(4 * T + T / 2);
    expect(machine.state.running).toBe(true);
    const late = machine.on({ kind: 'notice', requestId: 0, switches: [7] });
    expect(late[0]).toMatchObject({ kind: 'data', start: 0, count: 1 });
    const result = machine.end(machine.until(100 * T));
    expect(result.uncollected).toEqual([{ node: 8, reason: 'no-feedback' }]);
    expect(result.switches).toEqual([{ node: 8, reason: 'no-feedback' }]);
  });

  it('waits for answers that may be under way before it names a switch, and ends as soon as they have come', () => {
    const machine = new Machine({ maxAttempts: 0 });
    machine.start(line(7));
    const givenUp = machine.until(3 * T);
    const done = givenUp.findIndex(({ kind }) => kind === 'done');
    expect(givenUp[done]).toMatchObject({ outcome: 'abandoned' });
    expect(givenUp.some(({ kind }) => kind === 'end')).toBe(false);
    // The second and last probe left 1.5 t_f after the first; out and home are two links.
    const lastCallNs = machine.state.lastCallNs;
    expect(lastCallNs).toBe(1.5 * T + 2 * T);
    const late = machine.on({ kind: 'probe', requestId: 1, switches: [7] }, lastCallNs - 1);
    expect(machine.end(late)).toMatchObject({ complete: true, uncollected: [], switches: [], abandoned: 0 });
  });

  it('waits no longer than t_f for each link', () => {
    const machine = new Machine({ maxAttempts: 0 });
    machine.start(line(7));
    const result = machine.end(machine.until(100 * T));
    expect(result.uncollected).toEqual([{ node: 7, reason: 'no-feedback' }]);
    expect(result.endedNs).toBe(3.5 * T);
    expect(result.endedNs).toBeLessThanOrEqual(sessionBoundNs([line(7)], machine.config));
  });

  it('waits for t_f to be exceeded, not only reached', () => {
    const machine = new Machine({ resolutionNs: T });
    machine.start(line(1));
    expect(sends(machine.until(T))).toEqual([]);
    expect(sends(machine.until(2 * T))).toEqual([[0, 1]]);
  });

  it('is not held up by a notice that says what a timeout has assumed already', () => {
    const machine = new Machine({ maxAttempts: 0 });
    machine.start(line(7, 8, 9));
    // Given up after the second try; the index is where the notice would move it.
    machine.until(6 * T);
    const before = machine.state.progress.root?.[0];
    expect(before).toMatchObject({ index: 1, queued: null });
    machine.on({ kind: 'notice', requestId: 0, switches: [7] });
    expect(machine.state.progress.root?.[0]).toEqual(before);
    expect(machine.state.counters).toMatchObject({ notice: 0, lateNotice: 1 });
  });

  it('clears a link by what another probe shows, but only if that one left afterwards', () => {
    const machine = new Machine();
    machine.start(line(1, 2, 3), line(0, 1, 2), line(0, 1, 2));
    machine.on({ kind: 'notice', requestId: 0, switches: [1] }, T);
    const clears = { kind: 'link', from: 1, to: 2, status: 'congested' };
    expect(machine.on({ kind: 'probe', requestId: 1, switches: [0, 1, 2] }, T + 1)).not.toContainEqual(clears);
    // The other probe is sent again, and passes the link now.
    expect(sends(machine.until(5 * T)).length).toBeGreaterThan(0);
    const send = machine.state.progress.root?.[2] as { requestId: number };
    expect(machine.on({ kind: 'probe', requestId: send.requestId, switches: [0, 1, 2] })).toContainEqual(clears);
  });

  it('counts attempts anew when the index moves', () => {
    const machine = new Machine();
    machine.start(line(1, 2, 3));
    machine.until(9 * T);
    machine.on({ kind: 'notice', requestId: machine.state.nextId - 1, switches: [1] });
    machine.until(machine.state.nowNs + T / 2);
    expect(machine.state.progress.root?.[0]).toMatchObject({ index: 1, attempts: 0 });
  });
});

describe('packets that come late, twice, in the wrong order or not at all', () => {
  it('takes feedback of an earlier try for that of the switch', () => {
    const machine = new Machine();
    machine.start(line(1));
    machine.until(2 * T);
    machine.on({ kind: 'feedback', requestId: 0 });
    expect(machine.state.counters.feedback).toBe(1);
    machine.on({ kind: 'feedback', requestId: 1 });
    expect(machine.state.counters.lateFeedback).toBe(1);
  });

  it('ignores a second copy of anything', () => {
    const machine = new Machine();
    machine.start(line(1, 2, 3), line(9));
    for (const event of [
      { kind: 'feedback', requestId: 0 },
      { kind: 'notice', requestId: 0, switches: [1] },
      { kind: 'probe', requestId: 0, switches: [1, 2, 3] },
    ] as const) {
      machine.on(event);
      const before = machine.state;
      expect(machine.on(event)).toEqual([{ kind: 'ignored', requestId: 0, reason: 'duplicate' }]);
      expect({ ...machine.state, counters: before.counters }).toEqual(before);
    }
    expect(machine.state.counters.duplicate).toBe(3);
  });

  it('never moves an index back for a notice that was overtaken, and calls its link congested', () => {
    const machine = new Machine();
    machine.start(line(1, 2, 3, 4));
    machine.on({ kind: 'notice', requestId: 0, switches: [1, 2, 3] }, 10);
    const actions = machine.on({ kind: 'notice', requestId: 0, switches: [1] }, 11);
    expect(actions).toEqual([{ kind: 'link', from: 1, to: 2, status: 'congested' }]);
    expect(machine.state.counters).toMatchObject({ notice: 1, lateNotice: 1 });
    expect(sends(machine.until(T))).toEqual([[3, 1]]);
  });

  it('refuses switches that are not those it sent the probe to', () => {
    const machine = new Machine();
    machine.start(line(1, 2, 3));
    for (const switches of [[], [2], [1, 3], [1, 2, 3, 1], [1, 2, 4]]) {
      expect(machine.on({ kind: 'probe', requestId: 0, switches })).toEqual([
        { kind: 'ignored', requestId: 0, reason: 'foreign' },
      ]);
      expect(machine.on({ kind: 'notice', requestId: 0, switches })[0]).toMatchObject({ reason: 'foreign' });
    }
    // A probe that is home has been everywhere; a notice never has.
    expect(machine.on({ kind: 'probe', requestId: 0, switches: [1, 2] })[0]).toMatchObject({ reason: 'foreign' });
    expect(machine.on({ kind: 'notice', requestId: 0, switches: [1, 2, 3] })[0]).toMatchObject({ reason: 'foreign' });
    expect(machine.state.counters.foreign).toBe(12);
    expect(machine.state.running).toBe(true);
  });

  it('tells ids of former sessions from ids that never were', () => {
    const machine = new Machine({}, 0x7fff);
    machine.start(line(1));
    machine.on({ kind: 'probe', requestId: 0x7fff, switches: [1] });
    expect(machine.state.running).toBe(false);
    machine.start(line(1));
    expect(machine.on({ kind: 'probe', requestId: 0x7fff, switches: [1] })[0]).toMatchObject({ reason: 'stale' });
    expect(machine.on({ kind: 'feedback', requestId: 77 })[0]).toMatchObject({ reason: 'unknown' });
    expect(machine.state.counters).toMatchObject({ stale: 1, unknown: 1 });
  });

  it('takes a time before the last one for the last one', () => {
    const machine = new Machine();
    machine.start(line(1));
    machine.on({ kind: 'feedback', requestId: 0 }, 500);
    machine.on({ kind: 'tick' }, 100);
    expect(machine.state.nowNs).toBe(500);
  });

  it('names the switches of a probe when a session is stopped or replaced', () => {
    const machine = new Machine();
    machine.start(line(1, 2), line(3));
    machine.on({ kind: 'probe', requestId: 1, switches: [3] });
    const actions = machine.on({ kind: 'start', probes: [line(5)] }, 9);
    expect(machine.end(actions).uncollected).toEqual([
      { node: 1, reason: 'session-end' },
      { node: 2, reason: 'session-end' },
    ]);
    expect(machine.end(machine.on({ kind: 'stop' }))).toMatchObject({ session: 2, uncollected: [{ node: 5 }] });
    expect(machine.on({ kind: 'stop' })).toEqual([]);
  });

  it('ends a session when its time is over', () => {
    const machine = new Machine({ sessionTimeoutNs: 3 * T });
    machine.start(line(1, 2));
    const result = machine.end(machine.until(100 * T));
    expect(result.endedNs).toBe(3 * T);
    expect(result.uncollected[0]).toEqual({ node: 1, reason: 'session-end' });
  });
});

describe('request ids', () => {
  it('wrap, and are not given to a second probe while the first waits for an answer', () => {
    const machine = new Machine({ maxInFlight: 2 }, 32_760);
    // Every switch of the first path is dead and keeps its ids; the others come home at once.
    const others = Array.from({ length: 40_000 }, () => line(2));
    machine.start(line(1), ...others);
    let id = 32_761;
    const used = new Set([32_760]);
    for (let i = 0; i < 32_766; i++) {
      const [next] = sends(machine.on({ kind: 'probe', requestId: id, switches: [2] })) as [[number, number]];
      used.add(id);
      id = next[1];
    }
    expect(used.size).toBe(32_767);
    const [next] = sends(machine.on({ kind: 'probe', requestId: id, switches: [2] })) as [[number, number]];
    expect(next[1]).toBe(32_761);
  });
});

describe('a monitor with a way to go before the path', () => {
  const prefixTo: RecoveryConfig['prefixTo'] = ({ target, avoid }) =>
    target === 9 ? [] : avoid(9, 5) ? [9, 6] : [9, 5];

  it('measures nothing on that way, and goes around the link on which the probe was lost', () => {
    const machine = new Machine({ prefixTo, maxPrefixHops: 2 });
    const [first] = machine.start(line(1, 2));
    expect(first).toMatchObject({ kind: 'send', start: 0, prefix: [9, 5] });
    machine.on({ kind: 'feedback', requestId: 0 }, 5);
    expect(machine.on({ kind: 'notice', requestId: 0, switches: [9] }, T)).toEqual([
      { kind: 'link', from: 9, to: 5, status: 'unavailable' },
    ]);
    const [again] = machine.until(T + T / 2);
    expect(again).toMatchObject({ kind: 'send', start: 0, prefix: [9, 6], requestId: 1 });
    expect(machine.state.progress.root?.[0]).toMatchObject({ index: 0, attempts: 1 });
    const result = machine.end(machine.on({ kind: 'probe', requestId: 1, switches: [9, 6, 1, 2] }));
    // 9 passed the probe on, but was not asked.
    expect(result).toMatchObject({ complete: true, collected: 2 });
  });
});

describe('recovery switched off', () => {
  it('gives a probe up at its deadline, makes room for the next, and takes the late one all the same', () => {
    const machine = new Machine({ recover: false, maxInFlight: 1 });
    machine.start(line(1, 2), line(3));
    const actions = machine.until(2 * T);
    expect(actions).toContainEqual({ kind: 'done', probe: 0, outcome: 'abandoned' });
    expect(sends(actions)).toEqual([[0, 1]]);
    machine.on({ kind: 'probe', requestId: 0, switches: [1, 2] });
    const result = machine.end(machine.on({ kind: 'probe', requestId: 1, switches: [3] }));
    expect(result).toMatchObject({ complete: true, abandoned: 0, failedProbes: 0 });
    expect(result.counters).toMatchObject({ home: 1, lateHome: 1 });
  });
});

describe('adaptive timeouts of a monitor', () => {
  it('follow the feedback of each entry switch, and grow while none comes', () => {
    const machine = new Machine({ adaptive: { minNs: 1_000_000, maxNs: T } });
    for (let round = 0; round < 30; round++) {
      machine.start(line(1));
      const now = machine.state.nowNs + 2_000_000;
      const id = (machine.state.nextId - 1) & 0x7fff;
      machine.on({ kind: 'feedback', requestId: id }, now);
      machine.on({ kind: 'probe', requestId: id, switches: [1] }, now);
    }
    machine.start(line(1), line(2));
    const timeout = (probe: number): unknown => machine.state.progress.root?.[probe];
    expect(timeout(1)).toMatchObject({ timeoutNs: T });
    expect(timeout(0)).toMatchObject({ timeoutNs: expect.closeTo(2_000_000, -4) });
    machine.until(machine.state.nowNs + T / 2);
    expect(timeout(0)).toMatchObject({ timeoutNs: expect.closeTo(4_000_000, -5) });
  });
});

describe('parameters of recovery', () => {
  it('are those of the paper by default', () => {
    expect(recoveryConfig()).toMatchObject({
      timeoutNs: 1_500_000_000,
      resolutionNs: 750_000_000,
      maxAttempts: 10,
      maxInFlight: 12,
      recover: true,
    });
    expect(recoveryConfig(FINE_TUNED)).toMatchObject({
      timeoutNs: 400_000_000,
      resolutionNs: 200_000_000,
      maxAttempts: 2,
    });
  });

  it('are refused outside their ranges', () => {
    const wrong: Partial<RecoveryConfig>[] = [
      { timeoutNs: 0 },
      { timeoutNs: 1.5 },
      { resolutionNs: Number.NaN },
      { maxAttempts: -1 },
      { maxInFlight: 0 },
      { maxInFlight: 16_385 },
      { sessionTimeoutNs: Number.POSITIVE_INFINITY },
      { adaptive: { minNs: 0, maxNs: 1 } },
      { adaptive: { minNs: 2, maxNs: 1 } },
    ];
    for (const each of wrong) expect(() => recoveryConfig(each)).toThrow(RangeError);
    expect(() => initialRecovery(0x8000)).toThrow(RangeError);
  });
});
