/**
 * The recovery of lost probes as a pure function (reliable GPINT, section IV-C, Algorithms 1 and 2).
 *
 * F (no feedback yet) and Q (to be resent) are flags of each probe in flight. Choices that the paper leaves open:
 * - a send's deadline is t_f (hops ahead + 1) after it;
 * - `attempts` counts the failed sends since the index last moved: those without feedback after t_f, and those with
 *   feedback but without an arrival by their deadline. Without the second kind, recovery might never end;
 * - a notice from hop j moves the index to j + 1 and never back, and the rest is sent at the next tick;
 * - late arrivals are merged as long as their session runs. After giving up switches, the session waits for answers to
 *   the last send, with t_f for each link.
 */
import { afterSample, afterTimeout, timeoutOf } from './adaptive.js';
import { Draft, NO_SESSION, routeSwitch } from './draft.js';
import type {
  ProbeProgress,
  RecoveryConfig,
  RecoveryEvent,
  RecoveryState,
  RecoveryStep,
  SendRecord,
  SessionProbe,
} from './model.js';
import { emptyTrie, trieGet, trieSet } from './trie.js';

const NO_PREFIX: readonly number[] = /* @__PURE__ */ Object.freeze([]);

/**
 * The initial state of a monitor.
 *
 * @param firstId first request id, 0 to 32767; a restarted monitor should use another one, so that answers to its
 *   earlier probes are not accepted
 */
export function initialRecovery(firstId = 0): RecoveryState {
  if (!Number.isInteger(firstId) || firstId < 0 || firstId > 0x7fff) {
    throw new RangeError(`firstId must be an integer from 0 to 32767, not ${firstId}`);
  }
  const times = { nowNs: 0, nextTickNs: 0, lastCallNs: 0, startedNs: 0, lastArrivalNs: 0 };
  return { ...NO_SESSION, ...times, session: 0, nextId: firstId, issued: 0, roundTrips: emptyTrie() };
}

/**
 * Computes the state after an event, and the actions to carry out. The old state does not change; both share equal
 * parts. The time is proportional to the changes: for an arrival the length of its route, for a tick the number of
 * probes in flight.
 *
 * @param nowNs time of the event, integer ns
 * @param config a result of `recoveryConfig`, the same for all steps of a state
 */
export function recoveryStep(
  state: RecoveryState,
  event: RecoveryEvent,
  nowNs: number,
  config: RecoveryConfig,
): RecoveryStep {
  const draft = new Draft(state, nowNs, config);
  switch (event.kind) {
    case 'start':
      start(draft, event.probes);
      break;
    case 'tick':
      tick(draft);
      break;
    case 'feedback':
      feedback(draft, event.requestId);
      break;
    case 'probe':
      home(draft, event.requestId, event.switches);
      break;
    case 'notice':
      notice(draft, event.requestId, event.switches);
      break;
    case 'stop':
      if (draft.state.running) draft.end(true);
      break;
  }
  return { state: draft.state, actions: draft.actions };
}

function start(draft: Draft, probes: readonly SessionProbe[]): void {
  const { state } = draft;
  if (state.running) draft.end(true);
  state.session++;
  state.running = true;
  state.startedNs = state.nowNs;
  state.lastCallNs = state.nowNs;
  state.lastArrivalNs = state.nowNs;
  state.probes = probes;
  if (probes.length === 0) {
    draft.end(false);
    return;
  }
  launch(draft);
  wakeLater(draft);
}

function wakeLater(draft: Draft): void {
  const { state, config, actions } = draft;
  state.nextTickNs = state.nowNs + config.resolutionNs;
  actions.push({ kind: 'wake', atNs: state.nextTickNs });
}

/** Sends waiting probes to free places. */
function launch(draft: Draft): void {
  const { state, config } = draft;
  const room = Math.min(config.maxInFlight - state.active.length, state.probes.length - state.launched);
  if (room <= 0) return;
  const active = [...state.active];
  for (let i = 0; i < room; i++) {
    const probe = state.launched++;
    active.push(probe);
    send(draft, probe, 0, 0, false);
  }
  state.active = active;
}

/** Sends a probe from the switch at `index` on. */
function send(draft: Draft, probe: number, index: number, attempts: number, recovery: boolean): void {
  const { state, config } = draft;
  const { switches } = state.probes[probe]!;
  const target = switches[index]!;
  const prefix =
    config.prefixTo === null
      ? NO_PREFIX
      : config.prefixTo({ target, attempt: attempts, avoid: (from, to) => draft.avoids(from, to) });
  const requestId = draft.takeId();
  const { timeoutNs } = config;
  const ownTimeoutNs =
    config.adaptive === null
      ? timeoutNs
      : timeoutOf(trieGet(state.roundTrips, prefix[0] ?? target), config.adaptive, timeoutNs);
  const hops = switches.length - 1 - index + prefix.length;
  draft.setSend(requestId, {
    probe,
    start: index,
    prefix,
    sentNs: state.nowNs,
    sequence: state.sent,
    reach: 0,
    noticed: [],
    fedBack: false,
    home: false,
  });
  draft.setProgress(probe, {
    index,
    attempts,
    requestId,
    initNs: state.nowNs,
    deadlineNs: state.nowNs + ownTimeoutNs + hops * timeoutNs,
    timeoutNs: ownTimeoutNs,
    pending: true,
    queued: null,
    outcome: 'open',
  });
  state.sent++;
  // To the first switch, over the hops, and back from the last.
  state.lastCallNs = Math.max(state.lastCallNs, state.nowNs + (hops + 2) * timeoutNs);
  draft.actions.push({ kind: 'send', probe, start: index, requestId, prefix, recovery });
}

