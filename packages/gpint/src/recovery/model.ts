/**
 * The data of the recovery of lost probes (reliable GPINT, section IV-C, Algorithms 1 and 2): the state, the events
 * that change it, and the resulting actions. Everything is plain data: a state can be written as JSON, read and
 * continued. Times are integer nanoseconds of one clock, real or virtual. Switches are node numbers of the graph.
 */

/** A probe to collect: a whole path of the plan, or a part of one that is too long. */
export interface SessionProbe {
  /** Path of the plan. */
  readonly path: number;
  /** Position in that path of the first switch of this probe. */
  readonly position: number;
  /** Switches in the order of their visits, at least one. A switch may occur more than once. */
  readonly switches: readonly number[];
}

/** A request for a path from an entry switch of the monitor. */
export interface PrefixRequest {
  /** The first switch that the probe measures. */
  readonly target: number;
  /** Number of earlier attempts. Later attempts may take other paths. */
  readonly attempt: number;
  /** Whether the link between two switches, or one of them, was recorded as unavailable. */
  readonly avoid: (from: number, to: number) => boolean;
}

/**
 * Finds the switches before the target. The first is an entry switch of the monitor; the list is empty if the target is
 * one. Must be a pure function, and return at most `maxPrefixHops` switches.
 */
export type PrefixFinder = (request: PrefixRequest) => readonly number[];

/** Clamps of adaptive timeouts. */
export interface AdaptiveOptions {
  /** Shortest timeout, ns. */
  readonly minNs: number;
  /** Longest timeout, ns. */
  readonly maxNs: number;
}

export interface RecoveryConfig {
  /**
   * t_f: timeout of feedback, ns. Default 1.5 s. It should exceed a round trip over a link with full queues: a switch
   * that always answers later is given up after r_a attempts (its data are still kept during the session).
   */
  readonly timeoutNs: number;
  /** t_ro: interval of checks for timeouts, ns. Default half of `timeoutNs`. */
  readonly resolutionNs: number;
  /** r_a: most failed attempts for a switch; it is given up after more. Default 10. */
  readonly maxAttempts: number;
  /** Most probes in flight, neither finished nor abandoned; 1 to 16384. Default 12. */
  readonly maxInFlight: number;
  /** `false`: each probe is sent once, and given up after its deadline. Default `true`. */
  readonly recover: boolean;
  /**
   * Whether to wait, after a recovery notice, for the deadline of its probe, as Algorithm 2 literally says. Default
   * `false`: go on at once.
   */
  readonly keepDeadlineOnNotice: boolean;
  /** Time limit of a session, ns; `null` (default): no limit. */
  readonly sessionTimeoutNs: number | null;
  /** Estimate t_f per entry switch from the feedback; `null` (default): `timeoutNs` for all. */
  readonly adaptive: AdaptiveOptions | null;
  /** Finds prefixes for a monitor that is not attached to every switch; `null` (default): it is. */
  readonly prefixTo: PrefixFinder | null;
  /** Most switches that `prefixTo` returns; 0 without it. */
  readonly maxPrefixHops: number;
}

/** An event for the monitor. */
export type RecoveryEvent =
  /** Begins a session, and ends the current one. */
  | { readonly kind: 'start'; readonly probes: readonly SessionProbe[] }
  /** A tick of the clock, due at `nextTickNs`. Earlier ticks do no harm. */
  | { readonly kind: 'tick' }
  /** DSCP 0x19: the first switch has received the probe. */
  | { readonly kind: 'feedback'; readonly requestId: number }
  /** DSCP 0x17: a completed probe has arrived. `switches`: the ids of its DLV headers, read only during the step. */
  | { readonly kind: 'probe'; readonly requestId: number; readonly switches: ArrayLike<number> }
  /** DSCP 0x21: a switch missed the feedback of the next one. `switches` as above. */
  | { readonly kind: 'notice'; readonly requestId: number; readonly switches: ArrayLike<number> }
  /** Ends the session now. */
  | { readonly kind: 'stop' };

/** Reason why a packet was ignored. */
export type IgnoredReason =
  /** It repeats received data. */
  | 'duplicate'
  /** It belongs to a session that has ended. */
  | 'stale'
  /** Its request id was never used. */
  | 'unknown'
  /** Its switches differ from the probe's route. */
  | 'foreign';

/** State of a link: it lost a probe, or a probe or its feedback was only late. */
export type LinkStatus = 'unavailable' | 'congested';

/** Reason why a switch counts as unavailable: no feedback, or feedback without measurements. */
export type SwitchReason = 'no-feedback' | 'no-data';

/** Reason why a switch was not collected. */
export type UncollectedReason =
  | SwitchReason
  /** Its probe was lost, and recovery is switched off. */
  | 'lost'
  /** The session was stopped, or reached its time limit. */
  | 'session-end'
  /** No path of the plan visits it. */
  | 'unplanned';

/** A link recorded in a session. The missing probe went from `from` to `to`. */
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

