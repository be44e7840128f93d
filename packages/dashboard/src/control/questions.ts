/** Questions about a controller, from the dashboard's thread to the program's. `null`: it does not matter. */
import type { ControlOrder, IntentKind, ProposalState } from '../protocol/control.js';

export interface IncidentsQuestion {
  readonly state: 'open' | 'close' | null;
  readonly kind: string | null;
  readonly entity: string | null;
  readonly limit: number;
  /** The id of the last row that is known. */
  readonly before: string | null;
}

export interface HostsQuestion {
  readonly limit: number;
}

export interface ProposalsQuestion {
  readonly state: 'live' | 'ended' | ProposalState | null;
  readonly kind: IntentKind | null;
  readonly limit: number;
  readonly before: string | null;
}

export interface JournalQuestion {
  readonly what: string | null;
  readonly proposal: string | null;
  readonly switchId: number | null;
  readonly limit: number;
  readonly before: number | null;
}

/** `by` begins with `dashboard`. */
export type OrderQuestion = ControlOrder & { readonly by: string };