/** Algorithm 1, lines 2 to 12, and Algorithm 2. */
function tick(draft: Draft): void {
  const { state, config } = draft;
  if (!state.running || state.nowNs < state.nextTickNs) return;
  if (config.sessionTimeoutNs !== null && state.nowNs - state.startedNs >= config.sessionTimeoutNs) {
    draft.end(true);
    return;
  }
  const { active } = state;
  if (config.recover) for (const probe of active) lookForTimeout(draft, probe);
  for (const probe of active) {
    if (state.nowNs < draft.progress(probe).deadlineNs) continue;
    if (config.recover) processQueued(draft, probe);
    else close(draft, probe, 'abandoned');
  }
  afterClosing(draft);
  endIfOver(draft);
  if (state.running) wakeLater(draft);
}

function lookForTimeout(draft: Draft, probe: number): void {
  const { state } = draft;
  const progress = draft.progress(probe);
  if (!progress.pending || progress.queued !== null || state.nowNs - progress.initNs <= progress.timeoutNs) return;
  if (draft.config.adaptive !== null) {
    const entry = routeSwitch(trieGet(state.sends, progress.requestId)!, state.probes[probe]!.switches, 0);
    const estimate = afterTimeout(trieGet(state.roundTrips, entry));
    if (estimate !== null) state.roundTrips = trieSet(state.roundTrips, entry, estimate);
  }
  draft.setProgress(probe, { ...strike(draft, probe, progress), queued: 'timeout' });
}

/**
 * Counts a failed send. After more than r_a of them the switch at the index is given up (Algorithm 1, lines 8 to 12).
 */
function strike(draft: Draft, probe: number, progress: ProbeProgress): ProbeProgress {
  if (progress.attempts <= draft.config.maxAttempts) return { ...progress, attempts: progress.attempts + 1 };
  const node = draft.state.probes[probe]!.switches[progress.index]!;
  draft.recordSwitch(node, progress.pending ? 'no-feedback' : 'no-data');
  return { ...progress, index: progress.index + 1, attempts: 1 };
}

/** Algorithm 2 for a probe whose deadline has passed. */
function processQueued(draft: Draft, probe: number): void {
  let progress = draft.progress(probe);
  if (progress.queued === null) return;
  // The probe reached the first switch, but neither it nor a notice came back.
  if (progress.queued === 'feedback') progress = strike(draft, probe, progress);
  if (progress.index < draft.state.probes[probe]!.switches.length) {
    send(draft, probe, progress.index, progress.attempts, true);
  } else {
    draft.setProgress(probe, progress);
    close(draft, probe, 'abandoned');
  }
}

/** Ends a probe; {@link afterClosing} must follow. */
function close(draft: Draft, probe: number, outcome: 'finished' | 'abandoned'): void {
  const { state } = draft;
  draft.setProgress(probe, { ...draft.progress(probe), pending: false, queued: null, outcome });
  draft.closed.push(probe);
  state.done++;
  if (outcome === 'abandoned') state.abandoned++;
  draft.actions.push({ kind: 'done', probe, outcome });
}

/** Removes closed probes from flight and fills their places. */
function afterClosing(draft: Draft): void {
  const { state, closed } = draft;
  if (closed.length === 0) return;
  const { active } = state;
  state.active =
    closed.length === 1
      ? active.toSpliced(active.indexOf(closed[0]!), 1)
      : active.filter((probe) => draft.progress(probe).outcome === 'open');
  launch(draft);
}

/**
 * Ends the session after its last probe. Answers of given-up switches may still be in transit, later than t_f. The
 * session waits for them as long as t_f for each link allows.
 */
function endIfOver(draft: Draft): void {
  const { state, config } = draft;
  if (!state.running || state.done < state.probes.length) return;
  if (config.recover && state.missing > 0 && state.nowNs < state.lastCallNs) return;
  draft.end(false);
}

/** Algorithm 1, lines 20 and 21. */
function feedback(draft: Draft, requestId: number): void {
  const { state, config } = draft;
  const record = trieGet(state.sends, requestId);
  if (record === null) {
    draft.ignoreStranger(requestId);
    return;
  }
  if (record.fedBack) {
    draft.ignore(requestId, 'duplicate');
    return;
  }
  draft.setSend(requestId, { ...record, fedBack: true });
  if (config.adaptive !== null) {
    const entry = routeSwitch(record, state.probes[record.probe]!.switches, 0);
    const sample = state.nowNs - record.sentNs;
    state.roundTrips = trieSet(state.roundTrips, entry, afterSample(trieGet(state.roundTrips, entry), sample));
  }
  const progress = draft.progress(record.probe);
  // Feedback of an earlier attempt also proves the switch alive, if t_f is shorter than a round trip.
  const sameSwitch = record.start === progress.index && record.prefix.length === 0;
  if (progress.outcome !== 'open' || !progress.pending || !(progress.requestId === requestId || sameSwitch)) {
    draft.count('lateFeedback');
    return;
  }
  draft.count('feedback');
  draft.setProgress(record.probe, { ...progress, pending: false, queued: progress.queued ?? 'feedback' });
}

