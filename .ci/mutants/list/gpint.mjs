// @ts-check
/** @type {readonly import('../list.mjs').Mutant[]} */
export const gpint = [
  {
    id: 'gpint-stale-id',
    file: 'packages/gpint/src/recovery/draft.ts',
    find: '(this.state.nextId - 1 - requestId) & ID_MASK',
    put: '(this.state.nextId - requestId) & ID_MASK',
    defect: 'the oldest request id counts as never given out',
    rare: true,
  },
  {
    id: 'gpint-notice-of-last-switch',
    file: 'packages/gpint/src/recovery/step.ts',
    find: 'if (reach === 0 || reach >= full ||',
    put: 'if (reach === 0 || reach > full ||',
    defect: 'a notice is taken from the last switch, which keeps no clone',
    rare: true,
  },
  {
    id: 'gpint-attempts',
    file: 'packages/gpint/src/recovery/step.ts',
    find: 'if (progress.attempts <= draft.config.maxAttempts)',
    put: 'if (progress.attempts < draft.config.maxAttempts)',
    defect: 'a switch is given up one attempt early',
  },
  {
    id: 'gpint-late-measurement',
    file: 'packages/gpint/src/monitor/telemetry.ts',
    find: 'if (this.#sequences[node]! <= sequence) {',
    put: 'if (this.#sequences[node]! >= -1) {',
    defect: 'what an earlier send brings late replaces what a later one has brought',
    rare: true,
  },
  {
    id: 'gpint-rtt-variation',
    file: 'packages/gpint/src/recovery/adaptive.ts',
    find: '- state.variationNs) / 4;',
    put: '- state.variationNs) / 8;',
    defect: 'the variation of round trips is smoothed twice as much',
  },
  {
    id: 'gpint-prefix-length',
    file: 'packages/gpint/src/recovery/prefix.ts',
    find: 'if (distance[node]! > maxHops) break;',
    put: 'if (distance[node]! >= maxHops) break;',
    defect: 'the longest way to a switch that is allowed is not found',
    rare: true,
  },
  {
    id: 'gpint-cover-cut-size',
    file: 'packages/gpint/src/planner/cover.ts',
    find: 'const front = ((place[v]! - place[this.head[s]!]!) | 0) + 1;',
    put: 'const front = (place[v]! - place[this.head[s]!]!) | 0;',
    defect: 'the front part of a path that was cut is counted one short',
  },
];