/** Counters of arrivals. Every packet counts once. */
export interface RecoveryCounters {
  /** Expected feedback. */
  readonly feedback: number;
  /** Late or repeated feedback. */
  readonly lateFeedback: number;
  /** Probes that arrived and completed their route. */
  readonly home: number;
  /** Probes that arrived after the start of recovery, or after the completion of their path by others. */
  readonly lateHome: number;
  /** Recovery notices that advanced their path. */
  readonly notice: number;
  /** Recovery notices that came too late to advance anything; their data are kept. */
  readonly lateNotice: number;
  readonly duplicate: number;
  readonly stale: number;
  readonly unknown: number;
  readonly foreign: number;
}

/** The result of a session. */
export interface SessionResult {
  /** Number of the session, from 1. */
  readonly session: number;
  /** Start time, ns. */
  readonly startedNs: number;
  /** End time, ns. */
  readonly endedNs: number;
  /** Time from the first sent probe to the last accepted arrival, ns; 0 if nothing arrived. */
  readonly elapsedNs: number;
  /** Whether every switch on the probes' paths was collected. */
  readonly complete: boolean;
  /** Number of switches with measurements. */
  readonly collected: number;
  /** The other switches on the paths, in ascending order. */
  readonly uncollected: readonly UncollectedSwitch[];
  /** Switches that did not answer until the end, in ascending order. */
  readonly switches: readonly SwitchRecord[];
  /** Links with missing or late probes. */
  readonly links: readonly LinkRecord[];
  /** Initial probes sent. `sentRecovery`: probes added by recovery. */
  readonly sentInitial: number;
  readonly sentRecovery: number;
  /** Sent probes that had not arrived complete at the end of the session. */
  readonly failedProbes: number;
  /** Probes of the plan that ended with a given-up switch (or, without recovery, lost). */
  readonly abandoned: number;
  readonly counters: RecoveryCounters;
}

/** An action, to be carried out in order. */
export type RecoveryAction =
  /** Send probe `probe` from its position `start` on, after the switches of `prefix` (which measure nothing). */
  | {
      readonly kind: 'send';
      readonly probe: number;
      readonly start: number;
      readonly requestId: number;
      readonly prefix: readonly number[];
      /** Whether recovery added this probe. */
      readonly recovery: boolean;
    }
  /** The packet of this event carries measurements of `count` switches of probe `probe`, from its position `start` on, after `skip` DLV headers of a prefix. */
  | {
      readonly kind: 'data';
      readonly probe: number;
      readonly start: number;
      readonly count: number;
      readonly skip: number;
      /** Grows with every send: the measurement with the greater number was sent later. */
      readonly sequence: number;
    }
  | { readonly kind: 'link'; readonly from: number; readonly to: number; readonly status: LinkStatus }
  | { readonly kind: 'switch'; readonly node: number; readonly reason: SwitchReason }
  | { readonly kind: 'done'; readonly probe: number; readonly outcome: 'finished' | 'abandoned' }
  | { readonly kind: 'ignored'; readonly requestId: number; readonly reason: IgnoredReason }
  /** Send a `tick` at this time; replaces earlier requests. */
  | { readonly kind: 'wake'; readonly atNs: number }
  | { readonly kind: 'end'; readonly result: SessionResult };

/** Progress of a probe that has been sent. */
export interface ProbeProgress {
  /** Position of the first switch of the next send. */
  readonly index: number;
  /** Failed sends since `index` last moved. */
  readonly attempts: number;
  /** Request id of the last send. */
  readonly requestId: number;
  /** Time of the last send, or of the last notice that advanced it. */
  readonly initNs: number;
  readonly deadlineNs: number;
  /** t_f of the last send. */
  readonly timeoutNs: number;
  /** Set F: no feedback yet. */
  readonly pending: boolean;
  /** Reason why it is in set Q, to be resent after its deadline. `null`: not in Q. */
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
  /** Number of switches that it has visited according to arrivals, prefix included. */
  readonly reach: number;
  /** Numbers of DLV headers in its notices. */
  readonly noticed: readonly number[];
  readonly fedBack: boolean;
  readonly home: boolean;
}

export interface SwitchState {
  readonly collected: boolean;
  readonly unavailable: SwitchReason | null;
}

export interface LinkState extends LinkRecord {
  /** Time of the last record. `probe`: the probe of this record. */
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
 * A persistent table with numeric keys, which shares unchanged parts with its earlier versions: nested arrays of 32
 * entries. Read it with `get` of `trie.ts`.
 */
export interface Trie<T> {
  readonly depth: number;
  readonly root: TrieNode<T>;
}

/** `null` where nothing is stored. */
export type TrieNode<T> = readonly (TrieNode<T> | T | null)[] | null;

/** The whole state of a monitor. It is immutable: `recoveryStep` returns a new one. */
export interface RecoveryState {
  /** Sessions begun. */
  readonly session: number;
  readonly running: boolean;
  /** Time of the last event. Events with an earlier time count at this time. */
  readonly nowNs: number;
  readonly nextTickNs: number;
  /** Time until which answers may arrive: t_f for each link of the way out and back, after each send. */
  readonly lastCallNs: number;
  /** Number of given-up switches without any arrival. */
  readonly missing: number;
  readonly startedNs: number;
  readonly lastArrivalNs: number;
  /** Next request id to try. `issued`: number of ids tried so far. */
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
