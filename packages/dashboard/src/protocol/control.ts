/** What can be asked of a controller, and told to it. Texts in it may be of strangers: show them as text. */
import type { INTENT_KINDS, PROPOSAL_STATES } from './control-words.js';
import type { EntityKey } from './entities.js';

/** Times of a controller are milliseconds since the epoch, of its own clock. */
type ControlTimeMs = number;

export type IntentKind = (typeof INTENT_KINDS)[number];

/** What the loop may do by itself with an intent of a kind: say what it would do, wait for approval, or do it. */
export type ControlAutonomy = 'observe' | 'propose' | 'act';

/** The last four end a proposal. */
export type ProposalState = (typeof PROPOSAL_STATES)[number];

/** `most`: `null`: as many as all kinds may. */
export interface ActionLimit {
  readonly most: number | null;
  readonly used: number;
}

/** `GET /api/v1/control`: the state of the loop, and of the switches. */
export interface ControlAnswer {
  /** Grows with everything that happens: whoever has answers of the same revision has the newest. */
  readonly revision: number;
  readonly nowMs: ControlTimeMs;
  /** Nothing acts: somebody has ordered it. */
  readonly isStopped: boolean;
  /** Who has stopped it; `null`: nobody. */
  readonly stopped: { readonly atMs: ControlTimeMs; readonly by: string; readonly reason: string } | null;
  /** By kind of intent; of `protect` and `keep` there are no proposals. */
  readonly autonomy: readonly { readonly kind: IntentKind; readonly autonomy: ControlAutonomy }[];
  /** Whether a change is installed only if its rehearsal meets the invariants, or also if it does not, or without one. */
  readonly rehearse: 'required' | 'advised' | 'off';
  /** Installations within the last `withinMs`, and how many may be made. */
  readonly limits: {
    readonly withinMs: number;
    readonly all: ActionLimit;
    readonly kinds: readonly ({ readonly kind: IntentKind } & ActionLimit)[];
  };
  /** From an installation until its effect is measured. */
  readonly settleMs: number;
  /** A proposal that is not installed within this time ends. */
  readonly approvalMs: number;
  /** All switches have what they shall have. */
  readonly isSettled: boolean;
  readonly switches: readonly {
    readonly switchId: number;
    readonly name: string;
    /** `absent`: no session. `late`: it owes an answer. `failing`: see `error`. `behind`: it lacks something. */
    readonly phase: 'absent' | 'late' | 'failing' | 'behind' | 'settled';
    readonly error: string | null;
  }[];
  /** What switches refuse, in their words: at most 100. */
  readonly refusals: readonly {
    readonly switchId: number;
    readonly name: string;
    readonly change: string;
    readonly message: string;
    readonly attempts: number;
  }[];
  /** Entries of the journal that people have undone, by order: at most 1,000. */
  readonly undone?: readonly { readonly entries: readonly number[]; readonly by: string }[];
  /** Links that carry nothing, both ends. */
  readonly failedLinks: readonly ControlPort[];
  /** What is in force: intents of people first. At most 1,000. */
  readonly intents: readonly IntentRow[];
  readonly counts: {
    readonly incidents: { readonly open: number; readonly closed: number };
    /** By state. */
    readonly proposals: Readonly<Record<ProposalState, number>>;
    /** Proposals that wait for a person's approval. */
    readonly approvals: number;
    readonly journal: number;
    /** For which there was no room, by what. */
    readonly untracked: Readonly<Record<string, number>>;
  };
}

/** A port of a switch, and so the link in the direction in which it sends. */
export interface ControlPort {
  readonly switchId: number;
  readonly port: number;
  /** With the names of the topology: `leaf-1:3`. */
  readonly name: string;
  /** The link as other answers know it; `null`: it leads to a host. */
  readonly key: EntityKey | null;
}

export interface IntentRow {
  readonly id: string;
  readonly kind: IntentKind;
  readonly owner: string;
  readonly priority: number;
  /** What it does, in words: `block tcp 10.0.1.9 -> 10.0.2.1:80`. */
  readonly text: string;
  readonly reason: string;
  readonly fromMs: ControlTimeMs;
  /** `null`: it stays until somebody withdraws it. */
  readonly expiresMs: ControlTimeMs | null;
  /** The proposal that it is of; `null`: a person's. */
  readonly proposal: string | null;
}

