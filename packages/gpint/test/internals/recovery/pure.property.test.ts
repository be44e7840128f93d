import {
  type RecoveryConfig,
  type RecoveryEvent,
  type RecoveryState,
  recoveryStep,
  type SessionProbe,
} from '@int/gpint';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { recoveryConfig, sessionBoundNs } from '../../../src/recovery/config.js';
import { initialRecovery } from '../../../src/recovery/step.js';
import { SEED } from '../../seed.js';

const probes: fc.Arbitrary<SessionProbe[]> = fc.array(
  fc.record({
    path: fc.nat(3),
    position: fc.nat(3),
    switches: fc.array(fc.nat(6), { minLength: 1, maxLength: 5 }),
  }),
  { maxLength: 4 },
);

/** Packets that answer a probe that was sent, or not quite. */
interface Arrival {
  readonly kind: 'feedback' | 'probe' | 'notice';
  /** How many sends ago. */
  readonly ago: number;
  readonly length: number;
  readonly spoil: boolean;
}

type Move = { readonly start: SessionProbe[] } | { readonly wait: number } | Arrival | { readonly stop: true };

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: fc.record({ start: probes }) },
    { weight: 6, arbitrary: fc.record({ wait: fc.nat(3000) }) },
    {
      weight: 12,
      arbitrary: fc.record({
        kind: fc.constantFrom('feedback' as const, 'probe' as const, 'notice' as const),
        ago: fc.nat(6),
        length: fc.nat(6),
        spoil: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ stop: true } as const) },
  ),
  { minLength: 1, maxLength: 60 },
);

const configs: fc.Arbitrary<RecoveryConfig> = fc
  .record({
    timeoutNs: fc.constantFrom(700, 1000),
    maxAttempts: fc.nat(3),
    maxInFlight: fc.integer({ min: 1, max: 3 }),
    recover: fc.constantFrom(true, true, true, false),
    keepDeadlineOnNotice: fc.boolean(),
    sessionTimeoutNs: fc.constantFrom(null, 9000),
    adaptive: fc.constantFrom(null, { minNs: 100, maxNs: 2000 }),
    prefixTo: fc.constantFrom(null, ({ target }: { target: number }) =>
      target % 2 === 0 ? [] : [8, 8 + (target % 4)],
    ),
    maxPrefixHops: fc.constant(2),
  })
  .map(recoveryConfig);

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const each of Object.values(value)) deepFreeze(each);
}

/** Plays moves; `check` sees every step. */
function play(
  all: readonly Move[],
  config: RecoveryConfig,
  check: (state: RecoveryState, event: RecoveryEvent, nowNs: number) => RecoveryState,
): void {
  let state = initialRecovery(0x7ffc);
  let nowNs = 0;
  const sent: { requestId: number; route: number[] }[] = [];
  const apply = (event: RecoveryEvent): void => {
    const before = state;
    for (const action of recoveryStep(before, event, nowNs, config).actions) {
      if (action.kind !== 'send') continue;
      const probe = (event.kind === 'start' ? event.probes : before.probes)[action.probe]!;
      sent.push({ requestId: action.requestId, route: [...action.prefix, ...probe.switches.slice(action.start)] });
    }
    state = check(before, event, nowNs);
  };
  apply({ kind: 'start', probes: [{ path: 0, position: 0, switches: [1, 2, 3] }] });
  for (const move of all) {
    if ('start' in move) apply({ kind: 'start', probes: move.start });
    else if ('stop' in move) apply({ kind: 'stop' });
    else if ('wait' in move) {
      nowNs += move.wait;
      apply({ kind: 'tick' });
    } else {
      const { requestId, route } = sent[Math.max(0, sent.length - 1 - move.ago)] ?? { requestId: 5, route: [1] };
      const switches = route.slice(0, move.kind === 'probe' && !move.spoil ? route.length : move.length);
      if (move.spoil && switches.length > 0) switches[0]!++;
      apply(move.kind === 'feedback' ? { kind: 'feedback', requestId } : { kind: move.kind, requestId, switches });
    }
  }
}

