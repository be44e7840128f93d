import type {
  ControlAnswer,
  ControlOrder,
  HostRow,
  IncidentRow,
  JournalRow,
  ProposalAnswer,
  ProposalRow,
} from '../protocol/control.js';

/**
 * A controller as a dashboard shows it. It is asked in the program's thread, some times a second: all is plain data, and whoever
 * makes the lists bounds them.
 */
export interface ControlSource {
  /** Grows with everything that happens. */
  readonly revision: number;
  state(): ControlAnswer;
  /** The newest first. */
  incidents(): readonly IncidentRow[];
  /** In the order in which they are shown. */
  hosts(): readonly HostRow[];
  /** The newest first. */
  proposals(): readonly ProposalRow[];
  /** `null`: there is none, or it is not remembered. */
  proposal(id: string): ProposalAnswer | null;
  /** The oldest first, with rising ids. */
  journal(): readonly JournalRow[];
  /** Carries out an order. @returns why it was not; `null`: it was */
  order(order: ControlOrder & { readonly by: string }): Promise<string | null>;
}
