/**
 * What the recovery of lost probes works on (reliable GPINT, section IV-C, Algorithms 1 and 2): the state, the events that
 * change it and the actions that follow. Everything here is plain data: a state can be written as JSON, read again and
 * continued. Times are integer nanoseconds of one clock, real or virtual. Switches are node numbers of the graph.
 */

/** A probe to collect: a part of a path of the plan, all of it where it fits into one probe. */
export interface SessionProbe {
  /** Path of the plan. */
  readonly path: number;
  /** Position in that path of the first switch of this probe. */
  readonly position: number;
  /** Switches in the order of their visits; one at least. A switch may occur more than once. */
  readonly switches: readonly number[];
}

/** Finds the way from a switch at which the monitor is attached. */
export interface PrefixRequest {
  /** Where the probe is to begin to measure. */
  readonly target: number;
  /** How often that has been tried; further attempts may take other ways. */
  readonly attempt: number;
  /** Whether the link between two switches has been recorded as unavailable, or one of the two switches. */
  readonly avoid: (from: number, to: number) => boolean;
}

/**
 * Switches to pass before the target, the first being one at which the monitor is attached; empty if the target is such a
 * one. Must be a pure function, with `maxPrefixHops` switches at most.
 */
export type PrefixFinder = (request: PrefixRequest) => readonly number[];

/** Clamps of adaptive timeouts; see `AdaptiveTimeouts`. */
export interface AdaptiveOptions {
  /** Shortest timeout, ns. */
  readonly minNs: number;
  /** Longest timeout, ns. */
  readonly maxNs: number;
}

export interface RecoveryConfig {
  /**
   * t_f: how long feedback may take, ns. Default 1.5 s. Should be longer than a round trip over a link with full queues: a
   * switch that never answers sooner is given up after r_a (what it sends is kept all the same, if the session still runs).
   */
  readonly timeoutNs: number;
  /** t_ro: how often timeouts are looked for, ns. Default half of `timeoutNs`. */
  readonly resolutionNs: number;
  /** r_a: a switch is given up when it has been tried more often than this. Default 10. */
  readonly maxAttempts: number;
  /** Probes sent and neither finished nor abandoned, at most; 1 to 16384. Default 12. */
  readonly maxInFlight: number;
  /** `false`: each probe is sent once, and given up when its deadline has passed. Default `true`. */
  readonly recover: boolean;
  /** After a recovery notice, wait for the deadline of the probe it came from, as Algorithm 2 reads literally. Default `false`: go on at once. */
  readonly keepDeadlineOnNotice: boolean;
  /** End a session after this time, whatever is missing, ns; `null` (default): no such limit. */
  readonly sessionTimeoutNs: number | null;
  /** Estimates t_f per entry switch from the feedback; `null` (default): `timeoutNs` for all. */
  readonly adaptive: AdaptiveOptions | null;
  /** For a monitor that is not attached to every switch; `null` (default): it is. */
  readonly prefixTo: PrefixFinder | null;
  /** Most switches that `prefixTo` returns; 0 without it. */
  readonly maxPrefixHops: number;
}

/** What happens to the monitor. */
export type RecoveryEvent =
  /** Begins a session. A session that still runs is ended by it. */
  | { readonly kind: 'start'; readonly probes: readonly SessionProbe[] }
  /** Time has passed; due at `nextTickNs`, harmless before. */
  | { readonly kind: 'tick' }
  /** DSCP 0x19: the first switch has received the probe. */
  | { readonly kind: 'feedback'; readonly requestId: number }
  /** DSCP 0x17: a probe has come home. `switches`: the ids of its DLV headers; read during the step, not kept. */
  | { readonly kind: 'probe'; readonly requestId: number; readonly switches: ArrayLike<number> }
  /** DSCP 0x21: a switch missed the feedback of the next one. `switches` as above. */
  | { readonly kind: 'notice'; readonly requestId: number; readonly switches: ArrayLike<number> }
  /** Ends the session now. */
  | { readonly kind: 'stop' };