describe('the recovery state machine', () => {
  it('gives the same result for the same input, changes nothing of it, and continues from JSON', () => {
    fc.assert(
      fc.property(moves, configs, (all, config) => {
        play(all, config, (state, event, nowNs) => {
          deepFreeze(state);
          deepFreeze(event);
          const step = recoveryStep(state, event, nowNs, config);
          expect(recoveryStep(state, event, nowNs, config)).toEqual(step);
          const restored: RecoveryState = JSON.parse(JSON.stringify(state));
          expect(restored).toEqual(state);
          expect(recoveryStep(restored, event, nowNs, config)).toEqual(step);
          return step.state;
        });
      }),
      { seed: SEED, numRuns: runs(600) },
    );
  });

  it('keeps its books: what is in flight, done and waiting adds up, and every arrival is counted once', () => {
    fc.assert(
      fc.property(moves, configs, (all, config) => {
        let ended = 0;
        let begun = 0;
        play(all, config, (before, event, nowNs) => {
          const { state, actions } = recoveryStep(before, event, nowNs, config);
          ended += actions.filter(({ kind }) => kind === 'end').length;
          if (event.kind === 'start') begun++;
          expect(begun - ended).toBe(state.running ? 1 : 0);
          if (state.running) {
            expect(state.active.length).toBeLessThanOrEqual(config.maxInFlight);
            expect(state.active.length + state.done).toBe(state.launched);
            expect(state.active.length).toBeGreaterThan(0);
            expect(state.nextTickNs).toBeGreaterThan(state.nowNs);
            const waits = Math.min(config.maxInFlight, state.probes.length - state.done);
            expect(state.active).toHaveLength(waits);
          }
          if (event.kind === 'feedback' || event.kind === 'probe' || event.kind === 'notice') {
            const total = (counters: object): number => Object.values(counters).reduce((sum, each) => sum + each, 0);
            // The counters of a session that has just ended are in its result.
            const end = actions.find((each) => each.kind === 'end');
            const after = end?.kind === 'end' ? end.result.counters : state.counters;
            expect(total(after)).toBe(total(before.counters) + 1);
          }
          return state;
        });
      }),
      { seed: SEED, numRuns: runs(600) },
    );
  });

  it('is over by its bound if it is only left alone', () => {
    fc.assert(
      fc.property(moves, configs, (all, config) => {
        let last = initialRecovery();
        play(all, config, (state, event, nowNs) => {
          last = recoveryStep(state, event, nowNs, config).state;
          return last;
        });
        const bound = sessionBoundNs(last.probes, config);
        const startedNs = last.nowNs;
        while (last.running) {
          const step = recoveryStep(last, { kind: 'tick' }, last.nextTickNs, config);
          last = step.state;
          expect(last.nowNs - startedNs).toBeLessThanOrEqual(bound);
        }
      }),
      { seed: SEED, numRuns: runs(600) },
    );
  });
});

describe('a session of 3,000 paths', () => {
  it('is collected without work that grows with the number of paths for each packet', () => {
    const all = Array.from({ length: 3000 }, (_, path) => ({
      path,
      position: 0,
      switches: [path, path + 1, path + 2],
    }));
    const config = recoveryConfig({ maxInFlight: 12 });
    let { state, actions } = recoveryStep(initialRecovery(), { kind: 'start', probes: all }, 0, config);
    const waiting = actions.filter((each) => each.kind === 'send');
    let changed = 0;
    while (state.running) {
      const { requestId, probe } = waiting.shift()!;
      const step = recoveryStep(state, { kind: 'probe', requestId, switches: all[probe]!.switches }, 1, config);
      // Looking at all of them each time would take long.
      if (requestId % 50 === 40) {
        const known = new Set<unknown>();
        countNew(state.progress.root, known);
        changed = Math.max(changed, countNew(step.state.progress.root, known));
      }
      ({ state, actions } = step);
      waiting.push(...actions.filter((each) => each.kind === 'send'));
    }
    expect(state.nextId).toBe(3000);
    // Two changes (one probe done, one sent) of three levels each, and the entries themselves.
    expect(changed).toBeGreaterThan(0);
    expect(changed).toBeLessThanOrEqual(8);
  });
});

/** Arrays and entries of a tree that are not known yet; they are now. */
function countNew(tree: unknown, known: Set<unknown>): number {
  if (typeof tree !== 'object' || tree === null || known.has(tree)) return 0;
  known.add(tree);
  return Array.isArray(tree) ? tree.reduce<number>((sum, each) => sum + countNew(each, known), 1) : 1;
}
