/** The messages between the thread that serves the pages and the thread of the pipeline. */
import type { DegradedPart } from '@int/collector';
import type { GuardedServerOptions, GuardTotals } from '@int/collector/http';
import type { PageContent } from './page.js';

/** The health of the process. */
export interface Health {
  /** If false, a supervisor may restart the process. */
  readonly healthy: boolean;
  /** `ok`, `degraded` or `failing`, as `healthOf` of @int/collector has it. */
  readonly status?: string;
  /** The degraded states of the process's parts now. */
  readonly degraded?: readonly DegradedPart[];
  /** Details that explain the status, as JSON. */
  readonly detail?: unknown;
}

/** Given to the thread when it starts. */
export interface PageSetup {
  readonly host: string;
  readonly port: number;
  readonly guard: Omit<GuardedServerOptions, 'token'>;
  /** A page is reused until it is older than this, in milliseconds. */
  readonly intervalMs: number;
  readonly mostBytes: number;
}

/** What the thread requests: at most one pending request of each kind. */
export type Asked = 'page' | 'health';

/** To the thread. */
export type ToPageThread =
  | { readonly name: 'page'; readonly content: PageContent }
  | { readonly name: 'health'; readonly health: Health }
  /** A request failed. */
  | { readonly name: 'failed'; readonly asked: Asked; readonly message: string }
  | { readonly name: 'close' };

/** The counts of the thread. */
export interface PageTotals extends GuardTotals {
  /** Pages made. */
  readonly pages: number;
  /** Bytes of the last page. */
  readonly pageBytes: number;
  /** Samples left out of the last page because it had no room. */
  readonly omitted: number;
}

/** From the thread. */
export type FromPageThread =
  | { readonly name: 'listening'; readonly host: string; readonly port: number }
  | { readonly name: 'refused'; readonly code: string; readonly message: string }
  | { readonly name: 'ask'; readonly asked: Asked }
  /** Sent once a second if a count has changed. */
  | { readonly name: 'totals'; readonly totals: PageTotals };