/** Why a packet changed nothing. */
export type IgnoredReason =
  /** It repeats what has been received. */
  | 'duplicate'
  /** It belongs to a session that has ended. */
  | 'stale'
  /** Its request id was never given out. */
  | 'unknown'
  /** Its switches are not those to which the probe was sent, in that order. */
  | 'foreign';

/** What is known of a link: a probe was lost on it, or only late (or its feedback was). */
export type LinkStatus = 'unavailable' | 'congested';

/** Why a switch counts as unavailable: it gave no feedback, or it did and no measurements followed. */
export type SwitchReason = 'no-feedback' | 'no-data';

/** Why a switch was not collected. */
export type UncollectedReason =
  | SwitchReason
  /** Its probe was lost, and recovery is switched off. */
  | 'lost'
  /** The session was stopped, or had its time. */
  | 'session-end'
  /** No path of the plan visits it. */
  | 'unplanned';

/** A link recorded in a session. The probe that was missed went from `from` to `to`. */
export interface LinkRecord {
  readonly from: number;
  readonly to: number;
  readonly status: LinkStatus;
  /** Recovery notices about it. */
  readonly notices: number;
}

export interface SwitchRecord {
  readonly node: number;
  readonly reason: SwitchReason;
}

export interface UncollectedSwitch {
  readonly node: number;
  readonly reason: UncollectedReason;
}

/** What arrived in a session and before it. Every packet is counted once. */
export interface RecoveryCounters {
  /** Feedback that was waited for. */
  readonly feedback: number;
  /** Feedback of a probe that was not waited for any more, or again. */
  readonly lateFeedback: number;
  /** Probes that came home and finished what they were sent for. */
  readonly home: number;
  /** Probes that came home after recovery had begun, or after their path had been finished otherwise. */
  readonly lateHome: number;
  /** Recovery notices that moved their path on. */
  readonly notice: number;
  /** Recovery notices that came too late to move anything on; their data is kept. */
  readonly lateNotice: number;
  readonly duplicate: number;
  readonly stale: number;
  readonly unknown: number;
  readonly foreign: number;
}

/** How a session ended. */
export interface SessionResult {
  /** Number of the session, from 1. */
  readonly session: number;
  /** When it began. */
  readonly startedNs: number;
  /** When it ended. */
  readonly endedNs: number;
  /** From the first probe sent to the last arrival that was accepted, ns; 0 if nothing arrived. */
  readonly elapsedNs: number;
  /** Whether every switch on the probes' paths was collected. */
  readonly complete: boolean;
  /** Switches of which measurements arrived. */
  readonly collected: number;
  /** The others that are on a path, in ascending order. */
  readonly uncollected: readonly UncollectedSwitch[];
  /** Switches that gave no answer, and none since, in ascending order. */
  readonly switches: readonly SwitchRecord[];
  /** Links on which something was missed. */
  readonly links: readonly LinkRecord[];
  /** Probes sent: one each, and those that recovery added. */
  readonly sentInitial: number;
  readonly sentRecovery: number;
  /** Of those, the ones that had not come home complete when the session ended. */
  readonly failedProbes: number;
  /** Probes of the plan that ended with a switch given up (or lost, without recovery). */
  readonly abandoned: number;
  readonly counters: RecoveryCounters;
}

/** What is to be done, in this order. */
export type RecoveryAction =
  /** Send probe `probe` from its position `start` on, after the switches of `prefix` (which measure nothing). */
  | {
      readonly kind: 'send';
      readonly probe: number;
      readonly start: number;
      readonly requestId: number;
      readonly prefix: readonly number[];
      /** Whether recovery added it. */
      readonly recovery: boolean;
    }
  /** The packet of this event carries measurements of `count` switches of probe `probe`, from its position `start` on, after `skip` DLV headers of a prefix. */
  | {
      readonly kind: 'data';
      readonly probe: number;
      readonly start: number;
      readonly count: number;
      readonly skip: number;
      /** Grows with every send: of two measurements, the one with the greater number left later. */
      readonly sequence: number;
    }
  | { readonly kind: 'link'; readonly from: number; readonly to: number; readonly status: LinkStatus }
  | { readonly kind: 'switch'; readonly node: number; readonly reason: SwitchReason }
  | { readonly kind: 'done'; readonly probe: number; readonly outcome: 'finished' | 'abandoned' }
  | { readonly kind: 'ignored'; readonly requestId: number; readonly reason: IgnoredReason }
  /** Give a `tick` at this time; replaces former ones. */
  | { readonly kind: 'wake'; readonly atNs: number }
  | { readonly kind: 'end'; readonly result: SessionResult };