/** Numbers of a formula, by the names in its text. */
export type ControlOperands = Readonly<Record<string, number | string | null>>;

/** What a detector has found, with its arithmetic. */
export interface IncidentRow {
  /** `<kind>/<entity>/<from>`. */
  readonly id: string;
  /** `ddos`, `syn-flood`, `scan-vertical`, `congestion`, ... */
  readonly kind: string;
  /** `host:ADDRESS`, `switch:ID`, `queue:ID/QUEUE`, `port:ID/PORT` or `service:PROTOCOL/PORT`. */
  readonly entity: string;
  /** The entity in words, with the names of the topology. */
  readonly name: string;
  readonly state: 'open' | 'close';
  readonly from: ControlTimeMs;
  /** `null` while it is open. */
  readonly to: ControlTimeMs | null;
  readonly detector: string;
  /** The condition that held, with the names of the operands. */
  readonly formula: string;
  readonly operands: ControlOperands;
  /** `null`: the detector needs none. */
  readonly baseline: ControlOperands | null;
  /** Time of telemetry that it rests on. */
  readonly windowMs: number;
  /** 0 to 1. */
  readonly confidence: number;
  /** A step of an attack: a hypothesis. */
  readonly phase: string | null;
  /** What else would look like this. */
  readonly otherwise: readonly string[];
  /** What one could measure to be sure. */
  readonly confirm: string;
  /** Other entities on the same path, merged into it. */
  readonly along: readonly string[];
  readonly suggest: {
    readonly intent: 'block' | 'limit' | 'avoid' | 'watch';
    readonly match: Readonly<Record<string, string | number>>;
    readonly ttlMs: number;
  } | null;
  /** Ids of the proposals that answer it, the newest first: at most 16. */
  readonly proposals: readonly string[];
}

/**
 * `GET /api/v1/control/incidents?state=&kind=&entity=&limit=&before=&after=&at=`: the newest first; `state` is `open` or `close`.
 * `before` is an id, of which the next older ones are asked for, `after` one of which the next newer ones are; `at`: only those that
 * had begun at this time. `GET /api/v1/control/incidents/ID` answers with one row.
 */
export interface IncidentsAnswer {
  readonly rows: readonly IncidentRow[];
  readonly matched: number;
  /** How many of these are newer than `rows`. */
  readonly newer: number;
  readonly empty: string | null;
}

/** A host, or a prefix of hosts. */
export interface HostRow {
  /** Address or prefix. */
  readonly host: string;
  /** Of the topology. */
  readonly name: string | null;
  /** Security level: the weight of its score. */
  readonly level: number;
  /** Who says so: the topology, an intent (`protect`), or nobody. */
  readonly levelOf: 'topology' | 'intent' | 'default';
  /** Evidence of all phases, those in order counted twice, times the level; 0: nothing was seen. */
  readonly score: number;
  /** Phases seen within seven days, in the order of time: hypotheses. */
  readonly phases: readonly {
    readonly phase: string;
    /** 0 to 1: the strongest confidence. */
    readonly evidence: number;
    readonly incident: string;
    readonly timeMs: ControlTimeMs;
    readonly otherwise: readonly string[];
  }[];
  /** Open incidents of it. */
  readonly open: number;
}

/** `GET /api/v1/control/hosts?limit=`: the highest score first, then the highest level. */
export interface HostsAnswer {
  readonly rows: readonly HostRow[];
  readonly matched: number;
  readonly empty: string | null;
}

/** A number that an action shall change. */
export interface EffectRow {
  /**
   * `link-load`: share of the capacity of the hottest link. `link-bps`: bits a second over a link. `flow-bps`: bits a second of
   * flows that reach their destination.
   */
  readonly metric: 'link-load' | 'link-bps' | 'flow-bps';
  readonly subject: string;
  readonly before: number;
  /** `null`: nothing says. */
  readonly predicted: number | null;
  /** `null`: not yet. */
  readonly measured: number | null;
}

/** A proposal has come to a stage. */
export interface ProposalStage {
  readonly stage: ProposalState | 'rehearsed';
  readonly atMs: ControlTimeMs;
  /** A person, `loop`, or `policy`. */
  readonly by: string;
  readonly reason: string;
}

