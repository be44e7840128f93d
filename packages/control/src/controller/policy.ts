import type { IntentKind } from '../intents/intent.js';

/**
 * What the loop may do by itself with an intent of a kind. `observe`: it says what it would do. `propose`: it waits until
 * somebody approves. `act`: it does it.
 */
export type Autonomy = 'observe' | 'propose' | 'act';

/** Whether a change is installed only if its rehearsal meets the invariants, or also if it does not, or without one. */
export type Rehearsing = 'required' | 'advised' | 'off';

/** Times are milliseconds. */
export interface ControlPolicy {
  /** By kind of intent. Default: `observe`. */
  readonly autonomy: Readonly<Partial<Record<IntentKind, Autonomy>>>;
  /** Most installations within a time, of all kinds together and by kind. What takes back is never limited. */
  readonly limits: {
    readonly withinMs: number;
    readonly all: number;
    readonly kinds: Readonly<Partial<Record<IntentKind, number>>>;
  };
  readonly rehearse: Rehearsing;
  /** From an installation until its effect is measured. */
  readonly settleMs: number;
  /** A rehearsal older than this is made anew before the installation. */
  readonly freshMs: number;
  /** A proposal that is not installed within this time ends. */
  readonly approvalMs: number;
  /** Time to live of what the loop installs. Default: as the incident suggests, 60 s for paths and links. */
  readonly ttlMs: Readonly<Partial<Record<IntentKind, number>>>;
  /** What did not help is not tried again for `firstMs`, twice as long each time, at most `mostMs`. */
  readonly backOff: { readonly firstMs: number; readonly mostMs: number };
  /** One of so many packets that a block drops is reported. */
  readonly reportOneIn: number;
  /** Load of a link above which flows are moved; a `keep` intent replaces it. */
  readonly loadAbove: number;
  /** Telemetry whose newest report is older says nothing. */
  readonly staleMs: number;
  /** Share of reports that may be lost before telemetry says nothing. */
  readonly mostLoss: number;
}

/** The policy without a file: nothing acts. */
export const CAUTIOUS: ControlPolicy = {
  autonomy: {},
  limits: { withinMs: 60_000, all: 20, kinds: {} },
  rehearse: 'required',
  settleMs: 3000,
  freshMs: 10_000,
  approvalMs: 600_000,
  ttlMs: {},
  backOff: { firstMs: 60_000, mostMs: 3_600_000 },
  reportOneIn: 100,
  loadAbove: 0.8,
  staleMs: 2000,
  mostLoss: 0.05,
};