/** Progress of a probe that has been sent. */
export interface ProbeProgress {
  /** Position of the next switch to start from. */
  readonly index: number;
  /** Sends since `index` last moved that came to nothing. */
  readonly attempts: number;
  /** Request id of the last send. */
  readonly requestId: number;
  /** When it was sent last, or when a notice moved it on. */
  readonly initNs: number;
  readonly deadlineNs: number;
  /** t_f of the last send. */
  readonly timeoutNs: number;
  /** Set F: no feedback yet. */
  readonly pending: boolean;
  /** Set Q, and what put it there: it is sent again when its deadline has passed. `null`: not in Q. */
  readonly queued: 'timeout' | 'feedback' | 'notice' | null;
  readonly outcome: 'open' | 'finished' | 'abandoned';
}

/** A probe packet that was sent in this session. */
export interface SendRecord {
  readonly probe: number;
  readonly start: number;
  readonly prefix: readonly number[];
  readonly sentNs: number;
  readonly sequence: number;
  /** Switches, prefix included, that an arrival has shown it to have visited. */
  readonly reach: number;
  /** DLV headers of the notices that came of it. */
  readonly noticed: readonly number[];
  readonly fedBack: boolean;
  readonly home: boolean;
}

export interface SwitchState {
  readonly collected: boolean;
  readonly unavailable: SwitchReason | null;
}

export interface LinkState extends LinkRecord {
  /** When it was recorded last, and the probe that it was recorded for. */
  readonly atNs: number;
  readonly probe: number;
}

/** Smoothed round-trip time and its variation, ns (RFC 6298, section 2); `backoff`: timeouts since the last sample. */
export interface RttState {
  readonly smoothedNs: number;
  readonly variationNs: number;
  readonly backoff: number;
}

/**
 * A list or table with numbers for keys that shares what does not change with its former versions: nested arrays of 32
 * entries. Read it with `get` of `trie.ts`.
 */
export interface Trie<T> {
  readonly depth: number;
  readonly root: TrieNode<T>;
}

/** `null` where nothing is stored. */
export type TrieNode<T> = readonly (TrieNode<T> | T | null)[] | null;

/** The whole memory of a monitor. Never changed: `recoveryStep` returns a new one. */
export interface RecoveryState {
  /** Sessions begun. */
  readonly session: number;
  readonly running: boolean;
  /** Time of the last event; events with an earlier time count as at this time. */
  readonly nowNs: number;
  readonly nextTickNs: number;
  /** Until when what was sent may still be answered: t_f for each link out and home after each send. */
  readonly lastCallNs: number;
  /** Switches given up of which nothing has arrived. */
  readonly missing: number;
  readonly startedNs: number;
  readonly lastArrivalNs: number;
  /** Next request id to try, and how many have been tried. */
  readonly nextId: number;
  readonly issued: number;
  readonly probes: readonly SessionProbe[];
  /** By number of the probe. */
  readonly progress: Trie<ProbeProgress>;
  /** By request id. */
  readonly sends: Trie<SendRecord>;
  /** Probes in flight, in the order of their first send. */
  readonly active: readonly number[];
  readonly launched: number;
  readonly done: number;
  readonly abandoned: number;
  readonly sent: number;
  readonly completeSends: number;
  /** By node. */
  readonly switches: Trie<SwitchState>;
  /** By the lower node of the link. */
  readonly links: Trie<readonly LinkState[]>;
  /** By entry switch; kept from session to session. */
  readonly roundTrips: Trie<RttState>;
  readonly counters: RecoveryCounters;
}

export interface RecoveryStep {
  readonly state: RecoveryState;
  readonly actions: readonly RecoveryAction[];
}