export interface ProposalRow {
  readonly id: string;
  readonly kind: IntentKind;
  readonly state: ProposalState;
  /** What it does, in words. */
  readonly text: string;
  /** Why. */
  readonly reason: string;
  readonly autonomy: ControlAutonomy;
  /** What it answers; `null`: an event or a load, which `reason` tells. */
  readonly incident: string | null;
  /** In the order of time. */
  readonly stages: readonly ProposalStage[];
  /** What it waits for; `null`: nothing. `limit`: the limits of actions; see `heldBy`. */
  readonly waitsFor: 'rehearsal' | 'approval' | 'limit' | 'resume' | 'switches' | 'measurement' | null;
  readonly heldBy: string | null;
  /** Orders that it takes now. */
  readonly orders: readonly ('approve' | 'reject' | 'undo')[];
  /** What is predicted and measured, side by side; `null`: it changes no traffic that is measured. */
  readonly effect: EffectRow | null;
  /** When it is withdrawn unless it is renewed; `null`: it is not installed. */
  readonly expiresMs: ControlTimeMs | null;
  readonly renewals: number;
}

/**
 * `GET /api/v1/control/proposals?state=&kind=&limit=&before=&after=&at=`: the newest first; `state` is `live`, `ended`, or a state.
 * `before`, `after` and `at` as of incidents: with `at`, those that were made by then, as they are now.
 */
export interface ProposalsAnswer {
  readonly rows: readonly ProposalRow[];
  readonly matched: number;
  /** How many of these are newer than `rows`. */
  readonly newer: number;
  readonly empty: string | null;
}

/** A flow that a change moves or drops. */
export interface ControlFlow {
  readonly source: string;
  readonly destination: string;
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly bps: number;
}

/** What the rehearsal on the twin has said. Lists have at most 64 rows; the counts are of all. */
export interface RehearsalAnswer {
  readonly atMs: ControlTimeMs;
  /** It meets the invariants. */
  readonly isSafe: boolean;
  readonly violations: readonly {
    readonly kind: string;
    /** Index of the step after which it shows; -1: before the first. */
    readonly step: number;
    readonly where: string;
    readonly flows: number;
    readonly message: string;
  }[];
  readonly moved: number;
  readonly movedFlows: readonly (ControlFlow & {
    /** Names of the switches. */
    readonly from: readonly string[];
    readonly to: readonly string[];
  })[];
  readonly dropped: number;
  readonly droppedFlows: readonly (ControlFlow & {
    /** Of its packets, above 0 and at most 1. */
    readonly share: number;
    readonly switchId: number;
    readonly switchName: string;
    readonly intents: readonly string[];
  })[];
  /** The network after each step of the installation. */
  readonly steps: readonly {
    readonly changes: number;
    readonly delivered: number;
    readonly lost: number;
    /** Highest share of a link. */
    readonly linkLoad: number;
  }[];
  /** Tables whose number of entries changes. */
  readonly tables: readonly {
    readonly switchId: number;
    readonly name: string;
    readonly table: string;
    readonly before: number;
    readonly after: number;
    readonly size: number;
  }[];
  /** Highest share of a link's capacity; `null`: no capacity is known. */
  readonly highest: { readonly before: number; readonly after: number } | null;
  /** Flows that were not rehearsed, and those that took another path than the twin's. */
  readonly unplaced: number;
  readonly astray: number;
}

/** Bits a second of a link: before, as the rehearsal says, and as it was measured after the installation. */
export interface LinkEffect extends ControlPort {
  readonly capacityBps: number | null;
  readonly beforeBps: number;
  /** `null`: no rehearsal says. */
  readonly predictedBps: number | null;
  readonly measuredBps: number | null;
}

/** A change of one entity of a switch. */
export interface ChangeRow {
  /** Number of its entry in the journal of changes, by which it is undone; missing: it is in none. */
  readonly entry?: number;
  readonly type: 'insert' | 'modify' | 'delete';
  /** The entity as text, one line: `IntIngress.block: source 10.0.1.9/32 => drop()`; `null`: there was or is none. */
  readonly before: string | null;
  readonly after: string | null;
  readonly intents: readonly string[];
  /** `planned`: it is not sent. `unknown`: the switch gave no answer. */
  readonly result: 'planned' | 'done' | 'refused' | 'unknown';
  /** The switch's words; '' if it refused nothing. */
  readonly message: string;
  /** When the switch answered; `null`: not yet. */
  readonly atMs: ControlTimeMs | null;
}