/** Whether the DLV headers match the first switches of a send's route. */
function matches(draft: Draft, record: SendRecord, visited: ArrayLike<number>): boolean {
  const { switches } = draft.state.probes[record.probe]!;
  if (visited.length > record.prefix.length + switches.length - record.start) return false;
  for (let at = 0; at < visited.length; at++) {
    if (visited[at] !== routeSwitch(record, switches, at)) return false;
  }
  return true;
}

/** Merges the data of an arrival beyond those of earlier ones. */
function merge(draft: Draft, record: SendRecord, reach: number): void {
  const { state } = draft;
  state.lastArrivalNs = state.nowNs;
  const skip = record.prefix.length;
  const count = reach - skip;
  if (reach <= record.reach || count <= 0) return;
  const { probe, start: first, sequence } = record;
  const { switches } = state.probes[probe]!;
  for (let at = first; at < first + count; at++) draft.markCollected(switches[at]!);
  draft.actions.push({ kind: 'data', probe, start: first, count, skip, sequence });
}

/** 0x17: Algorithm 1, lines 17 and 18. */
function home(draft: Draft, requestId: number, visited: ArrayLike<number>): void {
  const { state } = draft;
  const record = trieGet(state.sends, requestId);
  if (record === null) {
    draft.ignoreStranger(requestId);
    return;
  }
  const full = record.prefix.length + state.probes[record.probe]!.switches.length - record.start;
  if (visited.length !== full || !matches(draft, record, visited)) {
    draft.ignore(requestId, 'foreign');
    return;
  }
  if (record.home) {
    draft.ignore(requestId, 'duplicate');
    return;
  }
  merge(draft, record, full);
  draft.clearLinks(record, full);
  draft.setSend(requestId, { ...record, home: true, reach: full });
  state.completeSends++;
  const progress = draft.progress(record.probe);
  const awaited = progress.requestId === requestId && progress.queued !== 'timeout' && progress.queued !== 'notice';
  draft.count(progress.outcome === 'open' && awaited ? 'home' : 'lateHome');
  if (progress.outcome === 'open') {
    close(draft, record.probe, 'finished');
    afterClosing(draft);
  } else if (progress.outcome === 'abandoned') {
    draft.setProgress(record.probe, { ...progress, outcome: 'finished' });
    state.abandoned--;
  }
  endIfOver(draft);
}

/** 0x21: Algorithm 1, lines 29 to 33. */
function notice(draft: Draft, requestId: number, visited: ArrayLike<number>): void {
  const { state, config } = draft;
  const record = trieGet(state.sends, requestId);
  if (record === null) {
    draft.ignoreStranger(requestId);
    return;
  }
  const { switches } = state.probes[record.probe]!;
  const reach = visited.length;
  // The last switch of a route keeps no clone, so a notice from it cannot answer this send.
  const full = record.prefix.length + switches.length - record.start;
  if (reach === 0 || reach >= full || !matches(draft, record, visited)) {
    draft.ignore(requestId, 'foreign');
    return;
  }
  if (record.noticed.includes(reach)) {
    draft.ignore(requestId, 'duplicate');
    return;
  }
  merge(draft, record, reach);
  draft.clearLinks(record, reach);
  // If the probe is known to have gone further, only the feedback was lost or late.
  const status = reach < record.reach ? 'congested' : 'unavailable';
  const from = routeSwitch(record, switches, reach - 1);
  draft.recordLink(from, routeSwitch(record, switches, reach), status, record.probe);
  draft.setSend(requestId, {
    ...record,
    reach: Math.max(record.reach, reach),
    noticed: [...record.noticed, reach],
  });

  const progress = draft.progress(record.probe);
  const measured = reach - record.prefix.length;
  const current = progress.requestId === requestId;
  // Inside the prefix nothing was measured: try another path, and count the attempt once.
  const lostOnTheWay = measured <= 0 && current && progress.queued !== 'notice';
  const moves = measured > 0 && record.start + measured > progress.index;
  if (progress.outcome !== 'open' || !config.recover || !(moves || lostOnTheWay)) {
    draft.count('lateNotice');
    endIfOver(draft);
    return;
  }
  draft.count('notice');
  const next = moves
    ? { ...progress, index: record.start + measured, attempts: 0 }
    : progress.queued === 'timeout'
      ? progress
      : strike(draft, record.probe, progress);
  draft.setProgress(record.probe, {
    ...next,
    initNs: state.nowNs,
    deadlineNs: config.keepDeadlineOnNotice ? progress.deadlineNs : state.nowNs,
    pending: false,
    queued: 'notice',
  });
}
