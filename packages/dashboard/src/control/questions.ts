/** Questions about a controller, from the dashboard's thread to the program's. `null`: it does not matter. */
import type { ControlOrder, IntentKind, ProposalState } from '../protocol/control.js';

/** Which rows of a list, the newest first. At most one of `before` and `after` is given. */
export interface PageQuestion<Id extends string | number> {
  readonly limit: number;
  /** An id: the rows next to it that are older. */
  readonly before: Id | null;
  /** An id: the rows next to it that are newer. */
  readonly after: Id | null;
  /** Only what there was at this time, in milliseconds since the epoch. */
  readonly at: number | null;
}

export interface IncidentsQuestion extends PageQuestion<string> {
  readonly state: 'open' | 'close' | null;
  readonly kind: string | null;
  readonly entity: string | null;
}

export interface HostsQuestion {
  readonly limit: number;
}

export interface ProposalsQuestion extends PageQuestion<string> {
  readonly state: 'live' | 'ended' | ProposalState | null;
  readonly kind: IntentKind | null;
}

export interface JournalQuestion extends PageQuestion<number> {
  readonly what: string | null;
  readonly proposal: string | null;
  readonly switchId: number | null;
}

/** `by` begins with `dashboard`. */
export type OrderQuestion = ControlOrder & { readonly by: string };