/** `GET /api/v1/control/proposals/ID`: all of a proposal. */
export interface ProposalAnswer extends ProposalRow {
  readonly intents: readonly IntentRow[];
  /** The incident that it answers, as long as it is remembered. */
  readonly cause: IncidentRow | null;
  readonly rehearsal: RehearsalAnswer | null;
  /** Links whose load changes or is to change, the largest predicted change first: at most 64. */
  readonly links: readonly LinkEffect[];
  /** The loads of all links together; `null`: no traffic was measured before and after. */
  readonly compared: {
    readonly atMs: ControlTimeMs;
    /**
     * `partial`: the change shows, but not all of it. `none`: loads are those of before. `worse`: a link carries more than before and
     * more than predicted. `other`: nothing was to change, and something did.
     */
    readonly verdict: 'as-predicted' | 'partial' | 'none' | 'worse' | 'other';
    /** Share of the predicted shift of bits that is seen, from below 0 (the opposite) to 1; `null`: none was predicted. */
    readonly achieved: number | null;
  } | null;
  /** What it changes, by switch: `planned` while it is not installed, else what was `written`, the newest first. */
  readonly diff: {
    readonly of: 'planned' | 'written' | 'nothing';
    readonly switches: readonly {
      readonly switchId: number;
      readonly name: string;
      readonly changes: readonly ChangeRow[];
    }[];
    /** Changes beyond 500. */
    readonly leftOut: number;
    /** Why it cannot be had as it is; empty: it can. */
    readonly problems: readonly string[];
  };
  /** What the journal says of it, the newest first: at most 100. */
  readonly journal: readonly JournalRow[];
}

/** Something that the loop did, or a person, or that was written to a switch: who, why, and what. */
export interface JournalRow {
  /** From 1, in the order in which it happened. */
  readonly id: number;
  readonly atMs: ControlTimeMs;
  /**
   * A state of a proposal; `renewed`, `held`; `stopped`, `resumed`; `intents`, `policy`: others are in force; `seen`, `failed`;
   * `written`: changes were sent to a switch.
   */
  readonly what: string;
  readonly by: string;
  readonly reason: string;
  readonly proposal: string | null;
  /** Of `written`. */
  readonly switchId: number | null;
  readonly switchName: string | null;
  /** Of `written`: what was there before and after, at most 100; `leftOut`: how many more. */
  readonly changes: readonly ChangeRow[];
  readonly leftOut: number;
}

/**
 * `GET /api/v1/control/journal?what=&proposal=&switch=&limit=&before=&after=&at=`: the newest first. `before`, `after` and `at` as of
 * incidents; a row whose id is given may be forgotten by now.
 */
export interface JournalAnswer {
  readonly rows: readonly JournalRow[];
  readonly matched: number;
  /** How many of these are newer than `rows`. */
  readonly newer: number;
  readonly empty: string | null;
}

/**
 * `POST /api/v1/control/orders`. `approve`, `reject` and `undo` are of a proposal; `undo` and `redo` of entries of the journal of
 * changes, which stay undone until `redo`, or until something else is wanted there. `stop`: nothing acts any more, at once; what is
 * installed stays. `withdraw`: all that the loop did is taken back; it must be stopped. `resume`: it goes on. The dashboard knows no
 * persons: `by` is who one says one is, up to 64 characters; the journal has it as `dashboard: NAME`.
 */
export type ControlOrder = {
  readonly by?: string;
  /** Why, for the journal: up to 500 characters. */
  readonly reason?: string;
} & (
  | { readonly order: 'approve' | 'reject' | 'undo'; readonly proposal: string }
  /** Of changes, by the numbers of their entries, at most 1,000: all or none. */
  | { readonly order: 'undo' | 'redo'; readonly entries: readonly number[] }
  | { readonly order: 'stop' | 'withdraw' | 'resume' }
);

/** An order was carried out. One that was not is refused: `ERR_ORDER` with the controller's words. */
export interface OrderAnswer {
  readonly revision: number;
  /** As it is now; `null`: the order is of none. */
  readonly proposal: ProposalRow | null;
}
